// Microseconds of processor time for one report in node: the sampler alone, with secure randomness.
//   node benchmark.mjs           every sampler of the golden vectors
//   node benchmark.mjs --table   the table of the README
import { readdirSync, readFileSync } from "node:fs";
import { drawReport, readSampler, secure } from "./dist/internals.js";

const folder = new URL("../../spec/vectors/", import.meta.url);
const groups = readdirSync(folder)
  .sort()
  .flatMap((file) => JSON.parse(readFileSync(new URL(file, folder))))
  .filter(({ name, sampler }) => name && sampler?.form);

/** The best of some runs: what else the machine does only adds. */
function time(sampler, runs, count) {
  const reads = readSampler(sampler, "sampler");
  const place = reads.axes.map((places) => Math.floor(places / 2));
  const times = [];
  for (let run = 0; run < runs; run++) {
    const start = process.cpuUsage();
    for (let i = 0; i < count; i++) drawReport(reads, place, secure);
    const { user, system } = process.cpuUsage(start); // processor time, for machines that do other things
    times.push((user + system) / count);
    if (times[0] > 2000) break;
  }
  return Math.min(...times);
}

const ROWS = [
  ["GRR, k = 257", "grr-257-1"],
  ["SUE, k = 100", "sue-100-1"],
  ["OUE, k = 100", "oue-100-1"],
  ["BLH, k = 1,000", "blh-1000-0.5"],
  ["OLH, k = 1,000", "olh-1000-4"],
  ["SS, k = 100, 27 values each", "ss-100-1"],
  ["SS, k = 1,000, 18 values each", "ss-1000-4"],
  ["SS, k = 70,000, 23 values each", "ss-70000-8"],
  ["PM", "pm-1048576-1"],
  ["SW", "sw-1048576-1"],
  ["Duchi", "duchi-1048576-1"],
  ["HM", "hm-1048576-1"],
  ["Laplace", "laplace-256-4"],
  ["staircase", "staircase-1048576-1"],
  ["AAA", "aaa-3"],
  ["circular OGPM", "circular_ogpm-1048576-1"],
  ["L-GRR, k = 300, a new device", "lgrr-300-4-2"],
  ["LOLOHA, k = 1,000, a new device", "lolh-1000-12-6"],
  ["L-OSUE, k = 9, a new device", "losue-9-2-1"],
  ["dBitFlipPM, k = 300, d = 9, a new device", "dbitflip-300-9-1"],
];

if (process.argv.includes("--table")) {
  const samplers = new Map(groups.map((group) => [group.name, group.sampler]));
  const missing = ROWS.filter(([, name]) => !samplers.has(name)).map(([, name]) => name);
  if (missing.length) throw new Error(`no vectors of ${missing}`);
  console.log("| report | microseconds |\n| --- | --- |");
  for (const [title, name] of ROWS) {
    const sampler = samplers.get(name);
    const told = sampler.omega ? title.replace(/\d+ values/, `${sampler.omega} values`) : title;
    console.log(`| ${told} | ${time(sampler, 9, 2000).toFixed(1)} |`);
  }
} else {
  for (const { name, sampler } of groups)
    console.log(`${name.padEnd(32)}${time(sampler, 6, 400).toFixed(1).padStart(10)}`);
}
