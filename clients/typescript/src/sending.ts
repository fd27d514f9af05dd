import type { Bytes } from "./bytes.js";
import { LdpkitError } from "./errors.js";
import { secure } from "./random.js";

/** What became of the answers that waited. */
export interface Flushed {
  /** How many the collector has counted, now or when they were sent before. */
  sent: number;
  /** How many it will never take. */
  refused: number;
  /** How many are still to be sent. */
  waiting: number;
}

/** What a response says about an answer. */
interface Outcome {
  state: "sent" | "refused" | "waiting";
  problem?: string;
  /** Milliseconds that the collector asks to wait. */
  pause?: number;
  /** Whether this answer alone has to wait, for its round has not begun. */
  early?: boolean;
}

const TIMEOUT = 20_000;
const LARGEST = 2 ** 22;
const LONGEST = 86_400_000;
const PASSING = [408, 425, 429];

/** The text of a response, given up when it grows too long. */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  for (let [text, size] = ["", 0]; ; ) {
    const part = (await reader?.read())?.value;
    if (!part) return text + decoder.decode();
    if ((size += part.length) > LARGEST) {
      await reader!.cancel();
      throw `more than ${LARGEST} bytes`; // caught below, like a status
    }
    text += decoder.decode(part, { stream: true });
  }
}

/** Ask for something, with neither cookies nor referrer, and give up when nothing comes. */
async function ask(url: string, init: RequestInit, timeout = TIMEOUT): Promise<[Response, string]> {
  const response = await fetch(url, {
    credentials: "omit",
    referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout(timeout),
    ...init,
  });
  return [response, await readText(response)];
}

/** Fetch a collection file. */
export async function getText(url: string, timeout?: number): Promise<string> {
  try {
    const [{ status }, text] = await ask(url, {}, timeout);
    if (status !== 200) throw `status ${status}`;
    return text;
  } catch (error) {
    throw new LdpkitError("network", `${url} gives no collection file: ${error}`, error);
  }
}

/** Post an upload. Without a content type a browser asks the collector for no permission first. */
export async function post(url: string, body: Bytes, timeout?: number): Promise<Outcome> {
  try {
    const [{ status, headers }, text] = await ask(url, { method: "POST", body, redirect: "error" }, timeout);
    if (status >= 500 || PASSING.includes(status))
      return { state: "waiting", pause: pauseOf(headers.get("Retry-After")), early: status === 425 };
    const said = JSON.parse(text); // what is no JSON comes from somebody in between, and settles nothing
    if (status === 200 && (said.accepted === 1 || said.duplicate === 1)) return { state: "sent" };
    // Nor does a problem that is not a collector's.
    const problem = said.refused === 1 ? "refused" : /ldpkit:problem:(.{1,99})/.exec(said.type)?.[1];
    if (problem) return { state: "refused", problem };
  } catch {
    // no response, none that ends, or none of a collector
  }
  return { state: "waiting" }; // also after a 200 that is no collector's
}

/** How many milliseconds a collector asks to wait: it says seconds. */
const pauseOf = (text: string | null): number => Math.min(Math.abs(Number(text)) * 1000 || 0, LONGEST);

/** How long to wait after so many failures: twice as long each time, and not all devices at once. */
export const backOff = (failures: number, pause = 0): number =>
  pause + Math.min(1000 * 2 ** (failures - 1), 600_000) * (0.5 + secure.u32() / 2 ** 32);
