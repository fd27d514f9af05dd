import { type Bytes, concat } from "../bytes.js";
import type { Json } from "../canonical.js";
import type { Ratio } from "../epsilon.js";
import { must, record, whole } from "../fields.js";
import type { Random } from "../random.js";
import { chained, domainSize, index, indexBytes, type Sampler, W, word } from "./sampler.js";

/** Randomised response among some values: the true one below `keep`, else the piece that the word falls in. */
export interface Response {
  keep: bigint;
  width: bigint;
}

export const ROUND = { keep: word, width: word };

export function checkResponse({ keep, width }: Response, size: number): Ratio {
  must(width && keep >= width && keep + BigInt(size - 1) * width === W, "keep and width");
  return { num: keep, den: width };
}

export function respond(value: number, { keep, width }: Response, random: Random): number {
  const drawn = random.u64();
  if (drawn < keep) return value;
  const piece = Number((drawn - keep) / width);
  return piece < value ? piece : piece + 1;
}

const responseForm = record({ size: domainSize, ...ROUND });

export function response(form: Json): Sampler {
  const integers = responseForm(form, "sampler");
  const { size } = integers;
  return {
    axes: [size],
    size: indexBytes(size),
    ratio: checkResponse(integers, size),
    draw: ([value], random) => index(respond(value, integers, random), size),
  };
}

const ROUNDS = { first: record(ROUND), second: record(ROUND) };

/**
 * Two rounds of randomised response among the buckets of a hash, or among the values themselves; the report begins
 * with `length` bytes of coins.
 */
function twoRounds(
  size: number,
  buckets: number,
  first: Response,
  second: Response,
  integers: (bigint | number)[],
  length: number,
  state: (coins: Bytes, value: number) => number,
): Sampler {
  const k = BigInt(buckets);
  const [all, again] = [first, second].map((round) => checkResponse(round, buckets));
  const answer = (coins: Uint8Array, value: number) => concat(coins.subarray(0, length), index(value, buckets));
  const both = {
    num: first.keep * second.keep + (k - 1n) * first.width * second.width,
    den: first.keep * second.width + first.width * second.keep + (k - 2n) * first.width * second.width,
  };
  return chained(size, length + indexBytes(buckets), both, {
    all,
    second: again,
    integers: [...integers, buckets, first.keep, first.width, second.keep, second.width],
    stream: 16,
    coins: (random) => answer(random.bytes(length), 0),
    state,
    permanent: (coins, value, random) => answer(coins, respond(value, first, random)),
    instant: (permanent, random) =>
      answer(
        permanent,
        respond(
          permanent.subarray(length).reduceRight((value, byte) => 256 * value + byte, 0),
          second,
          random,
        ),
      ),
  });
}

const chainedForm = record({ size: domainSize, ...ROUNDS });

export function chainedResponse(form: Json): Sampler {
  const { size, first, second } = chainedForm(form, "sampler");
  return twoRounds(size, size, first, second, [], 0, (_, value) => value);
}

// Hashing: the response is to the bucket of a hash function that the report names.

const HASH = { size: domainSize, buckets: whole(2, 2 ** 32), word: whole(32, 64) };
const ROUNDS32 = [
  [16, 0x85ebca6b],
  [13, 0xc2b2ae35],
  [16, 1],
];
const ROUNDS64 = [
  [30n, 0xbf58476d1ce4e5b9n],
  [27n, 0x94d049bb133111ebn],
  [31n, 1n],
];

function checkHash(size: number, buckets: number, bits: number): void {
  must(bits === (size <= 2 ** 17 && buckets <= 256 ? 32 : 64), "word");
}

/** The bucket of a value; `coins` begins with the multiplier and the shift of the hash function. */
function bucket(coins: Uint8Array, value: number, bits: number, buckets: number): number {
  const view = new DataView(coins.buffer, coins.byteOffset);
  if (bits === 32) {
    let mixed = value + 1;
    for (const [shift, factor] of ROUNDS32) mixed = Math.imul(mixed ^ (mixed >>> shift), factor);
    const constant = (mixed & ~0x1ffff) | value;
    const cell = (Math.imul(view.getUint32(0, true), constant) + view.getUint32(4, true)) >>> 16;
    return (cell * buckets) >>> 16;
  }
  let mixed = BigInt(value + 1);
  for (const [shift, factor] of ROUNDS64) mixed = BigInt.asUintN(64, (mixed ^ (mixed >> shift)) * factor);
  const constant = (mixed & ~0x1ffffffffn) | BigInt(value);
  const cell = BigInt.asUintN(64, view.getBigUint64(0, true) * constant + view.getBigUint64(8, true)) >> 32n;
  return Number((cell * BigInt(buckets)) >> 32n);
}

const hashingForm = record({ ...HASH, ...ROUND });

export function hashing(form: Json): Sampler {
  const integers = hashingForm(form, "sampler");
  const { size, buckets, word: bits } = integers;
  checkHash(size, buckets, bits);
  return {
    axes: [size],
    size: bits / 4 + indexBytes(buckets),
    ratio: checkResponse(integers, buckets),
    draw([value], random) {
      const coins = random.bytes(bits / 4);
      return concat(coins, index(respond(bucket(coins, value, bits, buckets), integers, random), buckets));
    },
  };
}

const chainedHashingForm = record({ ...HASH, ...ROUNDS });

export function chainedHashing(form: Json): Sampler {
  const { size, buckets, word: bits, first, second } = chainedHashingForm(form, "sampler");
  checkHash(size, buckets, bits);
  return twoRounds(size, buckets, first, second, [bits], bits / 4, (coins, value) =>
    bucket(coins, value, bits, buckets),
  );
}
