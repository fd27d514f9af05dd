/**
 * The client with every form: also locations, laws of angles, and mechanisms that are a table.
 *
 * @packageDocumentation
 */
import { FORMS } from "./forms/index.js";
import { pair, planar, rows, sites } from "./forms/plane.js";
import { anyWindow, mixedRows, turned } from "./forms/tables.js";
import { checkRectangle, placeOfLocation } from "./locations.js";
import { SPATIAL } from "./places.js";

Object.assign(FORMS, { window: anyWindow, turned, table: mixedRows, rows, sites, planar, pair });
Object.assign(SPATIAL, { place: placeOfLocation, check: checkRectangle });

export type { Ratio } from "./epsilon.js";
export * from "./index.js";
export type { Place } from "./forms/sampler.js";
export { reportFor, type Stage } from "./report.js";
export { MemoryStore } from "./stores/store.js";
export { canonical, covers } from "./tools.js";
