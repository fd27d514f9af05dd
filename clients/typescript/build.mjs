// Builds dist/, and the file that ships in the Python package. `--check` only says whether that one is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const shipped = new URL("../../src/ldpkit/client/web/ldpkit.js", import.meta.url);
const options = {
  absWorkingDir: new URL(".", import.meta.url).pathname,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  write: false,
};

const [web] = (await build({ ...options, entryPoints: ["src/index.ts"] })).outputFiles;
const size = gzipSync(web.contents, { level: 9 }).length;
console.log(`ldpkit.js: ${web.contents.length} bytes, ${size} gzipped`);

if (process.argv.includes("--check")) {
  if (!readFileSync(shipped).equals(Buffer.from(web.contents))) {
    console.error("src/ldpkit/client/web/ldpkit.js is not what the sources give: run npm run build");
    process.exit(1);
  }
} else {
  writeFileSync(shipped, web.contents);
  await build({ ...options, entryPoints: ["src/index.ts"], outfile: "dist/ldpkit.js", sourcemap: true, write: true });
  await build({ ...options, entryPoints: ["src/node.ts"], outfile: "dist/node.js", platform: "node", minify: false, sourcemap: true, write: true });
}
