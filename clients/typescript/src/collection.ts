import { fromHex, hex } from "./bytes.js";
import { requireCrypto } from "./crypto.js";
import { type Answer, type Device, DeviceStore } from "./device.js";
import { insist, take } from "./errors.js";
import {
  type Asked,
  type Checked,
  type CollectionFile,
  encodeUpload,
  type Question,
  readFile,
  roundAt,
} from "./file.js";
import { isWhole } from "./fields.js";
import { drawnQuestions, uploadId } from "./labels.js";
import { type Ledger, ledgerOf, total } from "./ledger.js";
import { placeOf, type Value } from "./places.js";
import { makeReport } from "./report.js";
import { backOff, type Flushed, getText, post } from "./sending.js";
import { IndexedDBStore } from "./stores/indexeddb.js";
import type { Store } from "./stores/store.js";

/** How a device takes part. */
export interface Options {
  /** The only key whose signature is good: 65 bytes, or these in base64url. Without one, only the arithmetic is checked. */
  publicKey?: string | Uint8Array;
  /** The SHA-256 of the collection, in hexadecimal digits, to take this one file and no other. */
  digest?: string;
  /** Where the device keeps what it spent: IndexedDB if left out. */
  store?: Store;
  /** The most that this device may spend over all collections in its store, in millionths of an epsilon. */
  cap?: number;
  /** Where reports go, if not to `/reports` below the address of the file. */
  reports?: string;
  /** Whether to send, and send again, without being asked; true on a page, false elsewhere. */
  automatic?: boolean;
  /** Milliseconds until a request that hangs is given up. */
  timeout?: number;
}

/** An answer as it stands: stored, and perhaps sent. */
export interface Given {
  question: string;
  round: number;
  /** What it cost, in millionths of an epsilon, or Infinity. */
  micro: number;
  /** The report: all that ever leaves the device. */
  report: Uint8Array;
  state: Answer["state"];
  /** Why the collector refused it. */
  problem?: string;
}

const HEADER = 30; // bytes of an upload before its report, the id included

/**
 * A collection on one device: it answers, keeps and sends.
 *
 * @example
 * ```ts
 * const c = await Collection.fetch("https://collect.example.org/v1/collections/commute-2026", { publicKey });
 * await c.answer("commute", "bike");
 * await c.flush();
 * ```
 */
export class Collection {
  /** The file, every promise of which was recomputed. */
  readonly file: CollectionFile;
  /** Its SHA-256, in hexadecimal digits. */
  readonly digest: string;
  /** Whether a good signature was found. */
  readonly isSigned: boolean;
  /** The questions that this device is asked: all, or those that were drawn for it once and for ever. */
  readonly questions: readonly Question[];

  readonly #asked: Asked[];
  readonly #device: DeviceStore;
  readonly #options: Options;
  readonly #automatic = new AbortController();
  #timer?: ReturnType<typeof setTimeout>;
  #failures = 0;
  #until = 0;

  private constructor(checked: Checked, device: DeviceStore, asked: Asked[], options: Options) {
    this.#device = device;
    this.#options = options;
    this.file = checked.form;
    this.digest = checked.digest;
    this.isSigned = checked.isSigned;
    this.questions = this.#asked = asked;
    if (options.automatic ?? typeof document !== "undefined") this.#watch();
    else this.close();
  }

  /** Fetch a collection file and check it: signature, digest, rollback, and every epsilon from the sampler's integers. */
  static async fetch(url: string | URL, options: Options = {}): Promise<Collection> {
    requireCrypto();
    const href = addressOf("url", url);
    return Collection.read(await getText(href, options?.timeout), {
      reports: `${href.replace(/\/?([?#].*)?$/, "")}/reports`,
      ...options,
    });
  }

