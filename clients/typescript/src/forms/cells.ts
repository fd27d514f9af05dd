/** Forms for numbers and angles: a report is a cell, chosen by comparing words with integers. */
import type { Json } from "../canonical.js";
import { largest, type Ratio } from "../epsilon.js";
import { list, must, oneOf, record, whole } from "../fields.js";
import type { Random } from "../random.js";
import { gridSteps, index, indexBytes, type Place, type Sampler, W, word } from "./sampler.js";

export const MOST_CELLS = 2 ** 32;

/** A sampler whose report is a cell below a number; parts of a pair give the cell itself. */
export interface Cells extends Sampler {
  cells: number;
  cell(place: number, random: Random): number;
}

export const celled = (
  places: number,
  grid: number,
  cells: number,
  ratio: Ratio,
  cell: (place: number, random: Random) => number,
): Cells => ({
  axes: [places],
  grid: [grid],
  size: indexBytes(cells),
  ratio,
  cells,
  cell,
  draw: ([place]: Place, random: Random) => index(cell(place, random), cells),
});

/** A window of `width` cells among others, and the cell that a word falls in: those of the window come first. */
export function levels(width: number, others: number, inside: bigint, outside: bigint, before = 0n) {
  const edge = BigInt(width) * inside;
  must(
    outside && inside >= outside && before + edge + BigInt(others) * outside === W && width + others <= MOST_CELLS,
    "inside and outside",
  );
  return (drawn: bigint, start: number): number => {
    if (drawn < edge) return start + Number(drawn / inside);
    const i = Number((drawn - edge) / outside);
    return i < start ? i : i + width;
  };
}

export const cellCount = whole(1, MOST_CELLS);
const WINDOW = {
  stand: oneOf("slide", "clamp", "wrap"),
  grid: gridSteps,
  width: cellCount,
  inside: word,
  outside: word,
};
const windowForm = record(WINDOW);
const slidingForm = record({ ...WINDOW, margin: whole(0, MOST_CELLS) }, { kept: list(whole(0, MOST_CELLS), 2) });

export function window(form: Json): Cells {
  const slides = (form as { stand?: Json })?.stand === "slide";
  const read: ReturnType<typeof windowForm> & { margin?: number; kept?: number[] } = (
    slides ? slidingForm : windowForm
  )(form, "sampler");
  const { stand, grid, width, inside, outside, margin = 0, kept } = read;
  const wraps = stand === "wrap";
  const cells = slides ? grid + width + 2 * margin : 2 * grid;
  must(width < cells && (slides || width % 2 === 0), "width");
  const cellOf = levels(width, cells - width, inside, outside);
  const places = wraps ? grid : grid + 1;
  const cell = (place: number, random: Random) => {
    const centred = 2 * place - width / 2;
    // On a circle, cells are counted from the start of the window.
    if (wraps) return (cellOf(random.u64(), 0) + centred + cells) % cells;
    return cellOf(random.u64(), slides ? place + margin : Math.min(Math.max(centred, 0), cells - width));
  };
  const ratio = { num: inside, den: outside };
  if (!kept) return celled(places, grid, cells, ratio, cell);
  const [first, count] = kept;
  must(count && first + count <= cells, "kept");
  return celled(places, grid, count + 2, ratio, (place, random) => truncate(cell(place, random) - first, count));
}

/** A cell, or one of two more for all that lie below and above. */
export const truncate = (cell: number, cells: number) => (cell < 0 ? cells : cell >= cells ? cells + 1 : cell);

const COIN = { grid: gridSteps, base: word, slope: word };
const coinForm = record(COIN);

export function coin(form: Json): Sampler {
  const { grid, base, slope } = coinForm(form, "sampler");
  const rise = BigInt(grid) * slope;
  must(base && 2n * base + rise === W, "base and slope");
  return celled(grid + 1, grid, 2, { num: base + rise, den: base }, (place, random) =>
    Number(random.u64() < base + slope * BigInt(place)),
  );
}

const hybridForm = record({ ...COIN, width: cellCount, inside: word, outside: word });

export function hybrid(form: Json): Sampler {
  const { grid, base, slope, width, inside, outside } = hybridForm(form, "sampler");
  const rise = BigInt(grid) * slope;
  const coins = 2n * base + rise;
  must(base, "base");
  const cellOf = levels(width, grid, inside, outside, coins);
  const cells = grid + width;
  return celled(grid + 1, grid, cells + 2, largest([base + rise, base], [inside, outside]), (place, random) => {
    const drawn = random.u64();
    return drawn < coins ? cells + Number(drawn < base + slope * BigInt(place)) : cellOf(drawn - coins, place);
  });
}
