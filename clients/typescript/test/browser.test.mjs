// The client in Chromium: what ships in the Python package, on a page of another origin than the collector.
import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { canonical } from "../dist/node.js";
import { isThere, launch, startPages } from "./chromium.mjs";
import { fixture, newKey, publicText, sign, townCollector, vectorFiles } from "./common.mjs";

const screens = process.env.LDPKIT_SCREENS;

describe(
  "Chromium",
  { skip: isThere ? false : "no Chromium: apt-get install chromium, or set LDPKIT_CHROMIUM" },
  () => {
    let browser, pages, collector, survey, query;

    before(async () => {
      const key = await newKey();
      const core = structuredClone(fixture.collection); // without the locations, which the small file does not know
      core.questions.pop();
      core.spend.ask = core.questions.length;
      collector = await townCollector(await sign(canonical, core, key));
      const few = structuredClone(core);
      few.questions = few.questions.filter(({ id }) => ["commute", "hours"].includes(id));
      few.questions.forEach((question, i) => (question.number = i));
      few.spend.ask = 2;
      survey = await townCollector(await sign(canonical, few, key));
      const [snippet, guide] = await Promise.all(
        ["../README.md", "../../../docs/guide/web-page.md"].map(async (name) => {
          const text = await readFile(new URL(name, import.meta.url), "utf8");
          return /```html\n([\s\S]*?)```/.exec(text)[1];
        }),
      );
      assert.equal(guide, snippet); // so what is tried here is what both tell
      const ours = snippet
        .replace("https://collect.example.org/client.js", "/ldpkit.js")
        .replace("https://collect.example.org", survey.url);
      const signed = ours.replace("BD0u8r...", await publicText(key));
      pages = await startPages({
        "/snippet.html": ["text/html", signed],
        "/wrong-key.html": ["text/html", ours.replace("BD0u8r...", await publicText(await newKey()))],
        "/no-collector.html": ["text/html", signed.replace(survey.url, "http://127.0.0.1:1")],
        "/no-client.html": ["text/html", signed.replace("/ldpkit.js", "http://127.0.0.1:1/client.js")],
        "/internals.js": ["text/javascript", new URL("../dist/internals.js", import.meta.url)],
        "/vectors.mjs": ["text/javascript", new URL("vectors.mjs", import.meta.url)],
        "/vectors.json": ["application/json", JSON.stringify(await vectorFiles())],
      });
      browser = await launch();
      query = `?key=${await publicText(key)}&collection=${collector.url}/v1/collections/town`;
      if (screens) await mkdir(screens, { recursive: true });
    });
    after(async () => {
      await browser?.close();
      await browser?.remove();
      await Promise.all([pages?.close(), collector?.close(), survey?.close()]);
    });

    const open = async (more = "", origin = pages.url) => {
      const page = await browser.context.newPage();
      await page.goto(`${origin}/${query}${more}`);
      await page.waitForFunction(() => document.body?.dataset.ready);
      return page;
    };
    const forget = async () => {
      const page = await browser.context.newPage();
      await page.goto(`${pages.url}/ldpkit.js`);
      await page.evaluate(
        () =>
          new Promise((resolve, reject) =>
            Object.assign(indexedDB.deleteDatabase("ldpkit"), { onsuccess: resolve, onerror: reject }),
          ),
      );
      await page.close();
      for (const each of [collector, survey]) {
        each.accepted.clear();
        each.requests.length = 0;
        each.next = undefined;
      }
    };
    const shot = (page, name) => (screens ? page.screenshot({ path: `${screens}/${name}.png` }) : undefined);
    const device = (page) =>
      page.evaluate(
        () =>
          new Promise((resolve) => {
            indexedDB.open("ldpkit").onsuccess = (opened) => {
              opened.target.result.transaction("device").objectStore("device").get("ldpkit").onsuccess = (event) =>
                resolve(JSON.parse(event.target.result.slice(64)));
            };
          }),
      );

    test("all vectors are equal", async (context) => {
      const page = await open();
      const { equal, wrong } = await page.evaluate(async () => {
        const [internals, { reportFor, canonical, covers }, { runVectors }, response] = await Promise.all([
          import("/internals.js"),
          import("/ldpkit-all.js"),
          import("/vectors.mjs"),
          fetch("/vectors.json"),
        ]);
        return runVectors({ ...internals, reportFor, canonical, covers }, await response.json());
      });
      assert.deepEqual(wrong.slice(0, 20), []);
      context.diagnostic(JSON.stringify(equal));
      assert.ok(Object.keys(equal).length >= 50);
      await page.close();
    });

    const openSnippet = async () => {
      await forget();
      const page = await browser.context.newPage();
      await page.goto(`${pages.url}/snippet.html`);
      await page.getByRole("button", { name: "Send" }).waitFor(); // all is loaded and asked
      const choose = async (name, wanted) => {
        await page.getByRole("button", { name, exact: true }).click();
        await page.getByText(wanted, { exact: true }).waitFor({ timeout: 10_000 });
      };
      return [page, choose];
    };

    test("the snippet of the README works as it stands, but for the address and the key", async () => {
      const [page, choose] = await openSnippet();
      await choose("bike", "Thank you.");
      const posts = survey.requests.length;
      await page.evaluate(() => (document.querySelector("output").textContent = ""));
      await choose("car", "Thank you."); // the first choice stands
      assert.equal(survey.requests.length, posts);
      assert.equal(survey.accepted.size, 1);
      await choose("Send", "Sorry, this did not work: value must be a number from 0 to 24, got NaN"); // an empty field
      await page.getByRole("spinbutton").fill("7.5");
      await page.evaluate(() => document.querySelector("output").remove()); // that of the other question
      await choose("Send", "Thank you.");
      await shot(page, "0-snippet");
      assert.equal(survey.accepted.size, 2);
      await page.close();
    });

    test("the snippet says what became of an answer: refused for good, or waiting", async () => {
      let [page, choose] = await openSnippet();
      survey.next = ({ method, response, problem }) => method === "POST" && (problem(response, 410, "round-closed"), true);
      await choose("bike", "Sorry, this survey is closed.");
      await page.evaluate(() => (document.querySelector("output").textContent = ""));
      await choose("bike", "Sorry, this survey is closed."); // also when it was refused before
      await page.close();
      [page, choose] = await openSnippet();
      survey.next = ({ method, response, problem }) => method === "POST" && (problem(response, 400, "foreign-reports"), true);
      await choose("bike", "Sorry, it was refused: foreign-reports.");
      await page.close();
      [page, choose] = await openSnippet();
      await browser.context.setOffline(true);
      await choose("bike", "Thank you. It will be sent when you are online.");
      await browser.context.setOffline(false);
      await page.close();
    });

    for (const name of ["wrong-key", "no-collector", "no-client"])
      test(`the snippet says so where it cannot ask: ${name}`, async () => {
        await forget();
        const page = await browser.context.newPage();
        await page.goto(`${pages.url}/${name}.html`);
        await page.getByText("Sorry, this did not work: ").waitFor();
        assert.equal(await page.getByRole("button").count(), 0);
        await page.close();
      });

    test("another origin, offline, closed, and back: the answer arrives once, without a preflight", async () => {
      await forget();
      let page = await open();
      await shot(page, "1-asked");
      await browser.context.setOffline(true);
      await page.getByRole("button", { name: "bike" }).click();
      await page.waitForFunction(() => /stored/.test(document.querySelector("output").textContent));
      await shot(page, "2-offline");
      assert.equal(collector.accepted.size, 0);
      const [{ upload }] = (await device(page)).answers;
      await page.close(); // its beacon goes nowhere either
      await browser.context.setOffline(false);
      page = await open();
      await page.waitForFunction(() => document.body.dataset.state === "sent");
      await shot(page, "3-arrived");
      await page.getByRole("button", { name: "car" }).click(); // asked again: the same report, nothing sent
      await page.waitForTimeout(100);
      const { answers } = await device(page);
      assert.deepEqual(
        answers.map((each) => [each.upload, each.state]),
        [[upload, "sent"]],
      );
      assert.equal(collector.accepted.size, 1);
      assert.deepEqual(collector.conflicts, []);
      const posts = collector.requests.filter(({ method }) => method !== "GET");
      assert.ok(
        posts.length >= 1 &&
          posts.every(
            ({ method, headers }) =>
              method === "POST" && headers["content-type"] === undefined && headers.cookie === undefined,
          ),
        JSON.stringify(posts),
      );
      assert.notEqual(new URL(posts[0].headers.origin).host, new URL(collector.url).host);
      await page.close();
    });

    test("a page that goes offline and back sends by itself", async () => {
      await forget();
      const page = await open();
      await browser.context.setOffline(true);
      await page.getByRole("button", { name: "bus" }).click();
      await page.waitForFunction(() => document.body.dataset.state === "waiting");
      await browser.context.setOffline(false);
      await page.waitForFunction(() => document.body.dataset.state === "sent");
      assert.equal(collector.accepted.size, 1);
      await page.close();
    });

    test("a page that closes sends a beacon, which confirms nothing: it is sent again and counted once", async () => {
      await forget();
      let page = await open("&automatic=no");
      await page.evaluate(async () => {
        const { Collection } = await import("/ldpkit.js");
        const options = new URLSearchParams(location.search);
        const c = await Collection.fetch(options.get("collection"), { publicKey: options.get("key"), automatic: true });
        c.flush = async () => ({}); // only the beacon
        await c.answer("commute", "walk");
      });
      await page.goto("about:blank");
      for (let i = 0; i < 50 && !collector.accepted.size; i++) await page.waitForTimeout(20);
      assert.equal(collector.accepted.size, 1);
      await page.close();
      page = await open();
      await page.waitForFunction(() => document.body.dataset.state === "sent");
      assert.equal(collector.accepted.size, 1);
      assert.deepEqual(collector.conflicts, []);
      await page.close();
    });

    test("two tabs that race make one report for each question", async () => {
      await forget();
      const tabs = await Promise.all([open("&automatic=no"), open("&automatic=no")]);
      const race = () =>
        Promise.all(
          tabs.map((page) =>
            page.evaluate(async () => {
              const made = await Promise.all(
                ["walk", "bike", "bus", "car"].map((value) => collection.answer("commute", value)),
              );
              await Promise.all([1, 2, 3].map((value) => collection.answer("page", value)));
              await Promise.all([collection.flush(), collection.flush()]);
              return made.map(({ report }) => [...report].join());
            }),
          ),
        );
      assert.equal(new Set((await race()).flat()).size, 1);
      assert.equal((await device(tabs[0])).answers.length, 2);
      assert.equal(collector.accepted.size, 2);
      assert.equal(collector.requests.filter(({ method }) => method === "POST").length, 2); // the tabs took turns
      await Promise.all(tabs.map((page) => page.close()));
    });

    test("two tabs that race for a new device agree, every time", async () => {
      const tabs = await Promise.all([open("&automatic=no"), open("&automatic=no")]);
      for (let round = 0; round < 20; round++) {
        const made = await Promise.all(
          tabs.map((page) =>
            page.evaluate(async (name) => {
              const { Collection, IndexedDBStore } = await import("/ldpkit-all.js");
              const options = new URLSearchParams(location.search);
              const store = new IndexedDBStore(name);
              const publicKey = options.get("key");
              const found = await Collection.fetch(options.get("collection"), { publicKey, automatic: false, store });
              const made = await Promise.all([1, 2, 3].map((value) => found.answer("page", value)));
              return made.map(({ report }) => [...report].join());
            }, `race ${round}`),
          ),
        );
        assert.equal(new Set(made.flat()).size, 1, `race ${round}`);
      }
      await Promise.all(tabs.map((page) => page.close()));
    });

    test("a record that is damaged, a database that is full, and one that is cleared under a page", async () => {
      await forget();
      let page = await open("&automatic=no");
      const answer = (question, value) =>
        page.evaluate(
          ([question, value]) =>
            collection.answer(question, value).then(
              () => "stored",
              (error) => `${error.code}: ${error.message}`,
            ),
          [question, value],
        );
      await page.evaluate(() => {
        window.put = IDBObjectStore.prototype.put;
        IDBObjectStore.prototype.put = () => {
          throw new DOMException("no room", "QuotaExceededError");
        };
      });
      assert.match(await answer("commute", "bike"), /^storage: .*nothing was spent.*no room/);
      await page.evaluate(() => (IDBObjectStore.prototype.put = window.put));
      assert.equal((await page.evaluate(() => collection.ledger())).charges.length, 0);
      assert.equal(await answer("commute", "bike"), "stored");
      const write = (change) =>
        page.evaluate(
          (change) =>
            new Promise((resolve) => {
              indexedDB.open("ldpkit").onsuccess = ({ target: { result } }) => {
                const table = result.transaction("device", "readwrite").objectStore("device");
                table.get("ldpkit").onsuccess = (event) => {
                  const value =
                    change === "flip"
                      ? event.target.result.replace('"waiting"', '"Waiting"')
                      : change === "object"
                        ? { secret: 1 }
                        : event.target.result;
                  table.put(value, "ldpkit").onsuccess = () => (result.close(), resolve());
                };
              };
            }),
          change,
        );
      for (const change of ["flip", "object"]) {
        await write(change);
        assert.match(await answer("page", 1), /^damaged: ldpkit is damaged/);
      }
      await page.close();
      page = await open("&automatic=no");
      assert.equal(await page.evaluate(() => document.body.dataset.ready), "damaged");
      await shot(page, "4-damaged");
      await page.close();
      await forget();
      page = await open("&automatic=no");
      assert.equal(await answer("commute", "bike"), "stored");
      await page.evaluate(() => new Promise((resolve) => (indexedDB.deleteDatabase("ldpkit").onsuccess = resolve)));
      assert.match(await answer("commute", "bike"), /^storage: ldpkit was cleared/);
      await page.close();
    });

    test("a page without a secure context is told why nothing happens", async () => {
      const page = await open("", pages.plain);
      assert.equal(await page.evaluate(() => document.body.dataset.ready), "insecure-context");
      assert.match(await page.locator("output").textContent(), /secure context: serve it over HTTPS/);
      await shot(page, "5-insecure");
      await page.close();
    });

    test("a file that was changed on the way is refused on the page", async () => {
      await forget();
      const { envelope } = collector;
      collector.envelope = { ...envelope, collection: { ...envelope.collection, purpose: "To know you." } };
      const page = await open();
      collector.envelope = envelope;
      assert.equal(await page.evaluate(() => document.body.dataset.ready), "bad-signature");
      await shot(page, "6-changed");
      await page.close();
    });
  },
);
