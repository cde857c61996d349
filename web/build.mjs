// SPDX-License-Identifier: MIT
//
// node build.mjs POSENC WASM FINGERPRINT COMPILER: the page from its sources. web/posenc.html is one file with everything inside, for a
// disk; web/build/site/ is the same in a few files, for a server, with a page for every encoding (pages.mjs).
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import katex from "katex";
import { makePages } from "./pages.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [posenc, wasmFile, fingerprint, compiler] = process.argv.slice(2);
const site = join(here, "build", "site");
const scriptTag = '<script src="page.js" defer></script>', styleTag = '<link rel="stylesheet" href="page.css">';

/** tex`...` as MathML without the TeX it came from. */
function formula(source) {
  const html = katex.renderToString(source, { output: "mathml", displayMode: false, throwOnError: true, strict: "error" });
  const math = /<math[^]*<\/math>/.exec(html)[0];
  return round(math.replace(/<annotation[^]*?<\/annotation>/g, "").replace(/<\/?semantics>/g, ""));
}

/** Parentheses around a table as its borders: without a font for mathematics, brackets stay as high as a line. */
function round(math) {
  return math.replace(/<mo [^>]*>\(<\/mo>\s*<mtable\b([^>]*)>([^]*?)<\/mtable>\s*<mo [^>]*>\)<\/mo>/g, '<mtable class="matrix"$1>$2</mtable>');
}

const formulas = {
  name: "formulas",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = text.replace(/^(?!\s*(?:\/\/|\*|\/\*)).*$/gm, (line) => line.replace(/\btex`([^`]*)`/g,
        (_, source) => JSON.stringify(formula(source))));
      return { contents, loader: "ts" };
    });
  },
};

function bundle(entry, loader) {
  return esbuild.build({
    entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, charset: "utf8", target: "es2022",
    format: "iife", legalComments: "none", logLevel: "warning", plugins: loader ? [formulas] : [],
    treeShaking: true, define: { repository: JSON.stringify(process.env.REPOSITORY ?? "") },
  }).then((r) => r.outputFiles[0].text.trimEnd());
}

const measured = ["include", "models", ...["base", "kernels", "encodings", "core", "attention", "model", "prove", "zoo"].map((f) => `src/${f}`)];

/** A name for what `posenc prove` measures. */
function subject() {
  const hash = createHash("sha256"), root = join(here, "..");
  for (const folder of measured)
    for (const name of readdirSync(join(root, folder)).sort()) hash.update(name).update(readFileSync(join(root, folder, name)));
  return hash.digest("hex").slice(0, 16);
}

const tool = subject(), languages = ["en", "zh"];

/** What make() gives, which takes its time, so it is kept as long as what it measures is the same. */
function kept(name, make) {
  const file = join(here, "build", `${name}.${tool}.json`);
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(make()));
  return JSON.parse(readFileSync(file, "utf8"));
}

/** What `posenc prove` finds, in both languages. */
function claims() {
  return Object.fromEntries(languages.map((lang) => [`claims.${lang}.json`, kept(`claims.${lang}`, () => {
    console.log(`posenc prove --lang ${lang}: every claim is measured, which takes a minute or two`);
    return JSON.parse(ask(["prove", "--json", "--lang", lang], [0, 1]));
  })]));
}

/** The properties of every encoding, in both languages. */
function properties() {
  return kept("properties", () => Object.fromEntries(list.encodings.map((r) => [r.name, Object.fromEntries(languages.map((lang) =>
    [lang, JSON.parse(ask(["prove", r.name, "--properties", "--json", "--lang", lang], [0, 1])).specs[0].properties]))])));
}

/** What the native tool prints. */
function ask(args, codes = [0]) {
  const ran = spawnSync(posenc, args, { maxBuffer: 1 << 28, encoding: "utf8" });
  if (!codes.includes(ran.status)) throw new Error(`posenc ${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout;
}

const sha = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function policy(script, style, connect, worker) {
  return `default-src 'none'; script-src ${script} 'wasm-unsafe-eval'; style-src ${style}; img-src data:; ` +
    `font-src 'none'; connect-src ${connect}; frame-src 'none'; worker-src ${worker}; form-action 'none'; base-uri 'none'`;
}

/** Text put in place of a tag, whatever signs it has. */
function put(html, tag, text) {
  if (html.split(tag).length !== 2) throw new Error(`index.html needs ${tag} once`);
  return html.replace(tag, () => text);
}

function head(html, rules) {
  return put(html, '<meta charset="utf-8">', `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${rules}">\n` +
    `<meta name="posenc-sources" content="${fingerprint}">\n<meta name="posenc-compiler" content="${compiler}">`);
}

/** The first seed of each trained model but those of other amplitudes, a list of them, and the beginning of the text that none of
    them has seen. */
function models() {
  const folder = join(here, "..", "models"), names = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((n) => n.endsWith("-1.safetensors") && !/^(scaled|doubled)-/.test(n));
  const about = (name) => {
    const bytes = readFileSync(join(folder, name)), { __metadata__: m } = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))));
    return { file: name, spec: m.spec, trained: Number(m.trained), layers: Number(m.layers), heads: Number(m.heads) };
  };
  return { ...json({ "models.json": names.map(about) }), ...(names.length ? { "text.txt": readFileSync(join(folder, "text.txt")).subarray(0, 9000) } : {}),
    ...Object.fromEntries(names.map((n) => [n, readFileSync(join(folder, n))])) };
}

