// Looks at the built site; see script/look.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [folder, ...wanted] = process.argv.slice(2);
const site = join(folder, "site");
const axe = await readFile(join(folder, "node_modules/axe-core/axe.min.js"), "utf8");

async function pagesIn(place) {
  const found = [];
  for (const entry of await readdir(place, { withFileTypes: true })) {
    const path = join(place, entry.name);
    if (entry.isDirectory()) found.push(...(await pagesIn(path)));
    else if (entry.name.endsWith(".html")) found.push(relative(site, path).replace(/\.html$/, ""));
  }
  return found.sort();
}

const pages = wanted.length ? wanted : (await pagesIn(site)).filter((page) => page !== "404");
const browser = await chromium.launch({
  executablePath: process.env.LDPKIT_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--allow-file-access-from-files=false"],
});
const problems = [];
const problem = (words) => {
  problems.push(words);
  console.log(words);
};
let looked = 0;
const links = [];
const read = () => ({
  address: location.href.split("#")[0],
  ids: [...document.querySelectorAll("[id], [name]")].flatMap((each) => [each.id, each.getAttribute("name")]),
  targets: [...document.querySelectorAll("[href], [src]")]
    .map((each) => each.href ?? each.src)
    .filter((each) => typeof each === "string" && each.startsWith("file:")),
});
await mkdir(join(folder, "shots"), { recursive: true });

for (const scheme of ["light", "dark"]) {
  for (const width of [1400, 400]) {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 900 } });
    context.setDefaultTimeout(300_000); // a busy machine is no problem of the site
    const page = await context.newPage();
    let where = "";
    page.on("request", (request) => {
      if (!/^(file|data|blob|about):/.test(request.url())) problem(`${where}: asks ${request.url()}`);
    });
    page.on("pageerror", (error) => problem(`${where}: ${error.message}`));
    for (const name of pages) {
      where = `${name} ${scheme} ${width}`;
      await page.goto(pathToFileURL(join(site, `${name}.html`)).href, { waitUntil: "load" });
      await page.waitForTimeout(700); // the theme fades its tabs in
      await page.evaluate(() => document.querySelectorAll("img").forEach((each) => (each.loading = "eager")));
      await page.waitForFunction(() => [...document.images].every((each) => each.complete));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) problem(`${where}: ${wide} pixels wider than the window`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      for (const { id, nodes } of violations) {
        problem(`${where}: ${id} (${nodes.length}), such as ${nodes[0].html.slice(0, 160)}`);
      }
      const shot = join(folder, "shots", `${name.replaceAll("/", "_")}-${scheme}-${width}.png`);
      await page.screenshot({ path: shot, fullPage: true, animations: "disabled" });
      looked += 1;
      if (scheme === "light" && width === 1400) links.push(await page.evaluate(read));
    }
    await context.close();
  }
}

// Links: every file must be there, and every place on a page that was looked at.
const places = new Map(links.map(({ address, ids }) => [address, new Set(ids)]));
for (const { address, targets } of links) {
  for (const target of targets) {
    const [file, place] = target.split("#");
    const ids = places.get(file);
    if (!existsSync(fileURLToPath(file)) || file.endsWith("/") || (place && ids && !ids.has(decodeURIComponent(place)))) {
      problem(`${relative(site, fileURLToPath(address))}: leads nowhere: ${target.replace(pathToFileURL(site).href, "")}`);
    }
  }
}

// Search, from the disk: a worker is refused there, and a frame stands in for it.
const page = await browser.newPage();
await page.goto(pathToFileURL(join(site, "index.html")).href);
await page.click(".md-search__input");
await page.keyboard.type("subset selection");
const first = page.locator(".md-search-result__item a").first();
await first.waitFor({ timeout: 120_000 }).catch(() => problem("search: nothing found"));
if (await first.count()) console.log(`search finds ${(await first.innerText()).split("\n")[0]}`);

// The figure that moves: by the keyboard, and there without scripts.
const figure = pathToFileURL(join(site, "guide/which-epsilon.html")).href;
await page.goto(figure);
const said = () => page.locator("#tradeoff-said").innerText();
const before = await said();
await page.focus("#tradeoff-epsilon");
await page.keyboard.press("ArrowRight");
if ((await said()) === before) problem("trade-off: the keyboard does not move it");
const quiet = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
await quiet.goto(figure);
const bare = [await quiet.locator("#tradeoff svg").isVisible(), await quiet.locator("#tradeoff-sliders").isVisible()];
if (`${bare}` !== "true,false") problem(`trade-off without scripts: figure and sliders shown ${bare}`);
await browser.close();

console.log(`${looked} views of ${pages.length} pages, ${problems.length} problems; pictures in ${join(folder, "shots")}`);
process.exit(problems.length ? 1 : 0);
