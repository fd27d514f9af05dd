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
}

const TIMEOUT = 20_000;
const LARGEST = 2 ** 22;
const LONGEST = 86_400_000;
const PASSING = [408, 425, 429];

/** The text of a response, given up when it grows too long. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader!.read()) {
    if ((size += part.value.length) > LARGEST) {
      await reader!.cancel();
      throw new Error(`more than ${LARGEST} bytes`);
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

/** Ask for something, with neither cookies nor referrer, and give up when nothing comes. */
async function request<T>(url: string, init: RequestInit, timeout: number, use: (response: Response) => Promise<T>): Promise<T> {
  const control = new AbortController();
  const timer = setTimeout(() => control.abort(new Error(`nothing came for ${timeout} ms`)), timeout);
  try {
    return await use(await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer", signal: control.signal, ...init }));
  } finally {
    clearTimeout(timer);
  }
}

/** Fetch a collection file. */
export async function getText(url: URL, timeout = TIMEOUT): Promise<string> {
  try {
    return await request(url.href, {}, timeout, async (response) => {
      if (!response.ok) throw new Error(`status ${response.status}`);
      return readText(response);
    });
  } catch (error) {
    throw new LdpkitError("network", `${url} gives no collection file: ${(error as Error).message}`, error);
  }
}

/** Post an upload. Without a content type a browser asks the collector for no permission first. */
export async function post(url: string, body: Bytes, timeout = TIMEOUT): Promise<Outcome> {
  try {
    return await request(url, { method: "POST", body, redirect: "error" }, timeout, async (response) => {
      const { status } = response;
      if (PASSING.includes(status) || status >= 500) return { state: "waiting", pause: pauseOf(response.headers.get("Retry-After")) };
      const form = parse(await readText(response));
      if (status !== 200) return { state: "refused", problem: String(form.type ?? `status ${status}`).replace(/.*\//, "").slice(0, 100) };
      if (form.accepted === 1 || form.duplicate === 1) return { state: "sent" };
      return form.refused === 1 ? { state: "refused", problem: "refused" } : { state: "waiting" }; // what else says 200 is no collector
    });
  } catch {
    return { state: "waiting" }; // no response, or none that says what became of it
  }
}

function parse(text: string): { [name: string]: unknown } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** How long a collector asks to wait: seconds, or a date. */
function pauseOf(text: string | null): number | undefined {
  if (!text) return undefined;
  const wait = /^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return wait > 0 ? Math.min(wait, LONGEST) : undefined;
}

/** How long to wait after so many failures: twice as long each time, and not all devices at once. */
export const backOff = (failures: number, pause = 0): number =>
  pause + Math.min(1000 * 2 ** (failures - 1), 600_000) * (0.5 + secure.u32() / 2 ** 32);
