// Many devices answer through a network that loses connections; every answer must be confirmed in the end.
//   node test/endtoend.mjs node URL VALUES.json FOLDER      in this process, each device with a folder
//   node test/endtoend.mjs chromium URL VALUES.json PROFILE on a page of another origin, each with a database
//   node test/endtoend.mjs shots URL FOLDER                 pictures of the results page
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { launch, startPages } from "./chromium.mjs";

const AT_ONCE = 8;

/** What a device does: fetch, answer, send until all is confirmed. Runs here and on a page, so it knows nothing else. */
async function answerAll({ Collection, storeOf, url, people, atOnce }) {
  let [next, confirmed] = [0, 0];
  const device = async () => {
    while (next < people.length) {
      const number = next++;
      let collection;
      while (!collection)
        collection = await Collection.fetch(`${url}/v1/collections/town`, {
          store: storeOf(number),
          automatic: false,
        }).catch((error) => {
          if (error.code !== "network") throw error;
        });
      for (const [question, value] of Object.entries(people[number])) await collection.answer(question, value);
      for (;;) {
        const { sent, refused, waiting } = await collection.flush();
        if (refused) throw new Error(`device ${number}: ${refused} answers were refused`);
        confirmed += sent;
        if (!waiting) break;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, device));
  return confirmed;
}

async function inNode(url, values, folder) {
  const { Collection, FileStore } = await import("../dist/node.js");
  const people = JSON.parse(await readFile(values, "utf8"));
  await mkdir(folder, { recursive: true });
  const storeOf = (number) => new FileStore(join(folder, String(number)));
  return answerAll({ Collection, storeOf, url, people, atOnce: AT_ONCE });
}

async function inChromium(url, values, profile) {
  const page = `<!doctype html><title>Answer</title><script type="module">
import { Collection, IndexedDBStore } from "/ldpkit.js";
const people = await (await fetch("/values.json")).json();
const storeOf = (number) => new IndexedDBStore("device " + number);
const answerAll = ${answerAll};
answerAll({ Collection, storeOf, url: "${url}", people, atOnce: ${AT_ONCE} }).then(
  (confirmed) => (globalThis.outcome = confirmed),
  (error) => (globalThis.outcome = String(error)),
);
</script>`;
  const pages = await startPages({
    "/answer": ["text/html", page],
    "/values.json": ["application/json", await readFile(values, "utf8")],
  });
  const browser = await launch(profile);
  try {
    const tab = await browser.context.newPage();
    await tab.goto(`${pages.url}/answer`);
    await tab.waitForFunction(() => globalThis.outcome !== undefined, null, { timeout: 0, polling: 500 });
    return await tab.evaluate(() => globalThis.outcome);
  } finally {
    await browser.close();
    await pages.close();
  }
}

async function shots(url, folder) {
  const browser = await launch();
  try {
    const tab = await browser.context.newPage();
    await tab.goto(`${url}/c/town`);
    for (const width of [400, 1400]) {
      await tab.setViewportSize({ width, height: 900 });
      const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) throw new Error(`the page is ${wide} wide on a screen of ${width}`);
      await tab.screenshot({ path: join(folder, `results-${width}.png`), fullPage: true });
    }
  } finally {
    await browser.close();
    await browser.remove();
  }
  return "";
}

const [how, ...words] = process.argv.slice(2);
console.log(await { node: inNode, chromium: inChromium, shots }[how](...words));
