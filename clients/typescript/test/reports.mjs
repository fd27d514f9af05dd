// Makes many reports with secure randomness: requests as JSON on standard input, reports on standard output.
import { readFileSync } from "node:fs";
import { drawReport, readSampler, secure } from "../dist/internals.js";

const parts = [];
for (const { sampler, place, count } of JSON.parse(readFileSync(0, "utf8"))) {
  const reads = readSampler(sampler, "sampler");
  const out = new Uint8Array(count * reads.size);
  for (let i = 0; i < count; i++) out.set(drawReport(reads, [place].flat(), secure), i * reads.size);
  parts.push(out);
}
process.stdout.write(Buffer.concat(parts));
