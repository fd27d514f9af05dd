// Opens pages, each as a new visitor, chooses the first answer, and prints what each page says: `node test/guide.mjs URL...`.
import { launch } from "./chromium.mjs";

const said = [];
for (const url of process.argv.slice(2)) {
  const browser = await launch();
  try {
    const tab = await browser.context.newPage();
    await tab.goto(url);
    const button = tab.locator("button").first();
    const thanks = tab.locator("output:not(:empty)");
    await button.or(thanks).first().waitFor();
    if (await button.count()) await button.click();
    await thanks.waitFor();
    said.push(await thanks.textContent());
  } finally {
    await browser.close();
    await browser.remove();
  }
}
console.log(JSON.stringify(said));
