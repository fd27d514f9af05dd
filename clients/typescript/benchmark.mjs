// Microseconds for one report in node, by mechanism: the sampler alone, with secure randomness.
//   node benchmark.mjs
import { readFileSync, readdirSync } from "node:fs";
import { drawReport, readSampler, secure } from "./dist/internals.js";

const folder = new URL("../../spec/vectors/", import.meta.url);
const rows = [];
for (const file of readdirSync(folder).sort()) {
  for (const { name, sampler } of JSON.parse(readFileSync(new URL(file, folder)))) {
    if (!name || !sampler?.form) continue;
    const reads = readSampler(sampler, "sampler");
    const draw = () =>
      drawReport(
        reads,
        reads.axes.map((places) => Math.floor(places / 2)),
        secure,
      );
    for (let i = 0; i < 200; i++) draw();
    const times = [];
    for (let run = 0; run < 5; run++) {
      const count = 400;
      const start = process.hrtime.bigint();
      for (let i = 0; i < count; i++) draw();
      times.push(Number(process.hrtime.bigint() - start) / 1000 / count);
      if (times[0] > 2000) break;
    }
    rows.push([name, Math.min(...times)]);
  }
}
for (const [name, time] of rows) console.log(`${name.padEnd(32)}${time.toFixed(1).padStart(10)}`);
