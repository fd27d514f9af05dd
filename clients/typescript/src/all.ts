/**
 * The client with every form: also locations, and mechanisms that are a table.
 *
 * @packageDocumentation
 */
import { FORMS } from "./forms/index.js";
import { pair, planar, rows, sites } from "./forms/plane.js";
import { anyWindow, mixedRows, noise, turned } from "./forms/tables.js";
import { checkRectangle, placeOfLocation } from "./locations.js";
import { SPATIAL } from "./places.js";

Object.assign(FORMS, { window: anyWindow, noise, turned, table: mixedRows, rows, sites, planar, pair });
Object.assign(SPATIAL, { place: placeOfLocation, check: checkRectangle });

export { canonical } from "./canonical.js";
export { covers, type Ratio } from "./epsilon.js";
export * from "./index.js";
export type { Place } from "./forms/sampler.js";
export { reportFor, type Stage } from "./report.js";
export { LocalStorageStore } from "./stores/localstorage.js";
export { MemoryStore } from "./stores/store.js";
