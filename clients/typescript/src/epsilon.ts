/** What one report tells, at most, as an exact ratio num/den to a power, 1 where it is left out; the logarithm is its epsilon. */
export type Ratio = readonly [num: bigint, den: bigint, times?: number];

const ONE = 1n << 128n;
const MICRO = 1_000_000n;

/** A lower bound of e^(a/b) in units of 2^-128, for 0 <= a <= b. */
function series(a: bigint, b: bigint): bigint {
  let sum = ONE;
  let term = ONE;
  for (let i = 1n; term; i++) sum += term = (term * a) / (b * i);
  return sum;
}

const E = series(1n, 1n);

/**
 * Whether a charge in millionths of an epsilon, or Infinity, is enough for a ratio: num/den <= e^(charge / (10^6 times)).
 *
 * It is decided in integers, with a lower bound of the exponential: Math.log differs between engines. It never
 * accepts what is false, and refuses only within 2^-118 of equality.
 */
export function covers(charge: number, [num, den, times = 1]: Ratio): boolean {
  if (charge === Infinity) return true;
  if (!den) return false;
  const unit = MICRO * BigInt(times);
  let whole = BigInt(charge) / unit;
  let value = series(BigInt(charge) % unit, unit);
  for (; value * den < num * ONE; whole--) {
    if (!whole) return false;
    value = (value * E) / ONE;
  }
  return true;
}

/** The largest of some ratios without powers. */
export const largest = (...ratios: Ratio[]): Ratio =>
  ratios.reduce((one, other) => (other[0] * one[1] > one[0] * other[1] ? other : one));
