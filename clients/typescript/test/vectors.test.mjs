// Every golden vector, in node; test/browser.test.mjs does the same in Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as internals from "../dist/internals.js";
import * as shipped from "../../../src/ldpkit/client/web/ldpkit-all.js";
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
