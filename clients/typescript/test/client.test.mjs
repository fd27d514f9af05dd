// The client in node: against Python's figures, against forged files, damaged stores and a collector that fails.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import {
  canonical,
  Collection,
  covers,
  FileStore,
  IndexedDBStore,
  MemoryStore,
  reportFor,
} from "../dist/node.js";
import { labelOf, loadDevice, permanentReport, placeOf, readSampler } from "../dist/internals.js";
import { judge } from "./kill.mjs";
import { fixture, hex, newKey, publicText, sign, townCollector } from "./common.mjs";

const town = fixture.collection;
const copy = (change = () => {}) => {
  const made = structuredClone(town);
  change(made);
  return made;
};
const refuses = (promise, code, words) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.code, code, error.message);
    if (words) assert.match(error.message, words);
    return true;
  });
const read = (collection, options = {}) =>
  Collection.read(JSON.stringify({ collection }), {
    reports: "https://localhost/reports",
    store: new MemoryStore(),
    ...options,
  });

/** The number of a question, as uploads have it. */
const numberOf = (question) => hex([town.questions.findIndex(({ id }) => id === question), 0]);

/** A store with a device of a known secret. */
async function deviceWith(secret) {
  const store = new MemoryStore();
  const body = JSON.stringify({
    format: "ldpkit-device-1",
    serial: 1,
    secret,
    cap: null,
    seen: {},
    firsts: {},
    answers: [],
  });
  await store.swap(null, hex(new Uint8Array(await crypto.subtle.digest("SHA-256", Buffer.from(body)))) + body);
  return store;
}

