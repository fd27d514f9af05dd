// Builds dist/ and the files that ship in the Python package.
//   node build.mjs           both
//   node build.mjs --dist    dist/ alone
//   node build.mjs --check   nothing; says whether the files that ship are up to date
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";

const shipped = (name) => new URL(`../../src/ldpkit/client/web/${name}`, import.meta.url);
const options = {
  absWorkingDir: new URL(".", import.meta.url).pathname,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  write: false,
};
const [check, dist] = ["--check", "--dist"].map((word) => process.argv.includes(word));

// Two files: the core in ten kilobytes, and one with every form.
for (const [entry, name] of dist ? [] : [["index", "ldpkit.js"], ["all", "ldpkit-all.js"]]) {
  const [{ text }] = (await build({ ...options, entryPoints: [`src/${entry}.ts`] })).outputFiles;
  const contents = Buffer.from((await minify(text, { module: true, ecma: 2022, compress: { passes: 3, unsafe_methods: true } })).code);
  console.log(`${name}: ${contents.length} bytes, ${gzipSync(contents, { level: 9 }).length} gzipped`);
  if (!check) writeFileSync(shipped(name), contents);
  else if (!readFileSync(shipped(name)).equals(contents)) {
    console.error(`src/ldpkit/client/web/${name} is not what the sources give: run npm run build`);
    process.exitCode = 1;
  }
}

if (!check) {
  for (const [entry, name, platform] of [["src/index.ts", "ldpkit", "neutral"], ["src/all.ts", "ldpkit-all", "neutral"], ["src/node.ts", "node", "node"], ["test/internals.ts", "internals", "neutral"]]) {
    await build({ ...options, entryPoints: [entry], outfile: `dist/${name}.js`, platform, sourcemap: true, write: true });
  }
}
