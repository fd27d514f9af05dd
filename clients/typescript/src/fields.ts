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

/** Whether something is a whole number of a range. */
export const isWhole = (value: unknown, least = 0, most = Infinity): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;

/** Whole numbers of a range. */
export const whole = (least: number, most?: number): Reader<number> => such((value) => isWhole(value, least, most));

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

type Readers = { [name: string]: Reader<unknown> };
type Parsed<S> = { [K in keyof S]: S[K] extends Reader<infer T> ? T : never };

/** What a schema reads, and what it may read. */
export type Fields<S, O = object> = Parsed<S> & Partial<Parsed<O>>;

/** An object with exactly the fields of a schema; those of `optional` may be missing. */
export const record =
  <S extends Readers, O extends Readers = Record<never, never>>(schema: S, optional?: O): Reader<Fields<S, O>> =>
  (value, name) => {
    const form = object(value, name);
    const readers: Readers = { __proto__: null!, ...schema, ...optional };
    const made: { [name: string]: unknown } = {};
    for (const each in { ...form, ...schema }) {
      must(readers[each], each);
      made[each] = readers[each](form[each], each); // what is missing is undefined, which no reader takes
    }
    return made as Fields<S, O>;
  };

/** What makes something of the integers of a sampler. */
export const form =
  <S extends Readers, O extends Readers, T>(
    schema: S,
    optional: O,
    make: (fields: NoInfer<Fields<S, O>>) => T,
  ): ((integers: Json) => T) =>
  (integers) =>
    make(record(schema, optional)(integers, "sampler"));
