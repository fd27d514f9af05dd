// Every golden vector, in node; test/browser.test.mjs does the same in Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as internals from "../dist/internals.js";
import * as shipped from "../../../src/ldpkit/client/web/ldpkit-all.js";
import * as small from "../../../src/ldpkit/client/web/ldpkit.js";
import { vectorFiles } from "./common.mjs";
import { runVectors } from "./vectors.mjs";

const { reportFor, canonical, covers } = shipped;

test("all vectors are equal", async (context) => {
  const { equal, wrong } = await runVectors({ ...internals, reportFor, canonical, covers }, await vectorFiles());
  assert.deepEqual(wrong.slice(0, 20), []);
  context.diagnostic(JSON.stringify(equal));
  assert.ok(Object.keys(equal).length >= 50);
});

test("a flipped bit in any of them is caught", async () => {
  const flip = (wanted) =>
    /^[0-9a-f]+$/.test(String(wanted))
      ? (Number.parseInt(String(wanted)[0], 16) ^ 1).toString(16) + String(wanted).slice(1)
      : `${wanted}!`;
  const { equal } = await runVectors(internals, await vectorFiles(), flip);
  assert.deepEqual(equal, {});
});

test("which mechanisms the small file carries, and which only the large one", async () => {
  const held = new Map();
  const store = () => {
    let text = null;
    return { name: "here", load: async () => text, swap: async (before, after) => ((text = after), true) };
  };
  for (const groups of Object.values(await vectorFiles())) {
    for (const { mechanism, kind, domain, sampler, report_bytes, charges } of groups) {
      if (!charges || domain.shape === "globe") continue; // no question has it: only its reports are compared
      const charge = ({ least } = {}) => least ?? "infinite";
      const of = Object.fromEntries(charges.map((each) => [each.of, each]));
      const [first, next] = [charge(of.first), charge(of.second ?? of.first)];
      const question = { number: 0, id: "q", text: "?", kind, domain, mechanism, parameters: {}, sampler, report_bytes };
      const collection = {
        format: "ldpkit-collection-1",
        id: "c",
        version: 1,
        purpose: "",
        questions: [{ ...question, value: "changing", charge: { first, next } }],
        rounds: { every: "once", start: "2020-01-01", count: 1 },
        spend: { ask: 1 },
        promise: { report: "infinite", round: "infinite", lifetime: "infinite" },
        least_reports: 0,
        randomness: "secure",
      };
      const takes = ({ Collection }) =>
        Collection.read(JSON.stringify({ collection }), { store: store(), reports: "https://localhost/r" }).then(
          () => true,
          (error) => (assert.match(error.code, /sampler|malformed/, error.message), false),
        );
      assert.ok(await takes(shipped), `${mechanism} in ldpkit-all.js`);
      held.set(mechanism, [kind, (await takes(small)) && (held.get(mechanism)?.[1] ?? true)]);
    }
  }
  const left = [...held].filter(([, [, isHeld]]) => !isHeld);
  assert.deepEqual(
    left.filter(([, [kind]]) => kind !== "spatial").map(([name]) => name),
    ["aaa", "optimal", "purkayastha", "von_mises"], // tables of a solver or of a law
  );
  assert.equal(held.size - left.length, 33);
});
