import type { Json } from "./canonical.js";
import { must } from "./errors.js";

export { must };

/** A JSON object. */
export type Form = { [name: string]: Json };

/** What reads one value of a document, or refuses it by the name of its field. */
export type Reader<T> = (value: Json, name: string) => T;

/** Read what fulfils a condition. */
export const such =
  <T extends Json>(holds: (value: Json) => unknown): Reader<T> =>
  (value, name) => {
    must(holds(value), name);
    return value as T;
  };

/** Whole numbers of a range. */
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Reader<number> =>
  such((value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most);

/** One of some words. */
export const oneOf = <T extends string>(...words: T[]): Reader<T> => such((value) => words.includes(value as T));

/** Text. */
export const text: Reader<string> = such((value) => typeof value === "string");

/** An object, whatever it has. */
export const object: Reader<Form> = such((value) => value && typeof value === "object" && !Array.isArray(value));

/** An array of so many items, each read alike. */
export const list =
  <T>(read: Reader<T>, least: number, most = least): Reader<T[]> =>
  (value, name) => {
    must(Array.isArray(value) && value.length >= least && value.length <= most, name);
    return value.map((each) => read(each, name));
  };

type Parsed<S> = { [K in keyof S]: S[K] extends Reader<infer T> ? T : never };

/** An object with exactly the fields of a schema; those of `optional` may be missing. */
export const record =
  <S extends { [name: string]: Reader<unknown> }, O extends { [name: string]: Reader<unknown> } = Record<never, never>>(
    schema: S,
    optional?: O,
  ): Reader<Parsed<S> & Partial<Parsed<O>>> =>
  (value, name) => {
    const form = object(value, name);
    const readers: { [name: string]: Reader<unknown> } = { ...schema, ...optional };
    const made: { [name: string]: unknown } = {};
    for (const each of Object.keys({ ...form, ...schema })) {
      must(Object.hasOwn(form, each) && Object.hasOwn(readers, each), each);
      made[each] = readers[each](form[each], each);
    }
    return made as Parsed<S> & Partial<Parsed<O>>;
  };
