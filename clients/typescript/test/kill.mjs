// Kills node, closes pages and kills Chromium at random moments, and counts what must never happen.
//   node test/kill.mjs [kills of node] [closed pages] [kills of Chromium]
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What is answered, with values that differ from run to run: a report that changes with the value was drawn twice. */
export const VALUES = {
  commute: ["walk", "bike", "bus", "car"],
  page: [1, 500, 999],
  mood: ["well", "so so", "ill"],
  phone: [
    ["old", 1],
    ["new", 2],
    ["new", 3],
  ],
};
const FIXED = "phone"; // its report is the permanent one, of the first value ever

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What was told by those who died, beside what the store and the collector hold. */
export function judge(told, answers, collector, ledger) {
  const found = {
    told: told.size,
    stored: answers.length,
    accepted: collector.accepted.size,
    twice: 0,
    lost: 0,
    redrawn: 0,
    unsent: 0,
    unpaid: 0,
    conflicts: collector.conflicts.length,
  };
  const stored = new Map(answers.map((each) => [`${each.question} ${each.round}`, each]));
  for (const [place, reports] of told) {
    if (reports.size > 1) found.twice++;
    if (!reports.has(stored.get(place)?.report)) found.lost++;
  }
  const permanent = new Set(answers.filter(({ question }) => question === FIXED).map(({ report }) => report));
  found.redrawn = Math.max(0, permanent.size - 1);
  const arrived = new Set([...collector.accepted.values()].map((each) => each.split("/").slice(1).join("/")));
  for (const { round, report } of answers) if (!arrived.has(`${round}/${report}`)) found.unsent++;
  const paid = new Set(ledger.charges.map(({ question, round }) => `${question} ${round}`));
  for (const place of [...stored.keys(), ...told.keys()]) if (!paid.has(place)) found.unpaid++;
  found.extra = collector.accepted.size - answers.length;
  return found;
}

const note = (told, question, round, report) => {
  const place = `${question} ${round}`;
  told.set(place, (told.get(place) ?? new Set()).add(report));
  return Number(round);
};

async function killNode(kills, { collector, fixture, hex, node }) {
  const folder = await mkdtemp(join(tmpdir(), "ldpkit-kill-"));
  const told = new Map();
  const first = Math.floor((Date.now() - Date.parse(fixture.collection.rounds.start)) / 86_400_000);
  let day = 0;
  let early = 0;
  for (let i = 0; i < kills; i++) {
    const child = spawn(
      process.execPath,
      [
        fileURLToPath(new URL("victim.mjs", import.meta.url)),
        `${collector.url}/v1/collections/town`,
        folder,
        String(day),
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const ready = new Promise((resolve) => {
      createInterface(child.stdout).on("line", (line) => {
        if (line === "ready") return resolve(true);
        const parts = line.split(" ");
        if (parts.length === 3 && parts[2].length) day = Math.max(day, note(told, ...parts) - first);
      });
    });
    const gone = new Promise((resolve) => child.on("close", resolve));
    if (i % 5)
      await ready; // each fifth dies while it starts
    else early++;
    await sleep(Math.random() * 400);
    child.kill("SIGKILL");
    await gone;
  }
  const c = await node.Collection.fetch(`${collector.url}/v1/collections/town`, { store: new node.FileStore(folder) });
  while ((await c.flush()).waiting);
  const answers = (await c.answers()).map(({ report, ...rest }) => ({ ...rest, report: hex(report) }));
  const found = { kills, "while starting": early, ...judge(told, answers, collector, await c.ledger()) };
  await rm(folder, { recursive: true });
  return found;
}

async function killPages(closes, kills, { collector, fixture }) {
  const { launch, startPages } = await import("./chromium.mjs");
  const page = `<!doctype html><script type="module">
    import { Collection } from "/ldpkit.js";
    const [url, day] = location.hash.slice(1).split(",");
    const now = Date.now;
    let ahead = Number(day);
    Date.now = () => now() + ahead * 86400000;
    const VALUES = ${JSON.stringify(VALUES)};
    const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const c = (window.collection = await Collection.fetch(url));
    window.stop = false;
    for (; !window.stop && day !== "end"; ahead++) {
      for (const [question, values] of Object.entries(VALUES)) {
        const { report, round } = await c.answer(question, values[Math.floor(Math.random() * values.length)]);
        console.log(question + " " + round + " " + hex(report));
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    </script>`;
  const pages = await startPages({ "/kill": ["text/html", page] });
  const told = new Map();
  const first = Math.floor((Date.now() - Date.parse(fixture.collection.rounds.start)) / 86_400_000);
  let day = 0;
  let browser = await launch();
  const { folder, remove } = browser;
  const visit = async () => {
    const tab = await browser.context.newPage();
    tab.on("console", (message) => {
      const parts = message.text().split(" ");
      if (parts[0] in VALUES) day = Math.max(day, note(told, ...parts) - first);
    });
    await tab.goto(`${pages.url}/kill#${collector.url}/v1/collections/town,${day}`, { waitUntil: "commit" });
    return tab;
  };
  const { execFileSync } = await import("node:child_process");
  for (let i = 0; i < closes; i++) {
    const tabs = await Promise.all(i % 7 ? [visit()] : [visit(), visit()]); // now and then two tabs at once
    await sleep(Math.random() * 700);
    await Promise.all(tabs.map((tab) => tab.close()));
    if (kills && i % Math.ceil(closes / kills) === Math.ceil(closes / kills) - 1) {
      await visit();
      await sleep(100 + Math.random() * 200);
      const gone = new Promise((resolve) => browser.context.on("close", resolve));
      // The browser's own process is the one whose command line names the profile and no type.
      for (const line of execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n")) {
        if (line.includes(`--user-data-dir=${folder}`) && !line.includes("--type="))
          process.kill(Number(line.trim().split(" ")[0]), "SIGKILL");
      }
      await gone;
      await sleep(300);
      await rm(join(folder, "SingletonLock"), { force: true });
      browser = await launch(folder);
    }
  }
  const tab = await browser.context.newPage();
  await tab.goto(`${pages.url}/kill#${collector.url}/v1/collections/town,end`);
  await tab.waitForFunction(() => window.collection);
  const [answers, ledger] = await tab.evaluate(async () => {
    while ((await collection.flush()).waiting);
    const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [
      (await collection.answers()).map(({ report, ...rest }) => ({ ...rest, report: hex(report) })),
      await collection.ledger(),
    ];
  });
  const found = { closes, "kills of Chromium": kills, ...judge(told, answers, collector, ledger) };
  await browser.close();
  await remove();
  await pages.close();
  return found;
}

async function main([kills = 250, closes = 240, browserKills = 10]) {
  const { fixture, hex, townCollector } = await import("./common.mjs");
  const node = await import("../dist/node.js");
  const core = structuredClone(fixture.collection);
  core.questions.pop();
  core.spend.ask = core.questions.length;
  let bad = 0;
  for (const run of [
    (tools) => killNode(Number(kills), tools),
    (tools) => killPages(Number(closes), Number(browserKills), tools),
  ]) {
    const collector = await townCollector({ collection: core });
    const found = await run({ collector, fixture, hex, node });
    await collector.close();
    console.log(JSON.stringify(found));
    bad +=
      found.twice + found.lost + found.redrawn + found.unsent + found.unpaid + found.conflicts + Math.abs(found.extra);
  }
  process.exit(bad ? 1 : 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
