import { type Bytes, littleEndian } from "../bytes.js";
import type { Ratio } from "../epsilon.js";
import { list, must, type Reader, such, whole } from "../fields.js";
import type { Random } from "../random.js";

/** Where a value stands: an index, or one number for each axis. */
export type Place = readonly number[];

/** The little program that makes reports of one form. */
export interface Sampler {
  /** How many places there are on each axis. */
  axes: number[];
  /** The steps of the grid that numbers stand on; none where places are indices. */
  grid?: number[];
  /** The point that directions are taken from. */
  reference?: number[];
  /** Whether directions are sectors. */
  sectors?: boolean;
  /** The length of a report. */
  size: number;
  /** What one report tells. */
  ratio: Ratio;
  /** What is kept, for forms with a memory. */
  memory?: Memory;
  /** Make a report, where nothing is kept. */
  draw?(place: Place, random: Random): Bytes;
}

/** The stages of a form with a memory: the permanent report is kept, and what is sent is made from it. */
export interface Memory {
  /** What any number of reports about one value tell. */
  all: Ratio;
  /** What the second round tells. */
  second: Ratio;
  /** What labels pack. */
  integers: (bigint | number)[];
  /** How many bytes of a stream a stage probably needs. */
  streamBytes: number;
  /** The public coins of a device, in the layout of a report; none are drawn where a form has none. */
  coins(random: Random): Bytes;
  state(coins: Bytes, place: number): number;
  permanent(coins: Bytes, state: number, random: Random): Bytes;
  instant(permanent: Bytes, random: Random): Bytes;
}

export const W = 1n << 64n;

/** The most integers that the tables of a form hold. */
export const MOST = 4096;

export const MOST_CELLS = 2 ** 32;

/** A 64-bit integer, in decimal digits. */
export const word: Reader<bigint> = (value, name) =>
  BigInt(
    such<string>((each) => /^(0|[1-9]\d{0,19})$/.test(each as string) && typeof each === "string" && BigInt(each) < W)(
      value,
      name,
    ),
  );

/** A table of words. */
export const words = list(word, 1, MOST);

export const domainSize = whole(2, 2 ** 26);

/** The steps of a grid: a power of two. */
export const gridOf =
  (most: number): Reader<number> =>
  (value, name) => {
    const steps = whole(2, most)(value, name);
    must(Number.isInteger(Math.log2(steps)), name); // a power of two
    return steps;
  };

export const gridSteps = gridOf(2 ** 30);

export const sum = (words: bigint[]): bigint => words.reduce((total, each) => total + each, 0n);

/** The range that a word falls in, of consecutive ranges from 0 on, and how far into it. */
export function locate(value: bigint, ranges: bigint[]): [number, bigint] {
  let i = 0;
  for (; value >= ranges[i]; i++) value -= ranges[i];
  return [i, value];
}

/** Whether there is no zero, and no integer is larger than the one before. */
export const falls = (words: bigint[]): boolean => words.every((each, i) => each && (!i || each <= words[i - 1]));

/** A window of `width` cells among others, and the cell that a word falls in: those of the window come first. */
export function levels(width: number, others: number, inside: bigint, outside: bigint, before = 0n) {
  const edge = BigInt(width) * inside;
  must(
    outside && inside >= outside && before + edge + BigInt(others) * outside === W && width + others <= MOST_CELLS);
  return (drawn: bigint, start: number): number => {
    if (drawn < edge) return start + Number(drawn / inside);
    const i = Number((drawn - edge) / outside);
    return i < start ? i : i + width;
  };
}

/** How many bytes the integers below a number take on the wire. */
export const indexBytes = (count: number): number =>
  count <= 2 ** 8 ? 1 : count <= 2 ** 16 ? 2 : count <= 2 ** 32 ? 4 : 8;

/** One report that is an integer below a number. */
export const index = (value: number, count: number): Bytes => littleEndian(value, indexBytes(count));

/** A form with a memory: its reports are made in stages. */
export const chained = (size: number, bytes: number, ratio: Ratio, memory: Memory): Sampler => ({
  axes: [size],
  size: bytes,
  ratio,
  memory,
});
