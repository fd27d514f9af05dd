/**
 * The device half of an ldpkit collection. A value is randomised where it is given; what leaves the device is a
 * report, and what it cost is written down before it leaves.
 *
 * @packageDocumentation
 */
export type { Json } from "./canonical.js";
export { Collection, type Given, type Options } from "./collection.js";
export type { Answer, Micro } from "./device.js";
export { type ErrorCode, LdpkitError } from "./errors.js";
export type { Form } from "./fields.js";
export type { CollectionFile, Question } from "./file.js";
export type { Ledger } from "./ledger.js";
export type { Value } from "./places.js";
export type { Flushed } from "./sending.js";
export { IndexedDBStore } from "./stores/indexeddb.js";
export type { Store } from "./stores/store.js";
