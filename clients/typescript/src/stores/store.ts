/**
 * One text that stays. What a device spent, its secret and what it has not sent yet stand in it together, so
 * that no part is ever older than another.
 */
export interface Store {
  /** What names it in messages, and to other tabs. */
  readonly name: string;
  /** The text, or null on a new device. */
  load(): Promise<string | null>;
  /**
   * Put `after` in the place of `before`, so that it survives a crash; do nothing and return false if
   * something else stands there by now.
   */
  swap(before: string | null, after: string): Promise<boolean>;
}

/** Keeps nothing beyond the life of the page or process: for tests, and for whoever asks for it. */
export class MemoryStore implements Store {
  readonly name = "memory";
  #text: string | null = null;

  async load(): Promise<string | null> {
    return this.#text;
  }

  async swap(before: string | null, after: string): Promise<boolean> {
    if (this.#text !== before) return false;
    this.#text = after;
    return true;
  }
}
