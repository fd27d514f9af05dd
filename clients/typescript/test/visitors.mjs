// Visitors open a page with a pasted snippet, each with a profile of their own: `node test/visitors.mjs SNIPPET COUNT`.
import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";
import { executable, startPages } from "./chromium.mjs";

const [path, count] = process.argv.slice(2);
const ANSWERS = ["walk", "bike", "bike", "car"];
const snippet = (await readFile(path, "utf8")).replace('"walk"', "location.hash.slice(1)");
const pages = await startPages({ "/visit": ["text/html", `<!doctype html><title>Visit</title>\n${snippet}`] });
const browser = await chromium.launch({ executablePath: executable, args: ["--no-sandbox", "--disable-gpu"] });
try {
  for (let visitor = 0; visitor < Number(count); visitor++) {
    const context = await browser.newContext();
    const tab = await context.newPage();
    const wrong = [];
    tab.on("pageerror", (error) => wrong.push(String(error)));
    const answered = tab.waitForResponse((response) => response.url().endsWith("/reports"));
    await tab.goto(`${pages.url}/visit#${ANSWERS[visitor % ANSWERS.length]}`);
    const response = await answered.catch(async (error) => {
      const told = await tab.textContent("body");
      throw new Error(`visitor ${visitor} sent nothing: ${wrong.join("; ") || told.trim() || error}`);
    });
    if (response.status() !== 200) throw new Error(`visitor ${visitor}: status ${response.status()}`);
    await context.close();
  }
} finally {
  await browser.close();
  await pages.close();
}
console.log(`${count} visitors answered`);
