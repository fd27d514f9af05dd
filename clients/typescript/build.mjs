// Builds dist/ and the files that ship in the Python package.
//   node build.mjs           both
//   node build.mjs --dist    dist/ alone
//   node build.mjs --check   nothing; says whether the files that ship are up to date
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";

const shipped = (name) => new URL(`../../src/ldpkit/client/web/${name}`, import.meta.url);
const badge = new URL("size.svg", import.meta.url);
const options = {
  absWorkingDir: new URL(".", import.meta.url).pathname,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  write: false,
};
// Names that stand only in our own code: in no file, option or upload, and nowhere in the platform. They are shortened.
const OURS = [
  ...["axes", "ratio", "memory", "integers", "streamBytes", "coins", "permanent", "instant", "draw", "cells", "cell"],
  ...["reads", "samplerDigest", "fingerprint", "pause", "bytes", "u32", "u64", "update", "stored", "place", "check", "early"],
];
const TERSER = {
  module: true,
  ecma: 2022,
  compress: { passes: 3, unsafe_methods: true, unsafe_arrows: true, hoist_funs: true, inline: 1 },
};
const [check, dist] = ["--check", "--dist"].map((word) => process.argv.includes(word));

// Two files: the core in ten kilobytes, and one with every form.
for (const [entry, name] of dist
  ? []
  : [
      ["index", "ldpkit.js"],
      ["all", "ldpkit-all.js"],
    ]) {
  const mangleProps = new RegExp(`^(${OURS.join("|")})$`);
  const [{ text }] = (await build({ ...options, entryPoints: [`src/${entry}.ts`], mangleProps })).outputFiles;
  const contents = Buffer.from((await minify(text, TERSER)).code);
  const size = gzipSync(contents, { level: 9 }).length;
  console.log(`${name}: ${contents.length} bytes, ${size} gzipped`);
  put(shipped(name), contents);
  if (entry === "index") put(badge, Buffer.from(drawBadge(size)));
}

/** Write a file, or say that it is not what the sources give. */
function put(file, contents) {
  if (!check) return writeFileSync(file, contents);
  if (!readFileSync(file).equals(contents)) {
    console.error(`${file.pathname} is not what the sources give: run npm run build`);
    process.exitCode = 1;
  }
}

/** The size of the core, for the README. A tenth of a kilobyte up, since compressors differ by a few bytes. */
function drawBadge(size) {
  const text = `${(Math.ceil(size / 100) / 10).toFixed(1)} kB gzipped`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="170" height="20" role="img" aria-label="ldpkit.js: ${text}"><rect width="62" height="20" fill="#555"/><rect x="62" width="108" height="20" fill="#3572b0"/><g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11"><text x="31" y="14">ldpkit.js</text><text x="116" y="14">${text}</text></g></svg>\n`;
}

if (!check) {
  for (const [entry, name, platform] of [
    ["src/index.ts", "ldpkit", "neutral"],
    ["src/all.ts", "ldpkit-all", "neutral"],
    ["src/node.ts", "node", "node"],
    ["test/internals.ts", "internals", "neutral"],
  ]) {
    await build({
      ...options,
      entryPoints: [entry],
      outfile: `dist/${name}.js`,
      platform,
      sourcemap: true,
      write: true,
    });
  }
}
