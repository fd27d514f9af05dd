import { type Bytes, hex, utf8 } from "./bytes.js";
import { insist } from "./errors.js";

/** WebCrypto, or a refusal that says what is missing. */
export function requireCrypto(): SubtleCrypto {
  insist(
    globalThis.isSecureContext !== false && globalThis.crypto?.subtle,
    "insecure-context",
    "no secure context: serve it over HTTPS, or from localhost",
  );
  return globalThis.crypto.subtle;
}

export const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await requireCrypto().digest("SHA-256", bytes));

/** The SHA-256 of a text, in hexadecimal digits. */
export const digestOf = async (text: string): Promise<string> => hex(await sha256(utf8(text)));

const importKey = (raw: Bytes, algorithm: string | HmacImportParams | EcKeyImportParams, use: KeyUsage) =>
  requireCrypto().importKey("raw", raw, algorithm, false, [use]);

/** The 32 bytes that belong to packed fields, of which the first names the use. */
export async function derive(secret: Bytes, packed: Bytes): Promise<Bytes> {
  const key = await importKey(secret, { name: "HMAC", hash: "SHA-256" }, "sign");
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, packed));
}

/** The first bytes of a key's stream: AES-256 in counter mode from zero. */
export async function keyStream(key: Bytes, count: number): Promise<Bytes> {
  const cipher = await importKey(key, "AES-CTR", "encrypt");
  const start = { name: "AES-CTR", counter: new Uint8Array(16), length: 128 };
  return new Uint8Array(await crypto.subtle.encrypt(start, cipher, new Uint8Array(count)));
}

/** Whether a P-256 key, as an uncompressed point, made a signature of r and s over a message. */
export async function verify(point: Bytes, signature: Bytes, message: Bytes): Promise<boolean> {
  const curve = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  try {
    return await crypto.subtle.verify(curve, await importKey(point, curve, "verify"), signature, message);
  } catch {
    return false; // no point of the curve
  }
}
