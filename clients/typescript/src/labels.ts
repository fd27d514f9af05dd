/** What the device secret is used for; no two uses share randomness. The labels are those of `spec/`. */
import { type Bytes, concat, hex, pack, utf8 } from "./bytes.js";
import type { Json } from "./canonical.js";
import { derive, sha256 } from "./crypto.js";
import { categoryCount } from "./places.js";

export type Label = string | number | boolean;

/** The id under which an answer is counted once: the same in every retry, linked to no other. */
export async function uploadId(secret: Bytes, collection: string, question: string, round: number): Promise<Bytes> {
  return (await derive(secret, pack("ldpkit-id-v1", collection, question, `${round}`))).slice(0, 8);
}

/** The questions that a device answers: the `ask` whose HMACs are smallest, in the order given. */
export async function drawnQuestions<Q extends { id: string }>(
  secret: Bytes,
  collection: string,
  questions: Q[],
  ask: number,
): Promise<Q[]> {
  const ranks = await Promise.all(questions.map(({ id }) => derive(secret, pack("ldpkit-choice-v1", collection, id))));
  const order = ranks.map(hex);
  return questions.filter((_, i) => order.filter((rank) => rank < order[i]).length < ask);
}

/** What decides the permanent reports about a question, packed: never its version or its text. A product is known by its size. */
export async function questionLabel(
  collection: string,
  question: string,
  mechanism: string,
  domain: Json,
  integers: (bigint | number)[],
): Promise<Bytes> {
  const fields = Array.isArray(domain)
    ? ["labels", ...(domain as Label[]).map(labelField)]
    : ["size", `${categoryCount(domain)}`];
  return pack(collection, question, mechanism, await sha256(pack(...fields)), pack(...integers.map(String)));
}

function labelField(label: Label): Bytes | string {
  if (typeof label === "string") return `text ${label}`;
  const number = Number(label);
  if (Number.isInteger(number)) return `integer ${BigInt(number)}`;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  return concat(utf8("float "), new Uint8Array(view.buffer));
}

/** The key of a device's public coins, or with a state that of a permanent report. */
export const permanentKey = (secret: Bytes, label: Bytes, state?: number): Promise<Bytes> =>
  derive(
    secret,
    state === undefined
      ? concat(pack("ldpkit-coins-v1"), label)
      : concat(pack("ldpkit-permanent-v1"), label, pack(`${state}`)),
  );
