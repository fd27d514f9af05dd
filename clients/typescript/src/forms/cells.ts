/** Forms for numbers and angles: a report is a cell, chosen by comparing words with integers. */
import { largest, type Ratio } from "../epsilon.js";
import { type Fields, form, list, must, oneOf, whole } from "../fields.js";
import type { Random } from "../random.js";
import {
  falls,
  gridSteps,
  index,
  indexBytes,
  levels,
  locate,
  MOST,
  MOST_CELLS,
  type Place,
  type Sampler,
  sum,
  W,
  word,
  words,
} from "./sampler.js";

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

export const cellCount = whole(1, MOST_CELLS);
const number = whole(0, MOST_CELLS);
export const WINDOW = { width: cellCount, inside: word, outside: word };

export const window = form(
  { stand: oneOf("slide", "clamp", "wrap"), grid: gridSteps, ...WINDOW },
  { margin: number, kept: list(number, 2) },
  ({ stand, grid, width, inside, outside, margin, kept }) => {
    const [slides, wraps] = [stand === "slide", stand === "wrap"];
    must(slides ? margin! >= 0 : !kept && margin === undefined);
    const cells = slides ? grid + width + 2 * margin! : 2 * grid;
    must(width < cells && (slides || width % 2 === 0));
    const cellOf = levels(width, cells - width, inside, outside);
    const [first, count] = kept ?? [0, cells];
    must(count && first + count <= cells);
    return celled(wraps ? grid : grid + 1, grid, kept ? count + 2 : cells, [inside, outside], (place, random) => {
      const centred = 2 * place - width / 2;
      const drawn = random.u64();
      // On a circle, cells are counted from the start of the window.
      const cell = wraps
        ? (cellOf(drawn, 0) + centred + cells) % cells
        : cellOf(drawn, slides ? place + margin! : Math.min(Math.max(centred, 0), cells - width));
      return truncate(cell - first, count);
    });
  },
);

/** A cell, or one of two more for all that lie below and above. */
const truncate = (cell: number, cells: number) => (cell < 0 ? cells : cell >= cells ? cells + 1 : cell);

const COIN = { grid: gridSteps, base: word, slope: word };

/** A coin, or one of the cells of a window; a coin alone has no window. */
function coins({
  grid,
  base,
  slope,
  width = 0,
  inside = 1n,
  outside = 1n,
}: Fields<typeof COIN, typeof WINDOW>): Sampler {
  const most = base + BigInt(grid) * slope;
  const edge = base + most;
  const cells = width && grid + width;
  must(base && (width || edge === W));
  const cellOf = width && levels(width, grid, inside, outside, edge);
  return celled(grid + 1, grid, cells + 2, largest([most, base], [inside, outside]), (place, random) => {
    const drawn = random.u64();
    return cellOf && drawn >= edge ? cellOf(drawn - edge, place) : cells + Number(drawn < base + slope * BigInt(place));
  });
}

export const coin = form(COIN, {}, coins);
export const hybrid = form({ ...COIN, ...WINDOW }, {}, coins);

/** Noise that falls in steps on both sides of a place: a block of the grid, and a cell of that block. */
export const noise = form(
  { grid: gridSteps, reach: whole(0, MOST), blocks: words, lengths: list(cellCount, 1, MOST), weights: words },
  {},
  ({ grid, reach, blocks, weights, lengths }) => {
    const each = weights.map((_, i) => BigInt(lengths[lengths.length > 1 ? i : 0] ?? 0));
    const runs = weights.map((weight, i) => weight * each[i]);
    const cells = grid * (1 + 2 * reach);
    const [all, near, far] = [0, reach, reach + 1].map((first) => sum(blocks.slice(first)));
    must(
      blocks.length + weights.length + lengths.length <= MOST &&
        cells < 2 ** 53 - 2 &&
        far &&
        blocks.every((block) => block && !(block & 1n)) &&
        falls(blocks.slice(0, reach + 1)) &&
        all === W);
    must(
      [1, weights.length].includes(lengths.length) && sum(each) === BigInt(grid) && falls(weights) && sum(runs) === W);
    const ratio = largest(
      [weights[0], weights.at(-1)!],
      ...blocks.slice(0, reach).map((block, i): Ratio => [block, blocks[i + 1]]),
      [near, far],
    );
    return celled(grid + 1, grid, cells + 2, ratio, (place, random) => {
      const side = random.u64();
      const [run, rest] = locate(random.u64(), runs);
      const distance = locate(side, blocks)[0] * grid + Number(sum(each.slice(0, run)) + rest / weights[run]);
      return truncate(place + reach * grid + (side & 1n ? distance : -1 - distance), cells);
    });
  },
);
