// A page of one origin, in Chromium, and a collector of another: `node test/collector.mjs URL PROFILE`.
import { launch, startPages } from "./chromium.mjs";

const [collector, profile] = process.argv.slice(2);
const page = `<!doctype html><title>Ask</title><p id="told"></p><script type="module">
import { Collection } from "${collector}/client.js";
const c = await Collection.fetch("${collector}/v1/collections/survey");
for (const [question, value] of [["commute", "bike"], ["age", 33.5], ["app", 7]]) await c.answer(question, value);
const first = await c.flush();
const again = await c.flush();
document.querySelector("#told").textContent = JSON.stringify([first, again]);
</script>`;
const pages = await startPages({ "/ask": ["text/html", page] });
const browser = await launch(profile);
try {
  const tab = await browser.context.newPage();
  const wrong = [];
  tab.on("pageerror", (error) => wrong.push(String(error)));
  for (const _ of ["first", "opened again: the stored answers, and none of them twice"]) {
    await tab.goto(`${pages.url}/ask`);
    await tab.waitForFunction(() => document.querySelector("#told").textContent, null, { timeout: 60000 }).catch(() => {
      throw new Error(`nothing was told: ${wrong.join("; ")}`);
    });
    console.log(await tab.textContent("#told"));
  }
  await tab.goto(`${collector}/c/survey`);
  for (const [name, width] of [["phone", 390], ["desktop", 1200]]) {
    await tab.setViewportSize({ width, height: 900 });
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) throw new Error(`the page is ${wide} wide on a ${name} of ${width}`);
    if (process.env.LDPKIT_SHOTS) await tab.screenshot({ path: `${process.env.LDPKIT_SHOTS}/${name}.png`, fullPage: true });
  }
} finally {
  await browser.close();
  await pages.close();
}
