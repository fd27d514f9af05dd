import { type Bytes, fromHex, hex } from "./bytes.js";
import { keyStream, sha256 } from "./crypto.js";
import type { Device } from "./device.js";
import { insist, take } from "./errors.js";
import { isWhole } from "./fields.js";
import type { Asked } from "./file.js";
import { readSampler } from "./forms/index.js";
import type { Place, Sampler } from "./forms/sampler.js";
import type { Json } from "./canonical.js";
import { permanentKey, questionLabel } from "./labels.js";
import { given, type Random, secure, streamed } from "./random.js";

/** Make the report of a device about a place, from the permanent report where the form has a memory. */
export async function makeReport(
  device: Device,
  collection: string,
  question: Asked,
  place: Place,
): Promise<Bytes> {
  const { memory } = question.reads;
  if (!memory) return question.reads.draw!(place, secure);
  const label = await labelOf(collection, question);
  const own = question.value === "fixed" ? (device.firsts[hex(await sha256(label))] ??= place[0]) : place[0];
  return memory.instant(await permanentReport(fromHex(device.secret), label, question.reads, own), secure);
}

/** The label of a question whose form has a memory. */
export const labelOf = (collection: string, { id, mechanism, domain, reads }: Asked): Promise<Bytes> =>
  questionLabel(collection, id, mechanism, domain, reads.memory!.integers);

/** The permanent report of a device about a value: the same for ever, found again from its secret. */
export async function permanentReport(secret: Bytes, label: Bytes, { memory }: Sampler, value: number): Promise<Bytes> {
  const { streamBytes, coins, state, permanent } = memory!;
  const from = async <T>(make: (random: Random) => T, of?: number) => {
    const key = await permanentKey(secret, label, of);
    return streamed((count) => keyStream(key, count), streamBytes, make);
  };
  const own = await from(coins);
  const there = state(own, value);
  return from((random) => permanent(own, there, random), there);
}

/** A stage of a form with a memory, and what it starts from. */
export interface Stage {
  stage: "coins" | "permanent" | "instant";
  /** The coins of a permanent report, or the permanent report of an instant one. */
  from?: Uint8Array;
}

/**
 * Make the report that some random bytes stand for: what golden vectors compare. A device never does this; it
 * draws from the operating system.
 *
 * @param sampler - The integers of a question.
 * @param place - The place of the value, or the state of a permanent report.
 * @param random - All the random bytes, in order; what is left over is ignored.
 */
export function reportFor(sampler: Json, place: number | Place, random: Uint8Array, stage?: Stage): Uint8Array {
  const reads = readSampler(sampler, "sampler");
  const where = Array.isArray(place) ? place : [place];
  take(random instanceof Uint8Array, "random", random, "a Uint8Array");
  const source = given(random);
  if (stage) {
    const { memory } = reads;
    const { stage: name, from = new Uint8Array() } = stage;
    insist(memory, "sampler", "this form has no stages");
    if (name === "coins") return memory.coins(source);
    take(name === "permanent" || name === "instant", "stage", name, "coins, permanent or instant");
    const isKept = from instanceof Uint8Array && from.length === reads.size;
    take(isKept, "from", from, `a Uint8Array of ${reads.size} bytes, which this stage starts from`);
    if (name === "instant") return memory.instant(new Uint8Array(from), source);
    take(isWhole(where[0]), "state", place, "a whole number");
    return memory.permanent(new Uint8Array(from), where[0], source);
  }
  take(
    where.length === reads.axes.length && where.every((each, i) => isWhole(each, 0, reads.axes[i] - 1)),
    "place",
    place,
    `below ${reads.axes}`,
    "value",
  );
  return drawReport(reads, where, source);
}

/** Make one report, as a new device would where the form has a memory: all stages from one source. */
export function drawReport({ draw, memory }: Sampler, place: Place, random: Random): Bytes {
  if (draw) return draw(place, random);
  const { coins, state, permanent, instant } = memory!;
  const own = coins(random);
  return instant(permanent(own, state(own, place[0]), random), random);
}
