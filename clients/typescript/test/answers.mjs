// Answers the questions of the fixture once on a new device and says what it made, for a check in Python.
import { Collection, MemoryStore } from "../dist/node.js";
import { fixture, hex } from "./common.mjs";

const values = {
  commute: "bike",
  colour: 10,
  page: 999,
  tags: 0,
  hours: 7.25,
  wind: 360,
  mood: "ill",
  shop: 50,
  pet: 19,
  phone: ["new", 3],
  home: [9.99, 0.01],
};
const store = new MemoryStore();
const c = await Collection.read(JSON.stringify({ collection: fixture.collection }), {
  reports: "https://localhost/reports",
  store,
  cap: 20_000_000,
});
for (const [question, value] of Object.entries(values)) await c.answer(question, value);
const { answers } = JSON.parse((await store.load()).slice(64));
console.log(
  JSON.stringify({
    ledger: await c.ledger(),
    uploads: answers.map(({ upload }) => upload),
    reports: (await c.answers()).map(({ question, report }) => [question, hex(report)]),
  }),
);
