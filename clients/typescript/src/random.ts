import { type Bytes } from "./bytes.js";

/** Random bytes in the order in which a form consumes them; integers are little-endian. */
export interface Random {
  bytes(count: number): Uint8Array;
  u32(): number;
  u64(): bigint;
}

const MOST = 65536; // that crypto.getRandomValues fills at once

function over(bytes: (count: number) => Uint8Array): Random {
  const view = (count: number) => {
    const part = bytes(count);
    return new DataView(part.buffer, part.byteOffset);
  };
  return { bytes, u32: () => view(4).getUint32(0, true), u64: () => view(8).getBigUint64(0, true) };
}

/** Bytes of the operating system. */
export const secure: Random = over((count) => {
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count; at += MOST) crypto.getRandomValues(bytes.subarray(at, at + MOST));
  return bytes;
});

/** Given bytes, from the first on. */
export function given(bytes: Uint8Array): Random {
  let at = 0;
  return over((count) => {
    if (at + count > bytes.length) throw new RangeError("no random bytes are left");
    return bytes.subarray(at, (at += count));
  });
}

/** What a form makes of a stream that is lengthened until it suffices. */
export async function streamed<T>(
  stream: (count: number) => Promise<Bytes>,
  count: number,
  make: (random: Random) => T,
): Promise<T> {
  for (;;) {
    try {
      return make(given(await stream(count)));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      count *= 2;
    }
  }
}