describe("what Python makes of the same", () => {
  test("canonical JSON", () => {
    for (const [text, wanted] of fixture.canonical) assert.equal(canonical(JSON.parse(text)), wanted);
    assert.throws(() => canonical("\ud800"), /forged/);
    assert.throws(() => canonical(NaN), /forged/);
  });

  test("which charge covers which ratio, on both sides of equality", () => {
    for (const [micro, num, den, times, wanted] of fixture.covers) {
      assert.equal(covers(micro, [BigInt(num), BigInt(den), times]), wanted, `${micro} ${times}`);
    }
    assert.ok(covers(Infinity, [1n, 0n]) && !covers(2 ** 53 - 1, [1n, 0n]));
  });

  test("the digest", async () => {
    const c = await read(town);
    assert.equal(c.digest, fixture.digest);
    await refuses(read(town, { digest: "0".repeat(64) }), "other-digest");
  });

  test("headers and ids of uploads, from the device's secret", async () => {
    for (const [question, number, wanted] of fixture.uploads) {
      const store = await deviceWith(fixture.secret);
      const early = await read(
        copy((form) => (form.rounds.start = new Date(Date.now() - number * 86_400_000).toISOString().slice(0, 10))),
        { store },
      );
      await early.answer(question, question === "commute" ? "walk" : 3);
      const { answers } = JSON.parse((await store.load()).slice(64));
      assert.equal(Buffer.from(answers[0].upload, "hex").readBigUInt64LE(22).toString(16).padStart(16, "0"), wanted);
      assert.equal(answers[0].upload.slice(0, 28), `4c44505501000300${numberOf(question)}${hex([number, 0, 0, 0])}`);
      assert.equal(
        Buffer.from(answers[0].upload, "hex").readBigUInt64LE(14).toString(16).padStart(16, "0"),
        fixture.fingerprints[question],
      );
    }
  });

  test("which questions a device is asked", async () => {
    for (const [ask, wanted] of fixture.drawn) {
      const c = await read(
        copy((form) => (form.spend.ask = ask)),
        { store: await deviceWith(fixture.secret) },
      );
      assert.deepEqual(
        c.questions.map(({ id }) => id),
        wanted,
      );
      const left = town.questions.find(({ id }) => !wanted.includes(id));
      if (left) await refuses(c.answer(left.id, 0), "question", /one of this device's: /);
    }
  });

  test("permanent reports, and the place of every value", async () => {
    for (const { question, reports } of fixture.permanent) {
      const asked = town.questions.find(({ id }) => id === question);
      const reads = readSampler(asked.sampler, "sampler");
      const label = await labelOf("town", { ...asked, reads });
      for (const [value, wanted] of reports.entries()) {
        assert.equal(
          hex(await permanentReport(Buffer.from(fixture.secret, "hex"), label, reads, value)),
          wanted,
          question,
        );
      }
    }
    for (const [question, value, wanted] of fixture.places) {
      const { kind, domain, sampler } = town.questions.find(({ id }) => id === question);
      assert.deepEqual(
        placeOf(kind, domain, readSampler(sampler, "sampler"), value),
        [wanted].flat(),
        `${question} ${value}`,
      );
    }
  });

  test("a permanent report that is sent as it is stays the same over rounds, versions and texts", async () => {
    const store = new MemoryStore();
    const seen = new Set();
    for (const [version, ago] of [
      [3, 0],
      [4, 5],
      [5, 9],
    ]) {
      const c = await read(
        copy((form) => {
          form.version = version;
          form.questions[9].text = `Which phone? ${version}`;
          form.rounds.start = new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
        }),
        { store },
      );
      const { report, micro } = await c.answer("phone", ago ? ["old", 1] : ["new", 2]); // fixed: the first value counts
      seen.add(hex(report));
      assert.equal(micro, ago ? 0 : town.questions[9].charge.first);
    }
    assert.equal(seen.size, 1);
  });

  test("what was paid for a value that may change does not bound what one that is fixed gives away then", async () => {
    const phone = town.questions[9];
    const { first } = phone.charge;
    const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const costs = async (...versions) => {
      const store = new MemoryStore();
      const micros = [];
      for (const [ago, [value, product]] of versions.entries()) {
        const form = copy((form) => {
          form.version = ago + 1;
          form.rounds.start = day(ago);
          form.questions[9].value = value;
          form.questions[9].charge = { first, next: value === "fixed" ? 0 : "infinite" };
          if (product) form.questions[9].domain = { product };
          form.promise = { report: "infinite", round: "infinite", lifetime: "infinite" };
        });
        const { product: [own] } = form.questions[9].domain;
        micros.push((await (await read(form, { store })).answer("phone", [own[0], 1])).micro);
      }
      return micros;
    };
    const [changing, fixed] = [["changing"], ["fixed"]];
    assert.deepEqual(await costs(changing, fixed, fixed), [first, Infinity, 0]);
    assert.deepEqual(await costs(fixed, fixed), [first, 0]);
    assert.deepEqual(await costs(fixed, changing, fixed), [first, Infinity, 0]);
    // Other names for the parts of a product leave the permanent reports as they are, so they are no new ones.
    const renamed = phone.domain.product.map((part) => (Array.isArray(part) ? part.map((each) => `${each}!`) : part));
    assert.deepEqual(await costs(changing, ["changing", renamed]), [first, Infinity]);
  });
});

describe("a collection file that was tampered with", () => {
  let key, good;
  before(async () => {
    key = await newKey();
    good = await sign(canonical, town, key);
  });
  const open = async (envelope, options = {}) =>
    Collection.read(JSON.stringify(envelope), {
      reports: "https://localhost/r",
      store: new MemoryStore(),
      publicKey: await publicText(key),
      ...options,
    });

  test("a good one is taken", async () => {
    const c = await open(good);
    assert.ok(c.isSigned && /signature/.test(c.checked));
    assert.ok(!(await read(town)).isSigned);
    assert.match((await read(town)).checked, /only the epsilon arithmetic/);
    await open(good, { digest: fixture.digest });
  });

  test("each change has its own refusal", async () => {
    const other = await newKey();
    await refuses(open({ collection: town }), "unsigned");
    await refuses(open(await sign(canonical, town, other)), "other-key", /another key/);
    await refuses(
      open({ ...good, collection: copy((form) => (form.purpose += "!")) }),
      "bad-signature",
      /changed after/,
    );
    await refuses(
      open({ ...good, signature: { ...good.signature, value: good.signature.value.slice(0, -4) + "AAAA" } }),
      "bad-signature",
    );
    await refuses(open(good, { digest: "00".repeat(32) }), "other-digest");
    await refuses(open(good, { publicKey: "short" }), "other-key", /65 bytes/);
    const store = new MemoryStore();
    await open(good, { store });
    await refuses(
      open(
        await sign(
          canonical,
          copy((form) => (form.version = 2)),
          key,
        ),
        { store },
      ),
      "rollback",
      /has seen 3/,
    );
    await refuses(
      open(
        await sign(
          canonical,
          copy((form) => (form.purpose += "?")),
          key,
        ),
        { store },
      ),
      "changed-version",
    );
    await open(
      await sign(
        canonical,
        copy((form) => (form.version = 4)),
        key,
      ),
      { store },
    );
    await refuses(open(good, { store }), "rollback");
  });

  test("epsilon that is raised, with the right signature or none", async () => {
    await refuses(read(copy((form) => (form.questions[0].parameters.epsilon = 5))), "charge", /states 5/);
    await refuses(read(copy((form) => (form.questions[0].charge.first -= 1))), "charge");
    await refuses(read(copy((form) => (form.questions[0].charge.next = 400_000))), "charge", /next/);
    await refuses(read(copy((form) => (form.promise.report -= 1))), "promise", /report/);
    await refuses(read(copy((form) => (form.promise.round -= 1))), "promise", /round/);
    await refuses(read(copy((form) => (form.promise.lifetime -= 1))), "promise", /lifetime/);
    await refuses(read(copy((form) => (form.questions[9].value = "changing"))), "charge"); // infinite from the second report on
  });

  test("integers that are changed", async () => {
    const bump = (text, by = 1n) => String(BigInt(text) + by);
    const changes = {
      keep: (form) => (form.questions[0].sampler.keep = bump(form.questions[0].sampler.keep)),
      width: (form) => (form.questions[2].sampler.width = bump(form.questions[2].sampler.width)),
      zero: (form) => (form.questions[1].sampler.other = "0"),
      number: (form) => (form.questions[1].sampler.own = 5),
      long: (form) => (form.questions[1].sampler.own = "18446744073709551616"),
      padded: (form) => (form.questions[1].sampler.own = "0" + form.questions[1].sampler.own),
      more: (form) => (form.questions[0].sampler.extra = 1),
      less: (form) => delete form.questions[0].sampler.keep,
      form: (form) => (form.questions[0].sampler.form = "toString"),
      list: (form) => (form.questions[0].sampler.form = ["response"]),
      word: (form) => (form.questions[2].sampler.word = 64),
      omega: (form) => (form.questions[3].sampler.omega = 16),
      inside: (form) => (form.questions[4].sampler.inside = bump(form.questions[4].sampler.inside, 2n)),
      grid: (form) => (form.questions[4].sampler.grid = 3),
      second: (form) => (form.questions[6].sampler.second.keep = form.questions[6].sampler.first.keep),
      shape: (form) => (form.questions[10].sampler.shape = [1, 1]),
    };
    for (const [name, change] of Object.entries(changes)) {
      await assert.rejects(read(copy(change)), (error) => ["sampler", "malformed"].includes(error.code), name);
    }
    // A coherent sampler of a larger epsilon passes its own conditions, and is refused by what it tells.
    const keep = 15n << 60n;
    await refuses(
      read(
        copy((form) =>
          Object.assign(form.questions[0].sampler, {
            keep: String(keep),
            width: String(((1n << 64n) - keep) / 3n),
            ...(((1n << 64n) - keep) % 3n ? { keep: String((1n << 64n) - 3n * (((1n << 64n) - keep) / 3n)) } : {}),
          }),
        ),
      ),
      "charge",
      /tell more/,
    );
  });

  test("documents that are none", async () => {
    const bad = [
      "",
      "[]",
      "null",
      "{",
      '{"collection":1}',
      JSON.stringify({ collection: town, extra: 1 }),
      JSON.stringify({ collection: { ...town, format: "x" } }),
      "[".repeat(100_000),
      `{"collection":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`,
    ];
    const options = { store: new MemoryStore(), reports: "https://localhost/reports" };
    for (const text of bad) await refuses(Collection.read(text, options), "malformed");
    const changes = [
      (form) => (form.questions[0].domain = ["walk", "bike", "bus"]),
      (form) => (form.questions[0].domain = ["walk", "walk", "bus", "car"]),
      (form) => (form.questions[4].domain = [24, 0]),
      (form) => (form.questions[5].domain = [0, 360]),
      (form) => (form.questions[4].kind = "frequency"),
      (form) => (form.questions[0].report_bytes = 2),
      (form) => (form.questions[0].value = "fixed"),
      (form) => (form.questions[1].id = "commute"),
      (form) => (form.questions[1].number = 0),
      (form) => (form.spend.ask = 12),
      (form) => (form.rounds.start = "2020-13-01"),
      (form) => (form.rounds.every = "once"),
      (form) => (form.randomness = "seeded"),
      (form) => (form.version = 65536),
      (form) => (form.id = "../x"),
      (form) => (form.questions = []),
      (form) => (form.__proto__ = { a: 1 }) && Object.defineProperty(form, "__proto__", { value: 1, enumerable: true }),
    ];
    for (const change of changes) await refuses(read(copy(change)), "malformed", /.*/);
  });
});

describe("arguments", () => {
  const wrong = [undefined, null, 5, -1, NaN, 1n, true, "x", "", {}, [], Symbol("s"), () => {}];
  const isOurs = (error) => {
    assert.ok(error.code && error.name === "LdpkitError" && !/\n/.test(error.message), error);
    return true;
  };
  const text = JSON.stringify({ collection: town });
  const good = { reports: "https://localhost/reports" };

  test("everything that is exported refuses what it does not take, and never with an error of the language", async () => {
    const grr = { form: "response", size: 2, keep: String(2n ** 63n), width: String(2n ** 63n) };
    const chained = fixture.collection.questions.find(({ sampler }) => sampler.form.startsWith("chained")).sampler;
    const bytes = new Uint8Array(64);
    const c = await read(town);
    const calls = [
      (bad) => Collection.fetch(bad, { timeout: 200 }),
      (bad) => Collection.fetch("http://127.0.0.1:9/v1/collections/town", bad),
      (bad) => Collection.read(bad, good),
      (bad) => Collection.read(text, bad),
      ...["reports", "store"].map((name) => (bad) => Collection.read(text, { ...good, [name]: bad })),
      (bad) => (typeof bad === "string" || !bad ? Promise.reject(new Reject()) : read(town, { publicKey: bad })),
      (bad) => c.answer(bad, "bike"),
      (bad) => (bad === true || bad === 5 ? Promise.reject(new Reject()) : c.answer("commute", bad)),
      async (bad) => reportFor(bad, 0, bytes),
      async (bad) => reportFor(grr, bad, bytes),
      async (bad) => reportFor(grr, 0, bad),
      async (bad) => reportFor(chained, 0, bytes, { stage: bad, from: bytes }),
      async (bad) => reportFor(chained, 0, bytes, { stage: "instant", from: bad }),
      async (bad) => (bad === 5 ? Promise.reject(new Reject()) : covers(bad, [2n, 1n])),
      async (bad) => covers(5, bad),
      async (bad) => (bad === "x" ? Promise.reject(new Reject()) : new FileStore(bad)),
      (bad) => new IndexedDBStore(bad).load(), // there is none in node
    ];
    class Reject extends Error {
      code = "skipped";
      name = "LdpkitError";
    }
    for (const [i, call] of calls.entries())
      for (const bad of wrong)
        await assert.rejects(
          (async () => call(bad))(),
          isOurs,
          `call ${i} takes ${String(bad)}`,
        );
    for (const bad of [undefined, 1n, NaN, Symbol("s"), () => {}, new Date(), { a: [undefined] }])
      assert.throws(() => canonical(bad), isOurs);
    const around = [];
    around.push(around);
    assert.throws(() => canonical(around), isOurs);
  });

  test("options that would do something else than they say", async () => {
    await refuses(Collection.read(text), "argument", /^reports must be an address, got undefined$/);
    await refuses(Collection.read(text, { reports: "" }), "argument", /^reports must/);
    await refuses(Collection.read(text, { reports: "http://example.org/x" }), "insecure-context", /https/);
    await refuses(Collection.read(text, good), "storage", /FileStore/);
    for (const cap of [NaN, -1, 0.5, "2", 2n ** 60n, {}]) await refuses(read(town, { cap }), "argument", /^cap must/);
    for (const timeout of [NaN, -1, "2", {}]) await refuses(read(town, { timeout }), "argument", /^timeout must/);
    await refuses(read(town, { publicKey: "x" }), "other-key", /^publicKey must be 65 bytes/);
  });
});

describe("answers", () => {
  test("every question of every kind, twice: the second costs nothing and is the same", async () => {
    const c = await read(town);
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
    let total = 0;
    for (const [question, value] of Object.entries(values)) {
      const first = await c.answer(question, value);
      const again = await c.answer(question, value);
      assert.deepEqual(again, first);
      assert.equal(first.report.length, town.questions.find(({ id }) => id === question).report_bytes);
      total += first.micro;
    }
    const ledger = await c.ledger();
    assert.equal(ledger.charges.length, 11);
    assert.equal(
      ledger.charges.reduce((sum, { micro }) => sum + micro, 0),
      total,
    );
    assert.deepEqual(
      ledger.charges.map(({ question }) => question),
      Object.keys(values).sort(),
    );
    assert.deepEqual({ ...ledger, charges: [] }, { format: "ldpkit-ledger-1", cap: null, charges: [] });
  });

  test("values that are not in the domain draw nothing", async () => {
    const c = await read(town);
    const bad = {
      commute: ["plane", 1, null, undefined],
      colour: [11, -1, 0.5, "3"],
      hours: [24.1, -0.1, NaN, "7", Infinity],
      wind: [361, -1],
      phone: [["new"], "new", ["new", 4]],
      home: [[11, 0], [1], 3],
    };
    for (const [question, values] of Object.entries(bad))
      for (const value of values) await refuses(c.answer(question, value), "value");
    await refuses(c.answer("hours", "7"), "value", /^value must be a number from 0 to 24, got "7"$/);
    await refuses(c.answer("hours", NaN), "value", /, got NaN$/);
    assert.equal((await c.ledger()).charges.length, 0);
  });

  test("caps refuse, over collections", async () => {
    const store = new MemoryStore();
    const one = await read(town, { store, cap: 1_500_000 });
    await one.answer("commute", "bus");
    await one.answer("colour", 3);
    await refuses(one.answer("page", 3), "cap", /1000000 .* 1500000 .*cap of this device/);
    const two = await read(
      copy((form) => (form.id = "village")),
      { store },
    );
    await refuses(two.answer("page", 3), "cap");
    assert.equal((await two.ledger()).cap, 1_500_000);
    await one.answer("commute", "car"); // the same question again is free
  });

  test("rounds open and close, whatever the clock does", async () => {
    const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const every = (every, ago, count) => read(copy((form) => (form.rounds = { every, start: day(ago), count })));
    assert.equal((await (await every("daily", 3, 4)).answer("commute", "bus")).round, 3);
    assert.equal((await (await every("weekly", 15, 4)).answer("commute", "bus")).round, 2);
    assert.equal((await (await every("once", 500, 1)).answer("commute", "bus")).round, 0);
    await refuses((await every("daily", 4, 4)).answer("commute", "bus"), "round", /last round/);
    await refuses((await every("daily", -2, 4)).answer("commute", "bus"), "round", /starts on/);
    // A clock that jumps back and forth spends no more than all rounds together.
    const c = await read(
      copy((form) => {
        form.rounds = { every: "daily", start: day(0), count: 3 };
        form.promise.lifetime = 3 * form.promise.round;
      }),
    );
    const now = Date.now;
    try {
      for (const jump of [0, 2, 1, 0, 5, -3, 2]) {
        Date.now = () => now() + jump * 86_400_000;
        await c.answer("commute", "bike").catch((error) => assert.equal(error.code, "round"));
      }
    } finally {
      Date.now = now;
    }
    assert.equal((await c.ledger()).charges.length, 3);
  });

  test("a hundred calls at once make one answer", async () => {
    const store = new MemoryStore();
    const tabs = await Promise.all([1, 2, 3].map(() => read(town, { store })));
    const made = await Promise.all(Array.from({ length: 100 }, (_, i) => tabs[i % 3].answer("page", i)));
    assert.equal(new Set(made.map(({ report }) => hex(report))).size, 1);
    assert.equal((await tabs[0].ledger()).charges.length, 1);
  });
});

describe("stores", () => {
  let folder;
  before(async () => (folder = await mkdtemp(join(tmpdir(), "ldpkit-"))));
  after(() => rm(folder, { recursive: true }));

  test("a folder: what was answered is there after a restart, and nobody else reads it", async () => {
    const path = join(folder, "device");
    const first = await (await read(town, { store: new FileStore(path) })).answer("page", 7);
    const again = await (await read(town, { store: new FileStore(path) })).answer("page", 8);
    assert.deepEqual(again.report, first.report);
    await writeFile(join(path, "new-999999999-x"), "what a killed process left");
    await (await read(town, { store: new FileStore(path) })).answer("tags", 8);
    const [name, ...more] = await readdir(path);
    assert.ok(!more.length && /^device-\d+\.json$/.test(name));
    const { mode } = await stat(join(path, name));
    assert.equal(mode & 0o077, 0);
  });

  test("a folder: a flipped bit, an older state and half a file are refused", async () => {
    const path = join(folder, "damaged");
    const c = await read(town, { store: new FileStore(path) });
    await c.answer("page", 7);
    const file = join(path, (await readdir(path))[0]);
    const text = await readFile(file, "utf8");
    for (const bad of [
      text.replace('"serial":2', '"serial":3'),
      text.slice(0, -20),
      "",
      "{}",
      text.replace(/^./, (one) => (one === "0" ? "1" : "0")),
    ]) {
      await writeFile(file, bad);
      await refuses(c.answer("page", 7), "damaged");
      await refuses(read(town, { store: new FileStore(path) }), "damaged");
    }
    await writeFile(file, text);
    await c.answer("page", 7);
    await rm(path, { recursive: true });
    await refuses(c.answer("page", 7), "storage", /cleared/);
  });

  test("a store that is full spends nothing and sends nothing", async () => {
    const store = new MemoryStore();
    const c = await read(town, { store });
    const swap = store.swap.bind(store);
    store.swap = async () => {
      throw new DOMException("no room", "QuotaExceededError");
    };
    await assert.rejects(c.answer("page", 1), /no room/);
    store.swap = swap;
    assert.equal((await c.ledger()).charges.length, 0);
    await c.answer("page", 1);
  });

  test("two processes race for one device: one report a question, every charge once", async () => {
    const path = join(folder, "race");
    const script = new URL("racer.mjs", import.meta.url).pathname;
    const runs = await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, [script, path, "6"])));
    const told = runs.map(({ stdout }) => stdout.trim());
    assert.equal(new Set(told).size, 1, told.join("\n"));
    const [device] = await loadDevice(new FileStore(path));
    assert.equal(device.answers.length, 6);
  });
});

