/** Forms for numbers and angles: a report is a cell, chosen by comparing words with integers. */
import type { Json } from "../canonical.js";
import { largest, type Ratio } from "../epsilon.js";
import { list, must, oneOf, record, whole } from "../fields.js";
import type { Random } from "../random.js";
import { gridSteps, index, indexBytes, locate, MOST, type Place, type Sampler, sum, W, word } from "./sampler.js";

const MOST_CELLS = 2 ** 32;

/** A sampler whose report is a cell below a number; parts of a pair give the cell itself. */
export interface Cells extends Sampler {
  cells: number;
  cell(place: number, random: Random): number;
}

export const celled = (places: number, grid: number, cells: number, ratio: Ratio, cell: (place: number, random: Random) => number): Cells => ({
  axes: [places],
  grid: [grid],
  size: indexBytes(cells),
  ratio,
  cells,
  cell,
  draw: ([place]: Place, random: Random) => index(cell(place, random), cells),
});

/** A window of `width` cells among others, and the cell that a word falls in: those of the window come first. */
function levels(width: number, others: number, inside: bigint, outside: bigint, before = 0n) {
  const edge = BigInt(width) * inside;
  must(outside && inside >= outside && before + edge + BigInt(others) * outside === W && width + others <= MOST_CELLS, "inside and outside");
  return (drawn: bigint, start: number): number => {
    if (drawn < edge) return start + Number(drawn / inside);
    const i = Number((drawn - edge) / outside);
    return i < start ? i : i + width;
  };
}

const cellCount = whole(1, MOST_CELLS);
const WINDOW = { form: String, stand: oneOf("slide", "clamp", "wrap", "sector"), grid: whole(2, 2 ** 30), width: cellCount, inside: word, outside: word };
const windowForm = record(WINDOW);
const slidingForm = record({ ...WINDOW, margin: whole(0, MOST_CELLS) }, { kept: list(whole(0, MOST_CELLS), 2) });

export function window(form: Json, where: string): Cells {
  const slides = (form as { stand?: Json })?.stand === "slide";
  const read: ReturnType<typeof windowForm> & { margin?: number; kept?: number[] } = (slides ? slidingForm : windowForm)(form, where);
  const { stand, grid, width, inside, outside, margin = 0, kept } = read;
  const [wraps, sector] = [stand === "wrap", stand === "sector"];
  if (!sector) gridSteps(grid, where);
  const cells = slides ? grid + width + 2 * margin : sector ? grid * width : 2 * grid;
  must(width < cells && (slides || sector || width % 2 === 0), "width");
  const cellOf = levels(width, cells - width, inside, outside);
  const places = grid + (wraps || sector ? 0 : 1);
  const cell = (place: number, random: Random) => {
    const centred = 2 * place - width / 2;
    // On a circle, cells are counted from the start of the window.
    if (wraps) return (cellOf(random.u64(), 0) + centred + cells) % cells;
    return cellOf(random.u64(), slides ? place + margin : sector ? place * width : Math.min(Math.max(centred, 0), cells - width));
  };
  const ratio = { num: inside, den: outside };
  if (!kept) return celled(places, grid, cells, ratio, cell);
  const [first, count] = kept;
  must(count && first + count <= cells, "kept");
  return celled(places, grid, count + 2, ratio, (place, random) => truncate(cell(place, random) - first, count));
}

/** A cell, or one of two more for all that lie below and above. */
const truncate = (cell: number, cells: number) => (cell < 0 ? cells : cell >= cells ? cells + 1 : cell);

const COIN = { form: String, grid: gridSteps, base: word, slope: word };
const coinForm = record(COIN);

export function coin(form: Json, where: string): Sampler {
  const { grid, base, slope } = coinForm(form, where);
  const rise = BigInt(grid) * slope;
  must(base && 2n * base + rise === W, "base and slope");
  return celled(grid + 1, grid, 2, { num: base + rise, den: base }, (place, random) => Number(random.u64() < base + slope * BigInt(place)));
}

const hybridForm = record({ ...COIN, width: cellCount, inside: word, outside: word });

export function hybrid(form: Json, where: string): Sampler {
  const { grid, base, slope, width, inside, outside } = hybridForm(form, where);
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

const words = list(word, 1, MOST);
const noiseForm = record({ form: String, grid: gridSteps, reach: whole(0, MOST), blocks: words, lengths: list(cellCount, 1, MOST), weights: words });

export function noise(form: Json, where: string): Sampler {
  const { grid, reach, blocks, weights, lengths: given } = noiseForm(form, where);
  const lengths = given.length > 1 ? given : weights.map(() => given[0]);
  const cells = grid * (1 + 2 * reach);
  const runs = weights.map((weight, i) => weight * BigInt(lengths[i] ?? 0));
  const starts = lengths.map((_, i) => lengths.slice(0, i).reduce((a, b) => a + b, 0));
  const falls = (each: bigint, i: number, all: bigint[]) => each && (!i || each <= all[i - 1]);
  must(blocks.length + weights.length + given.length <= MOST && reach <= blocks.length - 2 && cells <= MOST_CELLS, "reach and the number of blocks");
  must(blocks.every((each) => each && !(each & 1n)) && blocks.slice(0, reach + 1).every(falls) && sum(blocks) === W, "blocks");
  must(lengths.length === weights.length && starts.at(-1)! + lengths.at(-1)! === grid && weights.every(falls) && sum(runs) === W, "lengths and weights");
  const ratio = largest(
    [weights[0], weights.at(-1)!],
    ...blocks.slice(0, reach).map((block, i): [bigint, bigint] => [block, blocks[i + 1]]),
    [sum(blocks.slice(reach)), sum(blocks.slice(reach + 1))],
  );
  return celled(grid + 1, grid, cells + 2, ratio, (place, random) => {
    const side = random.u64();
    const [run, rest] = locate(random.u64(), runs);
    const distance = locate(side, blocks)[0] * grid + starts[run] + Number(rest / weights[run]);
    return truncate(place + reach * grid + (side & 1n ? distance : -1 - distance), cells);
  });
}
