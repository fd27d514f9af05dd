import { type Bytes, fromHex, hex } from "./bytes.js";
import { keyStream, sha256 } from "./crypto.js";
import type { Device } from "./device.js";
import { insist } from "./errors.js";
import type { Asked } from "./file.js";
import { readSampler } from "./forms/index.js";
import type { Place, Sampler } from "./forms/sampler.js";
import type { Json } from "./canonical.js";
import { type Label, permanentKey, questionLabel } from "./labels.js";
import { categoryCount } from "./places.js";
import { given, type Random, secure, streamed } from "./random.js";

/** Make the report of a device about a place, from the permanent report where the form has a memory. */
export async function makeReport(
  device: Device,
  collection: string,
  question: Asked,
  [...place]: Place,
): Promise<Bytes> {
  const { memory } = question.reads;
  if (!memory) return question.reads.draw(place, secure);
  const label = await labelOf(collection, question);
  if (question.value === "fixed") place[0] = device.firsts[hex(await sha256(label))] ??= place[0];
  return memory.instant(await permanentReport(fromHex(device.secret), label, question.reads, place[0]), secure);
}

/** The label of a question whose form has a memory; a product of categories is known by its size. */
export function labelOf(collection: string, { id, mechanism, domain, reads }: Asked): Promise<Bytes> {
  const values = Array.isArray(domain) ? (domain as Label[]) : categoryCount(domain);
  return questionLabel(collection, id, mechanism, values, reads.memory!.integers);
}

/** The permanent report of a device about a value: the same for ever, found again from its secret. */
export async function permanentReport(secret: Bytes, label: Bytes, { memory }: Sampler, value: number): Promise<Bytes> {
  const { stream, coins, state, permanent } = memory!;
  const from = async <T>(make: (random: Random) => T, of?: number) => {
    const key = await permanentKey(secret, label, of);
    return streamed((count) => keyStream(key, count), stream, make);
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
  const where = typeof place === "number" ? [place] : place;
  const source = given(random);
  if (stage) {
    const { memory } = reads;
    insist(memory, "sampler", "this form has no stages");
    const from = new Uint8Array(stage.from ?? []);
    return stage.stage === "coins"
      ? memory.coins(source)
      : stage.stage === "permanent"
        ? memory.permanent(from, where[0], source)
        : memory.instant(from, source);
  }
  insist(
    where.length === reads.axes.length &&
      where.every((each, i) => Number.isInteger(each) && each >= 0 && each < reads.axes[i]),
    "value",
    `place ${where} is outside`,
  );
  return reads.draw(where, source);
}