describe("sending", () => {
  let collector;
  before(async () => (collector = await townCollector()));
  after(() => collector.close());
  const open = (options = {}) =>
    Collection.fetch(`${collector.url}/v1/collections/town?x=1#y`, { store: new MemoryStore(), ...options });

  test("an answer arrives, once, without a content type", async () => {
    const c = await open();
    const { report, round } = await c.answer("commute", "bike");
    collector.requests.length = 0;
    assert.deepEqual(await c.flush(), { sent: 1, refused: 0, waiting: 0 });
    assert.deepEqual(await c.flush(), { sent: 0, refused: 0, waiting: 0 });
    assert.equal(collector.requests.length, 1);
    assert.equal(collector.requests[0].url, "/v1/collections/town/reports");
    assert.equal(collector.requests[0].headers["content-type"], undefined);
    assert.ok([...collector.accepted.values()].includes(`0/${round}/${hex(report)}`));
    assert.deepEqual(
      (await c.answers()).map(({ state }) => state),
      ["sent"],
    );
  });

  test("what says nothing is sent again, and counted once", async () => {
    const before = collector.accepted.size;
    const c = await open({ timeout: 150 });
    await c.answer("page", 5);
    const failures = [
      ({ problem, response }) => problem(response, 500, "broken") ?? true,
      ({ problem, response }) => problem(response, 503, "busy") ?? true,
      ({ problem, response }) => problem(response, 408, "slow") ?? true,
      ({ request }) => request.destroy() ?? true,
      () => true, // hangs
      ({ response }) => response.end("<html>Welcome to the hotel</html>") ?? true,
      ({ response }) => (response.writeHead(302, { Location: "/" }), response.end(), true),
      ({ response }) => (response.writeHead(200), response.write("x".repeat(5_000_000)), true), // never ends
      ({ response }) => response.end("null") ?? true,
      ({ response }) => (response.writeHead(403), response.end('{"message":"Forbidden"}'), true), // a gateway's
      ({ response }) => (response.writeHead(404), response.end('{"type":"https://example.org/gone"}'), true),
    ];
    for (const fail of failures) {
      collector.next = ({ method, ...rest }) => method === "POST" && fail(rest);
      assert.deepEqual(await c.flush(), { sent: 0, refused: 0, waiting: 1 }, String(fail));
    }
    // Counted, but the response was lost on the way.
    let lost = true;
    collector.next = ({ request, method }) => {
      if (method === "POST" && lost) {
        lost = false;
        setTimeout(() => request.socket.destroy(), 0);
      }
      return false;
    };
    await c.flush();
    collector.next = undefined;
    await c.flush();
    assert.deepEqual(
      (await c.answers()).map(({ state }) => state),
      ["sent"],
    );
    assert.equal(collector.accepted.size, before + 1);
    assert.deepEqual(collector.conflicts, []);
  });

  test("a collector that asks to wait is left in peace", async () => {
    const c = await open();
    await c.answer("tags", 5);
    collector.next = ({ method, problem, response }) =>
      method === "POST" && (problem(response, 429, "too-many", { "Retry-After": "30" }) ?? true);
    assert.equal((await c.flush()).waiting, 1);
    collector.next = undefined;
    collector.requests.length = 0;
    assert.equal((await c.flush()).waiting, 1);
    assert.equal(collector.requests.length, 0);
    const now = Date.now;
    Date.now = () => now() + 31_000;
    try {
      assert.equal((await c.flush()).sent, 1);
    } finally {
      Date.now = now;
    }
  });

  test("an answer that was given with a clock ahead of its time holds up no other", async () => {
    const c = await open();
    const now = Date.now;
    const before = collector.accepted.size;
    try {
      Date.now = () => now() + 300 * 86_400_000;
      await c.answer("commute", "bus");
      Date.now = now;
      const { round } = await c.answer("commute", "bus");
      collector.next = ({ method, body, problem, response }) =>
        method === "POST" &&
        body.readUInt32LE(10) > round &&
        (problem(response, 425, "round-not-open", { "Retry-After": "3600" }) ?? true);
      assert.deepEqual(await c.flush(), { sent: 1, refused: 0, waiting: 1 });
      assert.equal(collector.accepted.size, before + 1);
      await c.answer("colour", 3);
      assert.deepEqual(await c.flush(), { sent: 1, refused: 0, waiting: 1 });
    } finally {
      Date.now = now;
      collector.next = undefined;
    }
  });

  test("what is refused for good is kept, shown, and neither sent nor drawn again", async () => {
    for (const [status, type] of [
      [400, "foreign-reports"],
      [404, "no-such-collection"],
      [409, "outdated-collection"],
      [410, "round-closed"],
      [413, "too-large"],
    ]) {
      const c = await open();
      const first = await c.answer("hours", 8);
      collector.next = ({ method, problem, response }) =>
        method === "POST" && (problem(response, status, type) ?? true);
      assert.deepEqual(await c.flush(), { sent: 0, refused: 1, waiting: 0 });
      collector.next = undefined;
      collector.requests.length = 0;
      await c.flush();
      assert.equal(collector.requests.length, 0);
      const again = await c.answer("hours", 9);
      assert.deepEqual([again.state, again.problem, again.report], ["refused", type, first.report]);
      assert.equal((await c.ledger()).charges.length, 1);
    }
  });

  test("a file that does not come, never ends or is huge", async () => {
    const fetching = (next, timeout = 10_000) => {
      collector.next = next;
      return open({ timeout });
    };
    await refuses(
      fetching(() => true, 200),
      "network",
    );
    await refuses(
      fetching(({ response, problem }) => problem(response, 404, "x") ?? true),
      "network",
      /404/,
    );
    await refuses(
      fetching(({ response }) => (response.end(" ".repeat(5_000_000)), true)),
      "network",
      /bytes/,
    );
    await refuses(
      fetching(({ response }) => (response.end("<html>"), true)),
      "malformed",
    );
    collector.next = undefined;
    await refuses(Collection.fetch("http://127.0.0.1:9/x", { store: new MemoryStore() }), "network");
    await refuses(read(town, { reports: "http://example.org/reports" }), "insecure-context", /https/);
  });

  test("without a secure context nothing begins", async () => {
    globalThis.isSecureContext = false;
    try {
      await refuses(open(), "insecure-context", /HTTPS/);
      await refuses(read(town), "insecure-context");
    } finally {
      delete globalThis.isSecureContext;
    }
    await refuses(
      Collection.read(JSON.stringify({ collection: town }), { reports: "https://localhost/" }),
      "storage",
      /FileStore/,
    );
  });
});

