/** Canonical JSON and charges for whoever checks a file by another way; the client itself calls what is behind them. */
import { canonical as write, type Json } from "./canonical.js";
import { covers as isEnough, type Ratio } from "./epsilon.js";
import { take } from "./errors.js";
import { isWhole } from "./fields.js";

function isJson(value: unknown): boolean {
  if (typeof value !== "object" || value === null)
    return value === null || ["string", "boolean", "number"].includes(typeof value);
  const isPlain = Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value));
  return isPlain && Object.values(value).every(isJson);
}

/**
 * The canonical text of a JSON value (RFC 8785): what is signed and what digests are taken of.
 *
 * @param value - What JSON can say, without numbers that are none.
 */
export function canonical(value: Json): string {
  let holds = false;
  try {
    holds = isJson(value);
  } catch {
    // it contains itself
  }
  take(holds, "value", value, "what JSON can say");
  return write(value);
}

/**
 * Whether a charge is enough for what a report tells: num/den <= e^(charge / (10^6 times)), decided in integers.
 *
 * @param charge - Whole millionths of an epsilon, or Infinity.
 * @param ratio - num, den and perhaps times, which is 1 where it is left out.
 */
export function covers(charge: number, ratio: Ratio): boolean {
  take(charge === Infinity || isWhole(charge), "charge", charge, "whole millionths of an epsilon, or Infinity");
  const [num, den, times = 1] = Array.isArray(ratio) ? (ratio as Ratio) : [];
  take(
    typeof num === "bigint" && typeof den === "bigint" && num >= 0n && den >= 0n && isWhole(times, 1),
    "ratio",
    ratio,
    "[num, den] as two BigInts, and perhaps a power",
  );
  return isEnough(charge, [num, den, times]);
}
