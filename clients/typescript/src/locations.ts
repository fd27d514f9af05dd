/** The places of locations in a rectangle. */
import { type Form, list, must, oneOf, record, such } from "./fields.js";
import type { Place, Sampler } from "./forms/sampler.js";
import { nearest, refuse, type Value, within } from "./places.js";

/** Read the place of a location, or refuse it before anything is drawn. */
export function placeOfLocation(domain: Form, sampler: Sampler, value: Value): Place {
  const { axes, grid } = sampler;
  const { low, high, places } = domain as unknown as { low: number[]; high: number[]; places?: number[][] };
  if (!Array.isArray(value) || value.length !== 2) refuse(value, "a location of two numbers");
  const shares = low.map((each, i) => within(value[i], each, high[i]) / (high[i] - each));
  const [x, y] = value as number[];
  if (sampler.reference) return polar(sampler, x, y, low, high);
  if (grid) return grid.map((steps, i) => nearest(shares[i] * steps) % (axes[i] === steps ? steps : Infinity));
  if (axes.length === 2) return axes.map((count, i) => Math.min(Math.floor(shares[i] * count), count - 1));
  const distances = places!.map(([px, py]) => (px - x) * (px - x) + (py - y) * (py - y));
  return [distances.indexOf(Math.min(...distances))];
}

/** A direction from a reference point, and how far it is to the side of the rectangle that lies there. */
function polar(
  { reference, axes, grid, sectors }: Sampler,
  x: number,
  y: number,
  low: number[],
  high: number[],
): Place {
  const [rx, ry] = reference!;
  const turns = Math.atan2(y - ry, x - rx) / (2 * Math.PI);
  const steps = grid![0];
  const direction = sectors
    ? Math.min(Math.floor((turns - Math.floor(turns)) * steps), steps - 1)
    : ((nearest(turns * steps) % axes[0]) + axes[0]) % axes[0];
  const distance = Math.max(
    0,
    ...[
      [rx - x, rx - low[0]],
      [x - rx, high[0] - rx],
      [ry - y, ry - low[1]],
      [y - ry, high[1] - ry],
    ].map(([way, all]) => (way > 0 ? way / all : 0)),
  );
  return [direction, nearest(Math.min(distance, 1) * grid![1])];
}

const number = such<number>(Number.isFinite);
const point = list(number, 2);
const rectangle = record({ shape: oneOf("rectangle"), low: point, high: point }, { places: list(point, 2, 2 ** 26) });

/** Refuse a rectangle that does not belong to a sampler. */
export function checkRectangle(domain: Form, { axes, grid, reference }: Sampler): void {
  const { low, high, places } = rectangle(domain, "domain");
  must(
    low.every((each, i) => each < high[i] && (!reference || (reference[i] >= each && reference[i] <= high[i]))),
    "reference",
  );
  must(axes.length === 2 || (!grid && places?.length === axes[0]), "domain");
}
