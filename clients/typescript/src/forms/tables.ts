/** Forms that are small tables of laws. */
import type { Json } from "../canonical.js";
import { largest, type Ratio } from "../epsilon.js";
import { type Form, list, must, object, oneOf, record, type Reader, whole } from "../fields.js";
import { type Cells, cellCount, celled, levels, MOST_CELLS, truncate, window } from "./cells.js";
import { gridOf, gridSteps, locate, MOST, type Sampler, sum, W, word } from "./sampler.js";

const words = list(word, 1, MOST);
const rowsOf = list(list(word, 2, MOST), 1, MOST);

/** A table of words, all rows of one length, each summing to 2^64. */
export const table: Reader<bigint[][]> = (value, name) => {
  const rows = rowsOf(value, name);
  const width = rows[0].length;
  for (const row of rows)
    must(rows.length * width <= MOST && row.length === width && row.every(Boolean) && sum(row) === W, name);
  return rows;
};

/** The largest and the smallest of some integers. */
const extremes = (each: bigint[]): [bigint, bigint] =>
  each.reduce<[bigint, bigint]>(
    ([most, least], one) => [one > most ? one : most, one < least ? one : least],
    [each[0], each[0]],
  );

/** The largest ratio of two entries of a column. */
export const worstColumn = (rows: bigint[][]): Ratio =>
  largest(...rows[0].map((_, j) => extremes(rows.map((row) => row[j]))));

const turnedForm = record({ grid: gridOf(MOST), weights: words });

export function turned(form: Json): Cells {
  const { grid, weights } = turnedForm(form, "sampler");
  must(weights.length === grid && weights.every(Boolean) && 2n * sum(weights) === W, "weights");
  const ranges = weights.map((each) => 2n * each);
  return celled(grid, grid, 2 * grid, largest(extremes(weights)), (place, random) => {
    const drawn = random.u64();
    const [distance] = locate(drawn, ranges);
    return (2 * place + (drawn & 1n ? distance : 2 * grid - 1 - distance)) % (2 * grid);
  });
}

const mixedForm = record({ grid: gridSteps, rows: table });

export function mixedRows(form: Json): Sampler {
  const { grid, rows } = mixedForm(form, "sampler");
  const bins = rows.length - 1;
  must(bins >= 1 && bins <= grid, "the number of rows");
  // The law of a place is a mixture of two rows; it is worst where a row begins, or beside it.
  const laws = rows.flatMap((_, i) =>
    [Math.floor, Math.ceil].map((round) => {
      const scaled = round((i * grid) / bins) * bins;
      const [row, up] = [Math.floor(scaled / grid), BigInt(scaled % grid)];
      return rows[row].map((each, j) => each * (BigInt(grid) - up) + (up ? rows[row + 1][j] * up : 0n));
    }),
  );
  return celled(grid + 1, grid, rows[0].length, worstColumn(laws), (place, random) => {
    const [drawn, chance] = [random.u64(), random.u32()];
    const scaled = place * bins;
    const row = Math.floor(scaled / grid) + Number(chance % grid < scaled % grid);
    return locate(drawn, rows[row])[0];
  });
}

const noiseForm = record({
  grid: gridSteps,
  reach: whole(0, MOST),
  blocks: words,
  lengths: list(cellCount, 1, MOST),
  weights: words,
});

export function noise(form: Json): Sampler {
  const { grid, reach, blocks, weights, lengths: given } = noiseForm(form, "sampler");
  const lengths = given.length > 1 ? given : weights.map(() => given[0]);
  const cells = grid * (1 + 2 * reach);
  const runs = weights.map((weight, i) => weight * BigInt(lengths[i] ?? 0));
  const starts = lengths.map((_, i) => lengths.slice(0, i).reduce((a, b) => a + b, 0));
  const falls = (each: bigint, i: number, all: bigint[]) => each && (!i || each <= all[i - 1]);
  must(
    blocks.length + weights.length + given.length <= MOST && reach <= blocks.length - 2 && cells <= MOST_CELLS,
    "reach and the number of blocks",
  );
  must(
    blocks.every((each) => each && !(each & 1n)) && blocks.slice(0, reach + 1).every(falls) && sum(blocks) === W,
    "blocks",
  );
  must(
    lengths.length === weights.length &&
      starts.at(-1)! + lengths.at(-1)! === grid &&
      weights.every(falls) &&
      sum(runs) === W,
    "lengths and weights",
  );
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

const sectorForm = record({
  stand: oneOf("sector"),
  grid: whole(2, 2 ** 30),
  width: cellCount,
  inside: word,
  outside: word,
});

/** A direction: the window is one of the sectors of a circle, the one that the value lies in. */
function sector(form: Json): Cells {
  const { grid, width, inside, outside } = sectorForm(form, "sampler");
  const cellOf = levels(width, (grid - 1) * width, inside, outside);
  return celled(grid, grid, grid * width, { num: inside, den: outside }, (place, random) =>
    cellOf(random.u64(), place * width),
  );
}

/** Any window. */
export const anyWindow = (form: Json): Cells => ((form as Form).stand === "sector" ? sector : window)(form);

/** A part of a pair: a window, or a turned law. */
export const part: Reader<Cells> = (value, name) => {
  const { form, ...integers } = object(value, name);
  must((form === "turned" || form === "window") && !("kept" in integers), name);
  return (form === "turned" ? turned : anyWindow)(integers);
};
