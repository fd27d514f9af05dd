/** Forms that are small tables of laws. */
import type { Json } from "../canonical.js";
import { largest, type Ratio } from "../epsilon.js";
import { list, must, record, type Reader } from "../fields.js";
import { type Cells, celled, window } from "./cells.js";
import { gridOf, gridSteps, locate, MOST, type Sampler, sum, W, word } from "./sampler.js";

const words = list(word, 1, MOST);
const rowsOf = list(list(word, 2, MOST), 1, MOST);

/** A table of words, all rows of one length, each summing to 2^64. */
export const table: Reader<bigint[][]> = (value, where) => {
  const rows = rowsOf(value, where);
  const width = rows[0].length;
  must(rows.length * width <= MOST, `${where} has more than ${MOST} integers`);
  for (const row of rows) must(row.length === width && row.every(Boolean) && sum(row) === W, where);
  return rows;
};

/** The largest and the smallest of some integers. */
const extremes = (each: bigint[]): [bigint, bigint] =>
  each.reduce<[bigint, bigint]>(([most, least], one) => [one > most ? one : most, one < least ? one : least], [each[0], each[0]]);

/** The largest ratio of two entries of a column. */
export const worstColumn = (rows: bigint[][]): Ratio => largest(...rows[0].map((_, j) => extremes(rows.map((row) => row[j]))));

const turnedForm = record({ form: String, grid: gridOf(MOST), weights: words });

export function turned(form: Json, where: string): Cells {
  const { grid, weights } = turnedForm(form, where);
  must(weights.length === grid && weights.every(Boolean) && 2n * sum(weights) === W, "weights");
  const ranges = weights.map((each) => 2n * each);
  return celled(grid, grid, 2 * grid, largest(extremes(weights)), (place, random) => {
    const drawn = random.u64();
    const [distance] = locate(drawn, ranges);
    return (2 * place + (drawn & 1n ? distance : 2 * grid - 1 - distance)) % (2 * grid);
  });
}

const mixedForm = record({ form: String, grid: gridSteps, rows: table });

export function mixedRows(form: Json, where: string): Sampler {
  const { grid, rows } = mixedForm(form, where);
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

/** A part of a pair: a window, or a turned law. */
export const part: Reader<Cells> = (form, where) => {
  const made = ((form as { form?: Json })?.form === "turned" ? turned : window)(form, where);
  must(!Object.hasOwn(form as object, "kept") && ["turned", "window"].includes((form as { form: string }).form), where);
  return made;
};
