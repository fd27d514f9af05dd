// Looks at every page of a folder in Chromium: see script/pages.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { createRequire } from "node:module"
import { chromium } from "playwright-core"

const folder = resolve(process.argv[2])
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const executablePath = process.env.LDPKIT_CHROMIUM ?? "/usr/bin/chromium"
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
const shots = `${folder}/shots`
mkdirSync(shots, { recursive: true })

let looked = 0, wrong = 0
const say = (...words) => { wrong += 1; console.log(...words) }

for (const file of readdirSync(folder).filter(name => name.endsWith(".html")).sort()) {
  for (const colorScheme of ["light", "dark"]) for (const width of [1400, 400]) {
    // The page forbids every script but its own; axe comes from outside.
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true })
    const page = await context.newPage()
    const where = `${file} ${colorScheme} ${width}`
    page.on("request", request => { if (!/^(file|data):/.test(request.url())) say(where, "asks for", request.url()) })
    page.on("pageerror", error => say(where, String(error)))
    await page.goto(`file://${folder}/${file}`)
    await page.evaluate(axe)
    const { violations } = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }))
    for (const each of violations) say(where, each.id, each.nodes.map(node => node.target.join(" ")).join("; "))
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (over > 0) say(where, `is ${over} pixels too wide`)
    const expected = `${folder}/${file.replace(/html$/, "sum")}`
    if (existsSync(expected)) {
      const shown = await page.textContent("#sum")
      const told = readFileSync(expected, "utf8").trim()
      if (shown !== told) say(where, `shows the sum '${shown}', the record has '${told}'`)
    }
    await page.screenshot({ path: `${shots}/${file.slice(0, -5)}-${colorScheme}-${width}.png`, fullPage: true })
    await context.close()
    looked += 1
  }
}
await browser.close()
console.log(`${looked} views, ${wrong} findings; screenshots in ${shots}`)
process.exit(wrong ? 1 : 0)
