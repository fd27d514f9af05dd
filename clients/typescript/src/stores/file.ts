import { link, mkdir, open, readdir, readFile, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LdpkitError, take } from "../errors.js";
import type { Store } from "./store.js";

const NAME = /^device-(\d+)\.json$/;

/**
 * Keeps the device in a folder of its own, for node.
 *
 * Each state is a new file with the next number. It is written and synced under another name, and then gets
 * its number by a hard link, which fails if another process was first. So there is no lock that a killed
 * process could leave behind, and a reader never sees half a file.
 */
export class FileStore implements Store {
  readonly name: string;
  #at: { text: string | null; number: number } = { text: null, number: 0 };

  /** @param folder - Where the files are, or will be. It holds a secret, so it is made for its owner only. */
  constructor(folder: string) {
    take(typeof folder === "string" && folder, "folder", folder, "the path of a folder");
    this.name = folder;
  }

  async load(): Promise<string | null> {
    return this.#guard(async () => {
      for (;;) {
        const number = Math.max(0, ...(await this.#numbers()));
        if (!number) return (this.#at = { text: null, number }).text;
        try {
          const text = await readFile(this.#path(number), "utf8");
          return (this.#at = { text, number }).text;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // else a newer one has come
        }
      }
    });
  }

  async swap(before: string | null, after: string): Promise<boolean> {
    return this.#guard(async () => {
      if (this.#at.text !== before) return false;
      const number = this.#at.number + 1;
      const made = await mkdir(this.name, { recursive: true, mode: 0o700 });
      const written = join(this.name, `new-${process.pid}-${crypto.randomUUID()}`);
      try {
        await this.#write(written, after);
        try {
          await link(written, this.#path(number));
        } catch (error) {
          // Another process was first, or took this file for that of a dead one.
          if (["EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
          throw error;
        }
      } finally {
        await unlink(written).catch(() => {});
      }
      // Whoever slept while others went on may have taken a number that was free again: theirs are higher.
      const numbers = await this.#numbers();
      if (Math.max(...numbers) > number) {
        await unlink(this.#path(number)).catch(() => {});
        return false;
      }
      await sync(this.name);
      if (made) await sync(dirname(made));
      this.#at = { text: after, number };
      for (const old of numbers) if (old < number) await unlink(this.#path(old)).catch(() => {});
      await this.#tidy();
      return true;
    });
  }

  /** Remove what killed processes had begun to write: it holds the secret, too. */
  async #tidy(): Promise<void> {
    for (const name of await readdir(this.name)) {
      const writer = Number(/^new-(\d+)-/.exec(name)?.[1] ?? process.pid);
      if (!isAlive(writer)) await unlink(join(this.name, name)).catch(() => {});
    }
  }

  #path(number: number): string {
    return join(this.name, `device-${number}.json`);
  }

  async #numbers(): Promise<number[]> {
    const names = await readdir(this.name).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return names.flatMap((name) => Number(NAME.exec(name)?.[1] ?? []));
  }

  async #write(path: string, text: string): Promise<void> {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw new LdpkitError("storage", `the folder ${this.name} failed, so nothing was spent: ${error}`, error);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0); // asks, and sends nothing
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // alive, and somebody else's
  }
}

/** Make the names in a folder last, too. Windows does not open folders, and needs no such thing. */
async function sync(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
