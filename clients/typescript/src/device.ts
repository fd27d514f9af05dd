import { hex } from "./bytes.js";
import { digestOf } from "./crypto.js";
import { insist } from "./errors.js";
import { secure } from "./random.js";
import type { Store } from "./stores/store.js";

/** Millionths of an epsilon, as a file has them: what has no bound is the word. */
export type Micro = number | "infinite";

/** An answer as the device keeps it: the report is all that ever leaves. */
export interface Answer {
  collection: string;
  question: string;
  round: number;
  /** What it cost, in millionths of an epsilon; null stands for infinite, which JSON has no number for. */
  micro: number | null;
  /** Where it stands: a refused answer is kept and shown, never sent again and never drawn anew. */
  state: "waiting" | "sent" | "refused";
  /** Why the collector refused it. */
  problem?: string;
  /** The whole upload, in hexadecimal digits, and where it goes. */
  upload: string;
  url: string;
  /** The digest of mechanism, domain and sampler, and "fixed" if it is: a first answer with it costs another charge. */
  sampler: string;
}

/** Everything that one device keeps. */
export interface Device {
  format: "ldpkit-device-1";
  /** Counts the changes. */
  serial: number;
  secret: string;
  /** The most that all collections together may cost, in millionths, or null. */
  cap: number | null;
  /** The newest version that was seen of each collection, behind a dot, and its digest. */
  seen: { [collection: string]: { version: number; digest: string } };
  /** The first value ever, for questions whose value is fixed. */
  firsts: { [sampler: string]: number };
  answers: Answer[];
}

const FORMAT = "ldpkit-device-1";

const fresh = (): Device => ({
  format: FORMAT,
  serial: 0,
  secret: hex(secure.bytes(32)),
  cap: null,
  seen: {},
  firsts: {},
  answers: [],
});

/** The device of a store, with the text that stands there. */
export async function loadDevice(store: Store): Promise<[Device, string | null]> {
  const text = await store.load();
  if (text === null) return [fresh(), null];
  const sound = typeof text === "string" && (await digestOf(text.slice(64))) === text.slice(0, 64);
  const device = (sound ? JSON.parse(text.slice(64)) : {}) as Device;
  insist(device.format === FORMAT, "damaged", `${store.name} is damaged, or of a newer client`);
  return [device, text];
}

/** A device in a store, as one page or process sees it. */
export class DeviceStore {
  #text: string | null = null;
  #identity?: string;
  #serial = 0;

  constructor(readonly store: Store) {}

  async load(): Promise<[Device, string | null]> {
    const serial = this.#serial; // of now: others may go on while this one reads
    const [device, text] = await loadDevice(this.store);
    // A store that is emptied while a page is open would be a new device to it, with nothing spent.
    insist(
      !this.#identity || (this.#identity === device.secret && device.serial >= serial),
      "storage",
      `${this.store.name} was cleared or put back meanwhile`,
    );
    if (text !== null) this.#note(device, text);
    return [device, text];
  }

  #note(device: Device, text: string): void {
    if (device.serial < this.#serial) return;
    this.#identity = device.secret;
    this.#serial = device.serial;
    this.#text = text;
  }

  /** What was found in the store, or put there, last. */
  stored(): Device | undefined {
    return this.#text === null ? undefined : (JSON.parse(this.#text.slice(64)) as Device);
  }

  /**
   * Change the device in one step. `change` may run several times, if others change it meanwhile; what it
   * returns counts once what it did is stored. It returns nothing new by leaving the device as it is.
   */
  async update<T>(change: (device: Device) => Promise<T> | T): Promise<T> {
    for (;;) {
      const [device, before] = await this.load();
      const was = JSON.stringify(device);
      const result = await change(device);
      if (before !== null && JSON.stringify(device) === was) return result;
      device.serial++;
      const body = JSON.stringify(device);
      const text = (await digestOf(body)) + body;
      if (await this.store.swap(before, text)) {
        this.#note(device, text);
        return result;
      }
    }
  }
}
