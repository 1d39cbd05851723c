// Builds ../static from src: hashed names, a manifest with the digest of the sources, and the licences of what is inside.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "static");
const MOST = 120_000; // bytes of script that the page loads at once

/** Names and contents of everything that the page is made of; .ci/page.py computes the same. */
function digestOfSources() {
  const files = ["../palette.json", "build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
  for (const entry of readdirSync(join(here, "src"), { recursive: true })) {
    const name = `src/${entry.replaceAll("\\", "/")}`;
    if (statSync(join(here, name)).isFile()) files.push(name);
  }
  const digest = createHash("sha256");
  for (const name of files.sort()) {
    const text = readFileSync(join(here, name));
    digest.update(`${name} ${text.length}\n`).update(text);
  }
  return digest.digest("hex");
}

function notice() {
  const parts = ["preact", "three", "uplot"].map((name) => {
    const folder = join(here, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const licence = readFileSync(join(folder, "LICENSE"), "utf8");
    return `${name} ${version}\n\n${licence.trim()}\n`;
  });
  return `This page holds parts of these libraries.\n\n${parts.join("\n----\n\n")}`;
}

const result = await build({
  entryPoints: { page: join(here, "src", "main.tsx"), style: join(here, "src", "style.css") },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome120", "firefox120", "safari17"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  splitting: true, // curves bring their library when they are looked at
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  outdir: out,
  write: false,
  metafile: true,
  legalComments: "none",
});

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const [files, names] = [{}, ["index.html", "NOTICE"]];
for (const { path, contents } of result.outputFiles) {
  names.push(basename(path));
  files[basename(path).split("-")[0]] ??= basename(path);
  writeFileSync(path, contents);
}
const html = readFileSync(join(here, "src", "index.html"), "utf8").replace("STYLE", files.style).replace("SCRIPT", files.page);
writeFileSync(join(out, "index.html"), html);
writeFileSync(join(out, "NOTICE"), notice());
const manifest = { sources: digestOfSources(), files: names.sort() };
writeFileSync(join(out, "manifest.json"), JSON.stringify(manifest, null, 1) + "\n");

for (const name of names) console.log(`${name}: ${(statSync(join(out, name)).size / 1000).toFixed(1)} kB`);
// What the page loads at once: its script and what that imports.
const loaded = new Set();
const follow = (name) => {
  if (loaded.has(name)) return;
  loaded.add(name);
  for (const { path, kind } of outputs[name].imports) if (kind === "import-statement") follow(path);
};
const outputs = Object.fromEntries(Object.entries(result.metafile.outputs).map(([path, told]) => [basename(path), { ...told, imports: told.imports.map((one) => ({ ...one, path: basename(one.path) })) }]));
follow(files.page);
const size = [...loaded].reduce((sum, name) => sum + outputs[name].bytes, 0);
console.log(`loaded at once: ${(size / 1000).toFixed(1)} kB`);
if (size > MOST) {
  console.error(`the page loads ${size} bytes of script at once, ${MOST} are allowed; find out what was added`);
  process.exit(1);
}
