/** The collection file: what it says, and everything that is checked before a device believes it. */
import { type Bytes, concat, fromBase64, fromHex, hex, littleEndian, utf8 } from "./bytes.js";
import { canonical, type Json } from "./canonical.js";
import { digestOf, verify } from "./crypto.js";
import { covers } from "./epsilon.js";
import { insist, LdpkitError, take } from "./errors.js";
import { type Form, list, must, object, oneOf, type Reader, record, such, text, whole } from "./fields.js";
import { readSampler } from "./forms/index.js";
import type { Sampler } from "./forms/sampler.js";
import { categoryCount, checkDomain } from "./places.js";

const FORMAT = "ldpkit-collection-1";

/** One question, as the file has it. */
export interface Question {
  number: number;
  id: string;
  text: string;
  kind: "frequency" | "numeric" | "circular" | "spatial";
  /** The values: a size, labels, a product of these, two ends, a circle or a rectangle. */
  domain: Json;
  mechanism: string;
  parameters: Form;
  sampler: Form;
  report_bytes: number;
  /** Whether the device goes on reporting its first value. */
  value: "changing" | "fixed";
  /** What the first answer costs and what each further one costs, in millionths of an epsilon, or Infinity. */
  charge: { first: number; next: number };
}

/** A collection, as the file has it. */
export interface CollectionFile {
  format: "ldpkit-collection-1";
  id: string;
  version: number;
  purpose: string;
  questions: Question[];
  rounds: { every: "once" | "daily" | "weekly"; start: string; count: number };
  spend: { ask: number };
  /** What a report, a round and all rounds cost a person at most, in millionths of an epsilon, or Infinity. */
  promise: { report: number; round: number; lifetime: number };
  least_reports: number;
  randomness: "secure" | "seeded";
}

/** A question with what is derived from it. */
export interface Asked extends Question {
  reads: Sampler;
  fingerprint: Bytes;
  samplerDigest: string;
}

/** A collection whose every promise was recomputed. */
export interface Checked {
  form: CollectionFile;
  questions: Asked[];
  digest: string;
  isSigned: boolean;
}

const name = such<string>((value) => typeof value === "string" && /^[A-Za-z0-9][\w.-]{0,63}$/.test(value));
const micro: Reader<number> = (value, name) => (value === "infinite" ? Infinity : whole(0)(value, name));
const any = (value: Json) => value;

const envelopeOf = record(
  { collection: object },
  { signature: record({ algorithm: oneOf("ES256"), key: text, value: text }) },
);

const collectionOf = record({
  format: oneOf(FORMAT),
  id: name,
  version: whole(1, 65535),
  purpose: text,
  questions: list(object, 1, 1000),
  rounds: record({
    every: oneOf("once", "daily", "weekly"),
    start: such<string>((value) => /^\d{4}-\d\d-\d\d$/.test(value as string) && Date.parse(value as string) >= 0),
    count: whole(1, 100_000),
  }),
  spend: record({ ask: whole(1) }),
  promise: record({ report: micro, round: micro, lifetime: micro }),
  least_reports: whole(0),
  randomness: oneOf("secure"), // seeded reports protect nobody, so no device makes them
});

const questionOf = record({
  number: whole(0),
  id: name,
  text,
  kind: text as Reader<Question["kind"]>,
  domain: any,
  mechanism: name,
  parameters: object,
  sampler: object,
  report_bytes: whole(1),
  value: oneOf("changing", "fixed"),
  charge: record({ first: micro, next: micro }),
});

/** Read a collection file, or refuse it. */
export async function readFile(text: string, publicKey?: string | Uint8Array, digest?: string): Promise<Checked> {
  let envelope;
  let message: string;
  try {
    envelope = envelopeOf(JSON.parse(text), "file");
    message = canonical(envelope.collection);
  } catch (error) {
    throw new LdpkitError("malformed", `this is no collection file: ${(error as Error).message}`); // no JSON, or too deep
  }
  const { collection, signature } = envelope;
  const isSigned = await checkSignature(signature, utf8(`${FORMAT}\n${message}`), publicKey);
  const found = await digestOf(message);
  insist(!digest || digest === found, "other-digest", `the digest of the collection file is ${found}`);
  const form = collectionOf(collection, "collection") as unknown as CollectionFile;
  const questions = await Promise.all(form.questions.map(readQuestion));
  must(new Set(questions.map(({ id }) => id)).size === questions.length, "id");
  must(form.spend.ask <= questions.length, "ask");
  must(form.rounds.every !== "once" || form.rounds.count === 1, "count");
  checkPromise({ ...form, questions }); // as they were read: in the form itself, what has no bound is a word
  return { form, questions, digest: found, isSigned };
}

