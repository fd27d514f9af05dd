import { concat, number } from "../bytes.js";
import type { Ratio } from "../epsilon.js";
import { type Fields, form, must, record, whole } from "../fields.js";
import { chained, domainSize, index, indexBytes, levels, type Sampler, word } from "./sampler.js";

// Randomised response is a window of one cell, the true value, among all others.
export const ROUND = { keep: word, width: word };

// Hashing: the response is to the bucket of a hash function that the report names. Without one, values are the buckets.

/** How a value is mixed, in words of 32 bits and of 64: shifts to the right, each followed by a product. */
const MIXERS = [
  [
    [16n, 0x85ebca6bn],
    [13n, 0xc2b2ae35n],
    [16n, 1n],
  ],
  [
    [30n, 0xbf58476d1ce4e5b9n],
    [27n, 0x94d049bb133111ebn],
    [31n, 1n],
  ],
];

/** The bucket of a value; `coins` begins with the multiplier and the shift of the hash function. */
function bucket(coins: Uint8Array, value: number, bits: number, buckets: number): number {
  if (!bits) return value;
  const half = BigInt(bits / 2);
  const cut = (product: bigint) => BigInt.asUintN(bits, product);
  const [multiplier, shift] = [0, bits / 8].map((at) => number(coins.subarray(at, at + bits / 8)));
  let mixed = BigInt(value + 1);
  for (const [right, factor] of MIXERS[bits >> 6]) mixed = cut((mixed ^ (mixed >> right)) * factor);
  const constant = ((mixed >> (half + 1n)) << (half + 1n)) | BigInt(value);
  return Number(((cut(multiplier * constant + shift) >> half) * BigInt(buckets)) >> half);
}

/** What reports have in front: how many bytes of coins, refused unless the word suits the domain. */
function coinBytes(size: number, buckets: number, bits: number): number {
  must(!bits || bits === (size <= 2 ** 17 && buckets <= 256 ? 32 : 64));
  return bits / 4;
}

const SIZE = { size: domainSize };
const HASH = { buckets: whole(2, 2 ** 32), word: whole(32, 64) };
const ROUNDS = { first: record(ROUND), second: record(ROUND) };

/** One round, for the values themselves or for their buckets. */
function oneRound({
  size,
  buckets = size,
  word: bits = 0,
  keep,
  width,
}: Fields<typeof SIZE & typeof ROUND, typeof HASH>): Sampler {
  const length = coinBytes(size, buckets, bits);
  const cellOf = levels(1, buckets - 1, keep, width);
  return {
    axes: [size],
    size: length + indexBytes(buckets),
    ratio: [keep, width],
    draw([value], random) {
      const coins = random.bytes(length);
      return concat(coins, index(cellOf(random.u64(), bucket(coins, value, bits, buckets)), buckets));
    },
  };
}

/** Two rounds: the second is about the answer of the first, which is kept. */
function twoRounds({
  size,
  buckets = size,
  word: bits = 0,
  first,
  second,
}: Fields<typeof SIZE & typeof ROUNDS, typeof HASH>): Sampler {
  const length = coinBytes(size, buckets, bits);
  const k = BigInt(buckets);
  const [once, again] = [first, second].map(({ keep, width }) => levels(1, buckets - 1, keep, width));
  const answer = (coins: Uint8Array, value: number) => concat(coins.subarray(0, length), index(value, buckets));
  const both: Ratio = [
    first.keep * second.keep + (k - 1n) * first.width * second.width,
    first.keep * second.width + first.width * second.keep + (k - 2n) * first.width * second.width,
  ];
  return chained(size, length + indexBytes(buckets), both, {
    all: [first.keep, first.width],
    second: [second.keep, second.width],
    integers: [...(bits ? [bits] : []), buckets, first.keep, first.width, second.keep, second.width],
    streamBytes: 16,
    coins: (random) => answer(random.bytes(length), 0),
    state: (coins, value) => bucket(coins, value, bits, buckets),
    permanent: (coins, value, random) => answer(coins, once(random.u64(), value)),
    instant: (permanent, random) =>
      answer(permanent, again(random.u64(), Number(number(permanent.subarray(length))))),
  });
}

export const response = form({ ...SIZE, ...ROUND }, {}, oneRound);
export const hashing = form({ ...SIZE, ...HASH, ...ROUND }, {}, oneRound);
export const chainedResponse = form({ ...SIZE, ...ROUNDS }, {}, twoRounds);
export const chainedHashing = form({ ...SIZE, ...HASH, ...ROUNDS }, {}, twoRounds);