test("what judges the kills catches each of the faults that it counts", () => {
  const answer = { question: "phone", round: 1, report: "aa" };
  const collector = { accepted: new Map([["id", "9/1/aa"]]), conflicts: [] };
  const ledger = { charges: [{ question: "phone", round: 1 }] };
  const faults = (told, answers = [answer], more = {}, paid = ledger) =>
    Object.entries(judge(new Map(told), answers, { ...collector, ...more }, paid))
      .filter(([name, count]) => count && !["told", "stored", "accepted"].includes(name))
      .map(([name]) => name);
  const place = "phone 1";
  assert.deepEqual(faults([[place, new Set(["aa"])]]), []);
  assert.deepEqual(faults([[place, new Set(["aa", "bb"])]]), ["twice"]);
  assert.deepEqual(faults([["phone 2", new Set(["aa"])]]), ["lost", "unpaid"]);
  assert.deepEqual(faults([], [answer, { ...answer, round: 2, report: "bb" }]), [
    "redrawn",
    "unsent",
    "unpaid",
    "extra",
  ]);
  assert.deepEqual(faults([], [answer], { conflicts: ["id"] }), ["conflicts"]);
  assert.deepEqual(faults([], [answer], {}, { charges: [] }), ["unpaid"]);
});

test("a form draws the bytes it says, and no place outside", () => {
  const { sampler } = town.questions[0];
  assert.throws(() => reportFor(sampler, 4, new Uint8Array(8)), /must be below 4/);
  assert.throws(() => reportFor(sampler, 0, new Uint8Array(7)));
});