async function checkSignature(
  signature: { key: string; value: string } | undefined,
  message: Bytes,
  publicKey?: string | Uint8Array,
): Promise<boolean> {
  const wanted = typeof publicKey === "string" ? fromBase64(publicKey.trim()) : publicKey;
  take(
    !publicKey || wanted?.length === 65,
    "publicKey",
    publicKey,
    "65 bytes of a P-256 key, or these in base64url",
    "other-key",
  );
  if (!signature) {
    insist(!wanted, "unsigned", "the collection file is not signed");
    return false;
  }
  const [point, made] = [signature.key, signature.value].map(fromBase64);
  insist(
    !wanted || (point && hex(wanted) === hex(point)),
    "other-key",
    `the collection file is signed with another key, ${signature.key}`,
  );
  insist(
    point?.length === 65 && made?.length === 64 && (await verify(point, made, message)),
    "bad-signature",
    "the collection file was changed after it was signed",
  );
  return true;
}

async function readQuestion(form: unknown, number: number): Promise<Asked> {
  const question = questionOf(form as Json, "question");
  const { domain, mechanism, sampler, value } = question;
  const reads = readSampler(sampler, "sampler");
  must(question.number === number, "number");
  checkDomain(question.kind, domain, reads);
  must(question.report_bytes === reads.size, "report_bytes");
  must(value === "changing" || reads.memory, "value");
  checkCharge(question, reads);
  const labelled = (domain as Form).product ? categoryCount(domain) : domain;
  return {
    ...question,
    reads,
    fingerprint: fromHex(await digestOf(canonical(form as Json))).slice(0, 8),
    // What tells permanent reports apart: a product of categories is known by its size. After an answer that begins
    // with it, the next one is a further one: so it is after a fixed value, and not before it.
    samplerDigest: (await digestOf(canonical({ mechanism, domain: labelled, sampler }))) + (value === "fixed" ? value : ""),
  };
}

/** Refuse a charge below what the integers of the sampler give away, or below the epsilon that is stated. */
function checkCharge({ id, charge, value, parameters }: Question, { ratio, memory }: Sampler): void {
  const fixed = memory && value === "fixed";
  const needed = { first: fixed ? memory.all : ratio, next: fixed ? ([1n, 1n] as const) : (memory?.second ?? ratio) };
  for (const each of ["first", "next"] as const) {
    insist(
      covers(charge[each], needed[each]),
      "charge",
      `charge.${each} of ${id} is ${charge[each]} millionths of an epsilon, and its reports tell more`,
    );
  }
  const stated = parameters[fixed ? "epsilon_inf" : "epsilon_1"] ?? parameters.epsilon;
  if (stated === undefined || charge.first === Infinity) return;
  must(Number.isFinite(stated), "parameters");
  let [scaled, unit] = [stated as number, 1n];
  for (; !Number.isInteger(scaled); scaled *= 2) unit *= 2n; // exact: a double is a whole number over a power of two
  // With a millionth of slack, for an epsilon that was rounded when the charge was taken.
  insist(
    BigInt(scaled) * 1_000_000n <= BigInt(charge.first + 1) * unit,
    "charge",
    `charge.first of ${id} is ${charge.first} millionths of an epsilon, and it states ${stated}`,
  );
}

/** Refuse a promise below what a person pays who answers the dearest questions in every round. */
function checkPromise({ promise, questions, rounds: { count }, spend: { ask } }: CollectionFile): void {
  const dearest = (most: number, cost: (first: number, next: number) => number) =>
    questions
      .map(({ charge: { first, next } }) => cost(first, count > 1 ? next : 0))
      .sort((a, b) => b - a)
      .slice(0, most)
      .reduce((a, b) => a + b);
  const life = (first: number, next: number) => first + (count - 1) * next;
  const costs = { report: dearest(1, Math.max), round: dearest(ask, Math.max), lifetime: dearest(ask, life) };
  for (const each of ["report", "round", "lifetime"] as const) {
    insist(
      costs[each] <= promise[each],
      "promise",
      `promise.${each} is ${promise[each]} millionths of an epsilon, and the charges add up to ${costs[each]}`,
    );
  }
}

/** The round that is open at a time, or a refusal. */
export function roundAt({ rounds: { every, start, count } }: CollectionFile, time: number): number {
  const days = Math.floor((time - Date.parse(start)) / 86_400_000);
  insist(days >= 0, "round", `the collection starts on ${start} (UTC)`);
  const round = Math.floor(days / { once: Infinity, daily: 1, weekly: 7 }[every]);
  insist(round < count, "round", `the last round was ${count - 1}`);
  return round;
}

/** The upload of one answer: what was answered, under which id, and the report. Nothing is made with a seed. */
export const encodeUpload = (
  { version }: CollectionFile,
  { number, fingerprint }: Asked,
  round: number,
  id: Bytes,
  report: Bytes,
): Bytes =>
  concat(
    utf8("LDPU\x01\0"),
    littleEndian(version, 2),
    littleEndian(number, 2),
    littleEndian(round, 4),
    fingerprint,
    id,
    report,
  );
