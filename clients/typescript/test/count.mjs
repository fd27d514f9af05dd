// How many golden vectors come out equal, by mechanism, in node and in Chromium: JSON for script/vectors.
import * as shipped from "../../../src/ldpkit/client/web/ldpkit-all.js";
import * as internals from "../dist/internals.js";
import { isThere, launch, startPages } from "./chromium.mjs";
import { vectorFiles } from "./common.mjs";
import { runVectors } from "./vectors.mjs";

const files = await vectorFiles();
const { reportFor, canonical, covers } = shipped;
const { vectors: node } = await runVectors({ ...internals, reportFor, canonical, covers }, files);

/** The same in a page. */
async function inChromium() {
  const pages = await startPages({
    "/empty.html": ["text/html", "<!doctype html>"],
    "/internals.js": ["text/javascript", new URL("../dist/internals.js", import.meta.url)],
    "/vectors.mjs": ["text/javascript", new URL("vectors.mjs", import.meta.url)],
    "/vectors.json": ["application/json", JSON.stringify(files)],
  });
  const browser = await launch();
  const page = await browser.context.newPage();
  await page.goto(`${pages.url}/empty.html`);
  const { vectors } = await page.evaluate(async () => {
    const [internals, shipped, { runVectors }, response] = await Promise.all(
      ["/internals.js", "/ldpkit-all.js", "/vectors.mjs"].map((each) => import(each)).concat(fetch("/vectors.json")),
    );
    const { reportFor, canonical, covers } = shipped;
    return runVectors({ ...internals, reportFor, canonical, covers }, await response.json());
  });
  await browser.close();
  await browser.remove();
  await pages.close();
  return vectors;
}

console.log(JSON.stringify({ node, chromium: isThere ? await inChromium() : null }));
process.exit(0);
