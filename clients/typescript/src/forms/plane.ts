/** Forms for locations, and for any small table of laws. */
import { type Bytes, concat } from "../bytes.js";
import { type Fields, form, list, must, such, whole } from "../fields.js";
import { ROUND } from "./response.js";
import { domainSize, gridOf, index, indexBytes, levels, locate, MOST, type Place, type Sampler, W, word } from "./sampler.js";
import { part, table, worstColumn } from "./tables.js";

const shape = list(whole(1, 2 ** 26), 1, 2);

/** Places that are indices, or columns and rows; reports have the same shape, unless there are other reports. */
function shaped(
  axes: number[],
  reports?: number,
): { count: number; size: number; at(place: Place): number; write(i: number): Bytes } {
  const count = domainSize(
    axes.reduce((a, b) => a * b, 1),
    "shape",
  );
  const [, rows] = axes;
  if (rows === undefined) {
    const all = reports ?? count;
    return { count, size: indexBytes(all), at: ([place]) => place, write: (i) => index(i, all) };
  }
  const most = Math.max(...axes);
  return {
    count,
    size: 2 * indexBytes(most),
    at: ([column, row]) => column * rows + row,
    write: (i) => concat(index(Math.floor(i / rows), most), index(i % rows, most)),
  };
}

export const rows = form({ shape, rows: table }, {}, ({ shape: axes, rows: laws }): Sampler => {
  const { size, count, at, write } = shaped(axes, laws[0].length);
  must(laws.length === count && (axes.length === 1 || laws[0].length === count));
  return {
    axes,
    size,
    ratio: worstColumn(laws),
    draw: (place, random) => write(locate(random.u64(), laws[at(place)])[0]),
  };
});

export const sites = form({ shape, ...ROUND }, {}, (integers): Sampler => {
  const { size, count, at, write } = shaped(integers.shape);
  const cellOf = levels(1, count - 1, integers.keep, integers.width);
  return {
    axes: integers.shape,
    size,
    ratio: [integers.keep, integers.width],
    draw: (place, random) => write(cellOf(random.u64(), at(place))),
  };
});

const PLANAR = { grid: gridOf(2 ** 15), widths: list(whole(2, 2 ** 16), 2), inside: word, outside: word };
const REACHES = { reaches: list(whole(0, 2 ** 15), 1, MOST) };

export const planar = form(PLANAR, REACHES, disc);

/** A square of likely cells around a place, or a disc that is as high as its reaches say. */
function disc({ grid, widths, inside, outside, reaches }: Fields<typeof PLANAR, typeof REACHES>): Sampler {
  const cells = 2 * grid;
  const [columns, height] = widths;
  const area = reaches ? 2 * reaches.reduce((a, b) => a + b, 0) : columns * height;
  const more = inside - outside;
  const edge = BigInt(area) * more;
  must(
    widths.every((each) => each % 2 === 0 && each <= cells) &&
      (!reaches || (reaches.length === columns && reaches.every((each) => 2 * each <= height))));
  must(
    area && area < cells * cells && outside && more > 0n && edge + BigInt(cells * cells) * outside === W);
  const start = (place: number, width: number) => Math.min(Math.max(2 * place - width / 2, 0), cells - width);
  const heights = reaches?.map((each) => BigInt(2 * each));
  return {
    axes: [grid + 1, grid + 1],
    grid: [grid, grid],
    size: 2 * indexBytes(cells),
    ratio: [inside, outside],
    draw([px, py], random) {
      const drawn = random.u64();
      let [x, y] = [0, 0];
      if (drawn < edge) {
        [x, y] = [start(px, columns), start(py, height)];
        const i = drawn / more;
        const [column, rest] = heights ? locate(i, heights) : [Number(i) / height, i % BigInt(height)];
        x += Math.floor(column);
        y += Number(rest) + (reaches ? height / 2 - reaches[column] : 0);
      } else {
        const i = Number((drawn - edge) / outside);
        [x, y] = [Math.floor(i / cells), i % cells];
      }
      return concat(index(x, cells), index(y, cells));
    },
  };
}

const coordinate = such<number>((each) => Number.isFinite(each) && Math.abs(each as number) < 1e300);
const PARTS = { first: part, second: part };

export const pair = form(PARTS, { reference: list(coordinate, 2) }, both);

function both({ first, second, reference }: Fields<typeof PARTS> & { reference?: number[] }): Sampler {
  const parts = [first, second];
  const most = Math.max(first.cells, second.cells);
  return {
    axes: parts.flatMap((each) => each.axes),
    grid: parts.flatMap((each) => each.grid!),
    sectors: first.sectors,
    reference,
    size: 2 * indexBytes(most),
    ratio: [first.ratio[0] * second.ratio[0], first.ratio[1] * second.ratio[1]],
    draw: (place, random) => concat(...parts.map((each, i) => index(each.cell(place[i], random), most))),
  };
}
