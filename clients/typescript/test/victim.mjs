// Answers and sends until it is killed; tells its parent each answer once it is stored.
import { Collection, FileStore } from "../dist/node.js";
import { hex } from "./common.mjs";
import { VALUES } from "./kill.mjs";

const [url, folder, day] = process.argv.slice(2);
const now = Date.now;
let ahead = Number(day);
Date.now = () => now() + ahead * 86_400_000;
const c = await Collection.fetch(url, { store: new FileStore(folder) });
process.stdout.write("ready\n");
for (; ; ahead++) {
  for (const [question, values] of Object.entries(VALUES)) {
    const { report, round } = await c.answer(question, values[Math.floor(Math.random() * values.length)]);
    process.stdout.write(`${question} ${round} ${hex(report)}\n`);
    if (Math.random() < 0.3) await c.flush();
  }
  await c.flush();
}