  /** Read a collection file that is there already, such as one that came with an app; `reports` says where answers go. */
  static async read(text: string, options: Options = {}): Promise<Collection> {
    const href = addressOf("reports", options?.reports);
    const { store, cap, timeout = 0 } = options;
    take(
      /^https:|^http:..(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(href),
      "reports",
      href,
      "an https address",
      "insecure-context",
    );
    take(
      store ? (store as Partial<Store>).swap : globalThis.indexedDB,
      "store",
      store,
      "a store, such as a FileStore of ldpkit/node",
      "storage",
    );
    take(isWhole(cap ?? 0), "cap", cap, "a whole number of millionths of an epsilon");
    take(isWhole(timeout), "timeout", timeout, "a whole number of milliseconds");
    const checked = await readFile(text, options.publicKey, options.digest);
    const { form, digest } = checked;
    const { id, version } = form;
    const device = new DeviceStore(store ?? new IndexedDBStore());
    const secret = await device.update((own) => {
      const key = `.${id}`; // no object has a property of such a name by itself
      const seen = own.seen[key] ?? { version: 0 };
      insist(
        version >= seen.version,
        "rollback",
        `collection ${id} is version ${version}, and this device has seen ${seen.version}`,
      );
      insist(
        version > seen.version || digest === seen.digest,
        "changed-version",
        `collection ${id} has changed without a new version`,
      );
      own.seen[key] = { version, digest };
      if (cap !== undefined) own.cap = cap;
      return own.secret;
    });
    const asked = await drawnQuestions(fromHex(secret), id, checked.questions, form.spend.ask);
    return new Collection(checked, device, asked, { ...options, reports: href });
  }

  /** What was checked, in words: "the signature and the epsilon arithmetic", or "only the epsilon arithmetic". */
  get checked(): string {
    return `${this.isSigned ? "the signature and" : "only"} the epsilon arithmetic`;
  }

  /**
   * Answer a question. The value is randomised here; report and charge are stored in one step before anything is
   * sent. Answering the same question again in the same round returns the stored report and costs nothing.
   *
   * @param question - The id of the question.
   * @param value - The person's own value. It never leaves this call.
   */
  async answer(question: string, value: Value): Promise<Given> {
    const { file: form } = this;
    const asked = this.#asked.find(({ id }) => id === question);
    take(asked, "question", question, `one of this device's: ${this.#asked.map(({ id }) => id)}`, "question");
    const round = roundAt(form, Date.now());
    const place = placeOf(asked.kind, asked.domain, asked.reads, value);
    const given = await this.#device.update(async (device) => {
      const mine = device.answers.filter((each) => each.collection === form.id);
      const before = mine.filter((each) => each.question === question);
      const kept = before.find((each) => each.round === round);
      if (kept) return kept;
      const { samplerDigest: own, charge } = asked; // the digest is longer for a fixed value
      // Reports about a value that could change, and all that follow about one that stays, give away more than both charges.
      const micro = before.some(({ sampler }) => sampler.startsWith(own))
        ? charge.next
        : before.some(({ sampler }) => own.startsWith(sampler))
          ? Infinity
          : charge.first;
      this.#checkSpending(device, mine, round, micro);
      const secret = fromHex(device.secret);
      const report = await makeReport(device, form.id, asked, place);
      const upload = encodeUpload(form, asked, round, await uploadId(secret, form.id, question, round), report);
      const made: Answer = {
        collection: form.id,
        question,
        round,
        micro, // which JSON writes as null if it is infinite
        sampler: own,
        url: this.#options.reports!,
        upload: hex(upload),
        state: "waiting",
      };
      device.answers.push(made);
      return made;
    });
    if (given.state === "waiting") this.#schedule(0);
    return show(given);
  }

  /** Refuse an answer that would cost more than was promised, or than the device may spend. */
  #checkSpending(device: Device, mine: Answer[], round: number, micro: number): void {
    const { promise } = this.file;
    const limits = [
      ["promise for a round", promise.round, mine.filter((each) => each.round === round)],
      ["promise for a lifetime", promise.lifetime, mine],
      ["cap of this device", device.cap, device.answers],
    ] as const;
    for (const [name, limit, spent] of limits) {
      insist(
        total(spent) + micro <= (limit ?? Infinity),
        "cap",
        `this answer costs ${micro} millionths of an epsilon, and ${total(spent)} are spent: more than the ${name}, ${limit}`,
      );
    }
  }

  /** The answers of this device to this collection, in the order in which they were given. */
  async answers(): Promise<Given[]> {
    const [device] = await this.#device.load();
    return device.answers.filter(({ collection }) => collection === this.file.id).map(show);
  }

  /** What this device has spent, over everything in its store: the same JSON in every client. */
  async ledger(): Promise<Ledger> {
    const [device] = await this.#device.load();
    return ledgerOf(device.answers, device.cap);
  }

  /**
   * Send what waits. An answer is kept until a response says what became of it, and sent again after a failure of
   * the network, 429 and 5xx; the collector counts it once, whatever happens.
   */
  flush(): Promise<Flushed> {
    const send = () => this.#flush();
    const locks = globalThis.navigator?.locks; // two tabs take turns; without, the collector sorts it out
    return locks
      ? (locks.request(`ldpkit flush ${this.#device.store.name}`, send) as Promise<unknown> as Promise<Flushed>)
      : send();
  }

  async #flush(): Promise<Flushed> {
    const outcome: Flushed = { sent: 0, refused: 0, waiting: 0 };
    let failed = Math.max(0, this.#until - Date.now()); // the collector asked to wait
    let wait = failed;
    for (const { upload, url } of waiting(this.file.id, (await this.#device.load())[0])) {
      const { state, problem, pause, early } = failed
        ? { state: "waiting" as const }
        : await post(url, fromHex(upload), this.#options.timeout);
      outcome[state]++;
      if (state === "waiting") {
        wait ||= backOff(++this.#failures, pause);
        if (early) continue; // a clock was wrong once; others need not wait for that day
        failed = wait;
        if (pause) this.#until = Date.now() + pause;
        continue;
      }
      this.#failures = 0;
      await this.#device.update((device) => {
        const stored = device.answers.find((each) => each.upload === upload);
        if (stored?.state === "waiting") Object.assign(stored, { state, problem });
      });
    }
    if (outcome.waiting) this.#schedule(wait);
    return outcome;
  }

  /** Stop sending by itself. What waits stays, for the next page. */
  close(): void {
    this.#automatic.abort();
    clearTimeout(this.#timer);
  }

  #schedule(wait: number): void {
    clearTimeout(this.#timer);
    if (!this.#automatic.signal.aborted) this.#timer = setTimeout(() => this.flush().catch(() => {}), wait); // what fails is tried again
  }

  #watch(): void {
    const on = (event: string, listener: () => void) => globalThis.addEventListener?.(event, listener, this.#automatic);
    on("online", () => this.#schedule(0));
    on("visibilitychange", () => document.hidden && this.#beacon()); // also when a page closes
    this.#schedule(0);
  }

  /** Send what waits while the page closes. Nobody hears the response, so it is sent again later and counted once. */
  #beacon(): void {
    for (const { upload, url } of waiting(this.file.id, this.#device.stored()))
      navigator.sendBeacon?.(url, fromHex(upload));
  }
}

const waiting = (id: string, device?: Device) =>
  device?.answers.filter(({ collection, state }) => collection === id && state === "waiting") ?? [];

function show({ question, round, micro, upload, state, problem }: Answer): Given {
  return { question, round, micro: micro ?? Infinity, report: fromHex(upload).slice(HEADER), state, problem };
}

/** An address, as the page sees it. */
function addressOf(name: string, url?: string | URL): string {
  try {
    return new URL(url || "//", globalThis.location?.href).href;
  } catch {
    take(false, name, url, "an address");
  }
}
