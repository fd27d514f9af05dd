// Debian's Chromium, a page of one origin, and a collector of another.
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const executable = process.env.LDPKIT_CHROMIUM ?? "/usr/bin/chromium";
export const isThere = existsSync(executable);

const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP plain.test 127.0.0.1"],
];

/** A browser with a profile of its own, which outlives the browser unless it is removed. */
export async function launch(profile) {
  const folder = profile ?? (await mkdtemp(join(tmpdir(), "ldpkit-chromium-")));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: executable,
    headless: true,
    args: FLAGS,
    viewport: { width: 760, height: 480 },
  });
  return {
    context,
    folder,
    pid: context.browser()?.process?.()?.pid,
    close: () => context.close(),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** The origin of the pages: it serves files by name, from the built client and this folder. */
export async function startPages(more = {}) {
  const web = new URL("../../../src/ldpkit/client/web/", import.meta.url);
  const files = {
    "/": ["text/html", new URL("page.html", import.meta.url)],
    "/ldpkit.js": ["text/javascript", new URL("ldpkit.js", web)],
    "/ldpkit-all.js": ["text/javascript", new URL("ldpkit-all.js", web)],
    ...more,
  };
  const server = createServer(async (request, response) => {
    const [type, source] = files[request.url.split("?")[0]] ?? [];
    response.writeHead(source ? 200 : 404, { "Content-Type": `${type ?? "text/plain"}; charset=utf-8` });
    response.end(source instanceof URL ? await readFile(source) : (source ?? "nothing here"));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}`,
    plain: `http://plain.test:${port}`,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}
