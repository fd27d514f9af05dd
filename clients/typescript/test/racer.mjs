// One of several processes that answer the same questions on the same device at the same time.
import { Collection, FileStore } from "../dist/node.js";
import { fixture, hex } from "./common.mjs";

const [folder, count] = process.argv.slice(2);
const c = await Collection.read(JSON.stringify({ collection: fixture.collection }), {
  reports: "https://localhost/reports",
  store: new FileStore(folder),
});
const values = { commute: "bike", colour: 1, page: 2, tags: 3, hours: 4, wind: 5 };
const reports = [];
for (const [question, value] of Object.entries(values).slice(0, Number(count)))
  reports.push(hex((await c.answer(question, value)).report));
console.log(reports.join(" "));
