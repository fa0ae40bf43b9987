// Bundles the front ends: node build.mjs WIDGET_FOLDER CONSOLE_FOLDER. The live view of notebooks has no library in it; the
// console and GraphiQL do, and `licenses.txt` has the licences of all of them.

import { build } from "esbuild";
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MIT = `MIT License

Copyright (c) HOLDER

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH
THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const [widget, served] = process.argv.slice(2);

const common = {
  bundle: true,
  minify: true,
  target: "es2020",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  define: { "process.env.NODE_ENV": '"production"' },
};

/** The fonts of GraphiQL would be 300 kB of 400; the fonts of the system are there anyway. */
const withoutFonts = {
  name: "without-fonts",
  setup(it) {
    it.onLoad({ filter: /(graphiql|dist\/style)(\.min)?\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(/@font-face\s*\{[^}]*\}/g, ""),
      loader: "css",
    }));
  },
};

await build({
  ...common,
  entryPoints: ["src/index.ts"],
  outfile: join(widget, "graph.js"),
  format: "esm",
  loader: { ".css": "text" },
  legalComments: "inline",
  banner: { js: "// hexgraph, Apache-2.0. Made from widget/ by make widget." },
});

const banner = "/* hexgraph, Apache-2.0. Made from widget/ by make widget. The licences of the libraries in it: console/licenses.txt */";
const made = await Promise.all([
  build({
    ...common,
    entryPoints: { console: "console/main.tsx" },
    outdir: served,
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".svg": "dataurl" },
    banner: { js: banner, css: banner },
  }),
  build({
    ...common,
    entryPoints: { graphiql: "console/graphiql.js" },
    outdir: served,
    format: "iife",
    plugins: [withoutFonts],
    banner: { js: banner, css: banner },
  }),
]);
for (const page of ["index.html", "graphiql.html"]) {
  copyFileSync(join("console", page), join(served, page));
}
writeFileSync(join(served, "licenses.txt"), licences(made.flatMap((one) => Object.keys(one.metafile.inputs))));

/** The text of the licences of all packages that files are of, each text once. */
function licences(files) {
  const folders = new Set();
  for (const file of files) {
    const parts = file.split("node_modules/");
    if (parts.length > 1) {
      const inner = parts.at(-1).split("/").slice(0, parts.at(-1).startsWith("@") ? 2 : 1);
      folders.add([...parts.slice(0, -1), inner.join("/")].join("node_modules/"));
    }
  }
  const byText = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const text = licenceOf(folder, name, license);
    byText.set(text, [...new Set([...(byText.get(text) ?? []), `${name} ${version} (${license})`])]);
  }
  const parts = [...byText].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  return `The console and GraphiQL of hexgraph have these libraries in them.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** The text of the file with the licence; for packages of the MIT licence that come without one, its text with their authors. */
function licenceOf(folder, name, license) {
  const file = readdirSync(folder).find((it) => /^licen[cs]e(\.(md|txt))?$/i.test(it));
  if (file) {
    return readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
  }
  if (license !== "MIT") {
    throw new Error(`${name} has no file with its licence (${license})`);
  }
  const { author, repository } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const by = author?.name ?? author ?? `the authors of ${name}`;
  const from = repository?.url ?? repository ?? "";
  return MIT.replace("HOLDER", `${by} ${from && `(${from})`}`.trim());
}
