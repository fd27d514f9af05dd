// Parts of the client that have no name outside, for tests.
export { canonical, covers, reportFor } from "../src/all.ts";
export { drawReport, labelOf, permanentReport } from "../src/report.ts";
export { keyStream } from "../src/crypto.ts";
export { loadDevice } from "../src/device.ts";
export { encodeUpload } from "../src/file.ts";
export { readSampler } from "../src/forms/index.ts";
export { drawnQuestions, permanentKey, questionLabel, uploadId } from "../src/labels.ts";
export { ledgerOf, total } from "../src/ledger.ts";
export { placeOf } from "../src/places.ts";
export { secure } from "../src/random.ts";
