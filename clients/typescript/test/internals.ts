// Parts of the client that have no name outside, for tests.
import "../src/all.ts";
export { loadDevice } from "../src/device.ts";
export { readSampler } from "../src/forms/index.ts";
export { placeOf } from "../src/places.ts";
export { secure } from "../src/random.ts";
