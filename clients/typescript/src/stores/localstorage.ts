import { insist, LdpkitError } from "../errors.js";
import type { Store } from "./store.js";

/**
 * Keeps the device in localStorage, under a Web Lock, because localStorage compares and writes in two steps.
 * A browser writes it to disk a few seconds late; take IndexedDB where there is a choice.
 */
export class LocalStorageStore implements Store {
  readonly name: string;

  /** @param name - The name of the entry; devices of different names know nothing of each other. */
  constructor(name = "ldpkit") {
    insist(globalThis.navigator?.locks, "storage", "localStorage needs Web Locks, which are not here");
    this.name = name;
  }

  async load(): Promise<string | null> {
    return localStorage.getItem(this.name);
  }

  swap(before: string | null, after: string): Promise<boolean> {
    const change = () => {
      if (localStorage.getItem(this.name) !== before) return false;
      try {
        localStorage.setItem(this.name, after);
      } catch (error) {
        throw new LdpkitError("storage", `localStorage takes no more, so nothing was spent: ${error}`, error);
      }
      return true;
    };
    return navigator.locks.request(`ldpkit store ${this.name}`, change);
  }
}
