import { must } from "./errors.js";

/** Anything that JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * The canonical text of a JSON value (RFC 8785): what is signed and what digests are taken of.
 *
 * JavaScript's own numbers and escapes are those of the standard, and its strings sort by the
 * code units that the standard sorts by. What is left is the order of names and what has no text.
 */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.keys(value)
      .sort()
      .map((name) => `${canonical(name)}:${canonical(value[name])}`)
      .join()}}`;
  }
  // Half a character has no UTF-8, and what is no number has no JSON.
  must(
    typeof value === "string" ? !/\p{Cs}/u.test(value) : typeof value !== "number" || Number.isFinite(value),
    "text or a number",
  );
  return JSON.stringify(value);
}
