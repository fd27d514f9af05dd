/** Forms that are small tables of laws. */
import { largest, type Ratio } from "../epsilon.js";
import { type Form, form, list, must, object, oneOf, type Reader, whole } from "../fields.js";
import { type Cells, celled, WINDOW, window } from "./cells.js";
import { gridOf, gridSteps, levels, locate, MOST, sum, W, word, words } from "./sampler.js";

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
const extremes = (each: bigint[]): Ratio =>
  each.reduce<[bigint, bigint]>(
    ([most, least], one) => [one > most ? one : most, one < least ? one : least],
    [each[0], each[0]],
  );

/** The largest ratio of two entries of a column. */
export const worstColumn = (rows: bigint[][]): Ratio =>
  largest(...rows[0].map((_, j) => extremes(rows.map((row) => row[j]))));

export const turned = form({ grid: gridOf(MOST), weights: words }, {}, ({ grid, weights }) => {
  must(weights.length === grid && weights.every(Boolean) && 2n * sum(weights) === W);
  const ranges = weights.map((each) => 2n * each);
  return celled(grid, grid, 2 * grid, extremes(weights), (place, random) => {
    const drawn = random.u64();
    const [distance] = locate(drawn, ranges);
    return (2 * place + (drawn & 1n ? distance : 2 * grid - 1 - distance)) % (2 * grid);
  });
});

export const mixedRows = form({ grid: gridSteps, rows: table }, {}, ({ grid, rows }) => {
  const bins = rows.length - 1;
  must(bins >= 1 && bins <= grid);
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
});

/** A direction: the window is one of the sectors of a circle, the one that the value lies in. */
const sector = form(
  { stand: oneOf("sector"), grid: whole(2, 2 ** 30), ...WINDOW },
  {},
  ({ grid, width, inside, outside }): Cells => {
    const cellOf = levels(width, (grid - 1) * width, inside, outside);
    return {
      ...celled(grid, grid, grid * width, [inside, outside], (place, random) => cellOf(random.u64(), place * width)),
      sectors: true,
    };
  },
);

/** Any window. */
export const anyWindow: typeof window = (value) => ((value as Form).stand === "sector" ? sector : window)(value);

/** A part of a pair: a window, or a turned law. */
export const part: Reader<Cells> = (value, name) => {
  const { form, ...integers } = object(value, name);
  must((form === "turned" || form === "window") && !("kept" in integers), name);
  return (form === "turned" ? turned : anyWindow)(integers);
};
