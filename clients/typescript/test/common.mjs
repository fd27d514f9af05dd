import { readFileSync } from "node:fs";
import { startCollector } from "./server.mjs";

export const fixture = JSON.parse(readFileSync(new URL("fixture.json", import.meta.url)));
export const hex = (bytes) => Buffer.from(bytes).toString("hex");
const base64 = (bytes) => Buffer.from(bytes).toString("base64url");

export const newKey = () => crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
export const publicText = async (key) => base64(await crypto.subtle.exportKey("raw", key.publicKey));

/** Sign a collection, as `ldpkit collection sign` does. */
export async function sign(canonical, collection, key) {
  const message = new TextEncoder().encode(`ldpkit-collection-1\n${canonical(collection)}`);
  const value = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key.privateKey, message);
  return { collection, signature: { algorithm: "ES256", key: await publicText(key), value: base64(value) } };
}

/** A collector for the collection of the fixture, or for another one with the same questions. */
export async function townCollector(envelope = { collection: fixture.collection }) {
  const { version, questions } = envelope.collection;
  return startCollector({
    envelope,
    version,
    questions: await Promise.all(
      questions.map(async (each) => ({ bytes: each.report_bytes, fingerprint: await fingerprint(each) })),
    ),
  });
}

const sorted = (value) =>
  value === null || typeof value !== "object"
    ? value
    : Array.isArray(value)
      ? value.map(sorted)
      : Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((name) => [name, sorted(value[name])]),
        );
const fingerprint = async (question) =>
  hex(
    new Uint8Array(
      await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(sorted(question)))),
    ).subarray(0, 8),
  );

/** The golden vectors by file. */
export async function vectorFiles() {
  const folder = new URL("../../../spec/vectors/", import.meta.url);
  const { readdir } = await import("node:fs/promises");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  return Object.fromEntries(names.map((name) => [name.slice(0, -5), JSON.parse(readFileSync(new URL(name, folder)))]));
}
