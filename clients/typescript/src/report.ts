import { type Bytes, hex } from "./bytes.js";
import { keyStream, sha256 } from "./crypto.js";
import type { Device } from "./device.js";
import { insist } from "./errors.js";
import type { Asked } from "./file.js";
import { readSampler } from "./forms/index.js";
import type { Place } from "./forms/sampler.js";
import type { Json } from "./canonical.js";
import { type Label, permanentKey, questionLabel } from "./labels.js";
import { categoryCount } from "./places.js";
import { given, type Random, secure, streamed } from "./random.js";

/** Make the report of a device about a place, from the permanent report where the form has a memory. */
export async function makeReport(device: Device, secret: Bytes, collection: string, question: Asked, [...place]: Place): Promise<Bytes> {
  const { memory } = question.reads;
  if (!memory) return question.reads.draw(place, secure);
  const domain = question.domain as number | Label[];
  const size = typeof domain === "object" && !Array.isArray(domain) ? categoryCount(domain) : domain;
  const label = await questionLabel(collection, question.id, question.mechanism, size, memory.integers);
  if (question.value === "fixed") place[0] = device.firsts[hex(await sha256(label))] ??= place[0];
  const stream = async <T>(state: number | undefined, make: (random: Random) => T) => {
    const key = await permanentKey(secret, label, state);
    return streamed((count) => keyStream(key, count), memory.stream, make);
  };
  const coins = await stream(undefined, memory.coins);
  const state = memory.state(coins, place[0]);
  return memory.instant(await stream(state, (random) => memory.permanent(coins, state, random)), secure);
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
    return stage.stage === "coins" ? memory.coins(source) : stage.stage === "permanent" ? memory.permanent(from, where[0], source) : memory.instant(from, source);
  }
  insist(where.length === reads.axes.length && where.every((each, i) => Number.isInteger(each) && each >= 0 && each < reads.axes[i]), "value", `place ${where} is outside`);
  return reads.draw(where, source);
}
