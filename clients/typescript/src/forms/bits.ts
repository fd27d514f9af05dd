import { type Bytes, concat, number } from "../bytes.js";
import { largest, type Ratio } from "../epsilon.js";
import { form, must, record, whole } from "../fields.js";
import type { Random } from "../random.js";
import { chained, domainSize, index, indexBytes, type Sampler, W, word } from "./sampler.js";

const REST = (1n << 56n) - 1n;
const bitmap = (size: number) => new Uint8Array((size + 7) >> 3);
const has = (bits: Uint8Array, place: number) => (bits[place >> 3] >> (place & 7)) & 1;
const add = (bits: Uint8Array, place: number) => (bits[place >> 3] |= 1 << (place & 7));

/** Two chances of a one: of bits that are `yes`, and of others. */
type Chances = [yes: bigint, no: bigint];

function check(yes: bigint, no: bigint): Chances {
  must(no && no <= yes);
  return [yes, no];
}

/** Randomise bits one by one: a byte decides about each, and a word where it equals the first byte of the threshold. */
function flip(size: number, isYes: (place: number) => unknown, chances: Chances, random: Random): Bytes {
  const noise = random.bytes(size);
  const bits = bitmap(size);
  const [yes, no] = chances.map((chance) => Number(chance >> 56n));
  for (let place = 0; place < size; place++) {
    const own = isYes(place);
    const limit = own ? yes : no;
    if (noise[place] < limit || (noise[place] === limit && random.u64() >> 8n < (chances[own ? 0 : 1] & REST)))
      add(bits, place);
  }
  return bits;
}

/** The bits of one value. */
const flipOne = (size: number, value: number, chances: Chances, random: Random) =>
  flip(size, (place) => place === value, chances, random);

const unaryRatio = ([own, other]: bigint[], all = W): Ratio => [own * (all - other), other * (all - own)];
const bitRatio = ([one, zero]: Chances): Ratio => largest([one, zero], [W - zero, W - one]);
const THRESHOLDS = { own: word, other: word };

export const unary = form({ size: domainSize, ...THRESHOLDS }, {}, ({ size, own, other }): Sampler => {
  const chances = check(own, other);
  return {
    axes: [size],
    size: (size + 7) >> 3,
    ratio: unaryRatio(chances),
    draw: ([value], random) => flipOne(size, value, chances, random),
  };
});

const CHAINED = { size: domainSize, first: record(THRESHOLDS), second: record({ one: word, zero: word }) };

export const chainedUnary = form(CHAINED, {}, ({ size, first, second }) => {
  const [once, again] = [check(first.own, first.other), check(second.one, second.zero)];
  return chained(
    size,
    (size + 7) >> 3,
    unaryRatio(
      once.map((bit) => bit * again[0] + (W - bit) * again[1]),
      W * W,
    ),
    {
      all: unaryRatio(once),
      second: [...bitRatio(again), size] as unknown as Ratio, // two permanent reports may differ in every bit
      integers: [...once, ...again],
      streamBytes: 2 * size + 64,
      coins: () => bitmap(size),
      state: (_, value) => value,
      permanent: (_, value, random) => flipOne(size, value, once, random),
      instant: (permanent, random) => flip(size, (place) => has(permanent, place), again, random),
    },
  );
});

/** A bitmap of `count` of `size` values, drawn by Floyd's algorithm and Lemire's even integers; `held` puts `value` in. */
function choose(size: number, count: number, value: number, held: boolean, random: Random): Bytes {
  const draws = random.bytes(4 * count);
  const view = new DataView(draws.buffer, draws.byteOffset);
  const chosen = bitmap(size);
  for (let step = 0; step < count; step++) {
    const last = size - 1 - count + step;
    const bound = last + 1;
    let draw = view.getUint32(4 * step, true);
    // The low half of the product, of 32 bits, says whether the draw favours some values; the high half is the choice.
    while (Math.imul(draw, bound) >>> 0 < 2 ** 32 % bound) draw = random.u32();
    if (!step && held) continue; // the value takes the place of the first draw
    const choice = Number((BigInt(draw) * BigInt(bound)) >> 32n);
    const place = choice < value ? choice : choice + 1;
    add(chosen, has(chosen, place) ? (last < value ? last : last + 1) : place);
  }
  if (held) add(chosen, value);
  return chosen;
}

/** The places of the ones, ascending, as on the wire. */
function listed(bits: Uint8Array, size: number): Bytes {
  const found: Bytes[] = [];
  for (let place = 0; place < size; place += bits[place >> 3] ? 1 : 8) // an empty byte at once: most are
    if (has(bits, place)) found.push(index(place, size));
  return concat(...found);
}

const SUBSET = { size: domainSize, omega: whole(1, 2 ** 26), threshold: word };

export const subset = form(SUBSET, {}, ({ size, omega, threshold }): Sampler => {
  const num = threshold * BigInt(size - omega);
  const den = (W - threshold) * BigInt(omega);
  must(omega < size && threshold && num >= den);
  const [asList, asBitmap] = [omega * indexBytes(size), (size + 7) >> 3];
  return {
    axes: [size],
    size: Math.min(asList, asBitmap),
    ratio: [num, den],
    draw([value], random) {
      const chosen = choose(size, omega, value, random.u64() < threshold, random);
      return asList < asBitmap ? listed(chosen, size) : chosen;
    },
  };
});

const BITFLIP = { size: domainSize, d: whole(1, 2 ** 26 - 1), ...THRESHOLDS };

export const bitflip = form(BITFLIP, {}, ({ size, d, own, other }) => {
  const chances = check(own, other);
  must(d <= size);
  const ratio = d > 1 ? unaryRatio(chances) : bitRatio(chances);
  const unit = indexBytes(size);
  const named = d < size ? d * unit : 0; // bytes that name the buckets
  return chained(size, named + ((d + 7) >> 3), ratio, {
    all: ratio,
    second: [1n, 0n], // what is sent is the permanent report itself
    integers: [d, own, other],
    streamBytes: 9 * d + 64,
    coins(random) {
      if (!named) return bitmap(d);
      random.u64(); // the coin of a subset, for a value that is never in it
      return concat(listed(choose(size + 1, d, size, false, random), size), bitmap(d));
    },
    state(coins, value) {
      let at = 0;
      while (at < named && number(coins.subarray(at, at + unit)) !== BigInt(value)) at += unit;
      return named ? at / unit : value;
    },
    permanent(coins, state, random) {
      const bits = flipOne(d + 1, state, chances, random);
      bits[d >> 3] &= ~(1 << (d & 7)); // the last stands for 'none of these' and is not sent
      return concat(coins.subarray(0, named), bits.subarray(0, (d + 7) >> 3));
    },
    instant: (permanent) => permanent,
  });
});
