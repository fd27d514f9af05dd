/** Bytes over memory of their own, which is what WebCrypto and fetch take. */
export type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

export function concat(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** `count` bytes of a whole number below 2^53, least significant first. */
export function littleEndian(value: number, count: number): Bytes {
  const bytes = new Uint8Array(count);
  for (let i = 0; i < count; i++, value = Math.floor(value / 256)) bytes[i] = value % 256;
  return bytes;
}

/** The whole number of some bytes, least significant first. */
export const number = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, byte) => 256n * value + BigInt(byte), 0n);

/** Fields one after the other, each behind its length in eight bytes, big-endian. */
export function pack(...fields: (Uint8Array | string)[]): Bytes {
  return concat(
    ...fields.flatMap((field) => {
      const bytes = typeof field === "string" ? utf8(field) : field;
      return [littleEndian(bytes.length, 8).reverse(), bytes];
    }),
  );
}

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The bytes of hexadecimal digits. */
export const fromHex = (digits: string): Bytes =>
  Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** The bytes of base64url text without padding, or none if it is not that. */
export function fromBase64(text: string): Bytes | undefined {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return undefined;
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));
}
