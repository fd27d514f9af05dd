import { LdpkitError } from "../errors.js";
import type { Store } from "./store.js";

const TABLE = "device";

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Keeps the device in IndexedDB. Two tabs may use it at once: a swap compares and writes in one transaction. */
export class IndexedDBStore implements Store {
  readonly name: string;

  /** @param name - The name of the database; devices of different names know nothing of each other. */
  constructor(name = "ldpkit") {
    this.name = name;
  }

  load(): Promise<string | null> {
    return this.#run("readonly", async (table) => ((await done(table.get(this.name))) ?? null) as string | null);
  }

  swap(before: string | null, after: string): Promise<boolean> {
    return this.#run("readwrite", async (table) => {
      if (((await done(table.get(this.name))) ?? null) !== before) return false;
      await done(table.put(after, this.name));
      return true;
    });
  }

  // The database is opened each time: an open one is lost when the browser clears it, and keeps others from doing so.
  async #run<T>(mode: IDBTransactionMode, work: (table: IDBObjectStore) => Promise<T>): Promise<T> {
    let database: IDBDatabase | undefined;
    try {
      const opening = indexedDB.open(this.name);
      opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
      database = await done(opening);
      const transaction = database.transaction(TABLE, mode, { durability: "strict" });
      const complete = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      const [result] = await Promise.all([work(transaction.objectStore(TABLE)), complete]);
      return result;
    } catch (error) {
      throw new LdpkitError(
        "storage",
        `${String(this.name)} failed, so nothing was spent: ${error}`,
        error,
      );
    } finally {
      database?.close();
    }
  }
}