/** Of every encoding and property, whether it holds: what the cheat-sheet shows. */
function outcomes(all) {
  return Object.fromEntries(Object.entries(all).map(([name, { en }]) => [name, Object.fromEntries(en.map((p) => [p.name, p.outcome]))]));
}

/** The race of docs/results.md: of each encoding, bits per byte at the trained length and at 16 times it. */
function race() {
  const [head, , ...rows] = /^\| encoding \| 256 \|[^]*?\n\n/m.exec(readFileSync(join(here, "..", "docs", "results.md"), "utf8"))[0].trim().split("\n")
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.replace(/\*\*/g, "").trim()));
  const near = head.indexOf("256"), far = head.indexOf("4096"), names = new Set(list.encodings.map((r) => r.name));
  const nameOf = (cell) => cell.replace(/ \*$/, "").replace(/ \([^)]*\)$/, "").replace(/, added$/, "");
  return Object.fromEntries(rows.filter(([cell]) => names.has(nameOf(cell))).map((row) => [nameOf(row[0]), [row[near], row[far]]]));
}

/** What a link to the site shows in other places. */
function preview() {
  const said = (name) => new RegExp(`${name}="description" content="([^"]*)"`).exec(html)[1], image = "encodings/sinusoidal.png";
  return [["og:type", "website"], ["og:title", /<title>([^<]*)/.exec(html)[1]], ["og:description", said("name")],
    ["og:image", process.env.SITE ? new URL(image, process.env.SITE).href : image]]
    .map(([name, content]) => `<meta property="${name}" content="${content}">`).join("\n") + '\n<meta name="twitter:card" content="summary_large_image">';
}

function json(files) {
  return Object.fromEntries(Object.entries(files).map(([name, data]) => [name, Buffer.from(JSON.stringify(data))]));
}

const list = JSON.parse(ask(["list", "--json"]));
const script = await bundle("src/main.ts", true), style = await bundle("style.css", false);
const wasm = readFileSync(wasmFile), measuredOf = properties(), assets = { "posenc.wasm": wasm, ...json({ ...claims(), "properties.json": outcomes(measuredOf), "race.json": race() }) }, later = models(), html = readFileSync(join(here, "index.html"), "utf8");
if (/<\/(script|style)/i.test(script + style)) throw new Error("the bundle holds a tag that would end it");

let single = head(html, policy(sha(script), sha(style), "'none'", "blob:"));
single = put(single, styleTag, `<style>${style}</style>`);
single = put(single, scriptTag, "");
const packed = (some) => Object.entries(some).map(([name, bytes]) =>
  `<script type="application/octet-stream" id="posenc-${name}">${gzipSync(bytes, { level: 9 }).toString("base64")}</script>\n`).join("");
single = put(single, "</body>", `${packed(assets)}<script>${script}</script>\n${packed(later)}</body>`);
writeFileSync(join(here, "posenc.html"), single);

mkdirSync(site, { recursive: true });
writeFileSync(join(site, "index.html"), head(put(html, "</title>", `</title>\n${preview()}`), policy("'self'", "'self'", "'self'", "'self'")));
writeFileSync(join(site, "page.js"), script);
writeFileSync(join(site, "page.css"), style);
for (const [name, bytes] of Object.entries({ ...assets, ...later })) writeFileSync(join(site, name), bytes);

await makePages(site, list, ask, (name) => measuredOf[name]);

const kib = (n) => `${Math.round(n / 1024)} KiB`;
console.log(`web/posenc.html: ${kib(single.length)} (wasm ${kib(wasm.length)}; models packed ${kib(packed(later).length)}; script ` +
  `${kib(script.length)}; style ${kib(style.length)})`);
