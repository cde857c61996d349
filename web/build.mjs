// SPDX-License-Identifier: MIT
//
// node build.mjs WASM FINGERPRINT: the page from its sources. web/posenc.html is one file with everything inside, for a
// disk; web/build/site/ is the same in four files, for a server. The same sources give the same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import katex from "katex";

const here = dirname(fileURLToPath(import.meta.url));
const [wasmFile, fingerprint, compiler] = process.argv.slice(2);
const site = join(here, "build", "site");
const scriptTag = '<script src="page.js" defer></script>', styleTag = '<link rel="stylesheet" href="page.css">';

/** tex`...` and texBlock`...` as MathML without the TeX it came from. */
function formula(block, source) {
  const html = katex.renderToString(source, { output: "mathml", displayMode: block, throwOnError: true, strict: "error" });
  const math = /<math[^]*<\/math>/.exec(html)[0];
  return math.replace(/<annotation[^]*?<\/annotation>/g, "").replace(/<\/?semantics>/g, "");
}

const formulas = {
  name: "formulas",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = text.replace(/^(?!\s*(?:\/\/|\*|\/\*)).*$/gm, (line) => line.replace(/\b(tex|texBlock)`([^`]*)`/g,
        (_, tag, source) => JSON.stringify(formula(tag === "texBlock", source))));
      return { contents, loader: "ts" };
    });
  },
};

function bundle(entry, loader) {
  return esbuild.build({
    entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, charset: "utf8", target: "es2022",
    format: "iife", legalComments: "none", logLevel: "warning", plugins: loader ? [formulas] : [],
    treeShaking: true,
  }).then((r) => r.outputFiles[0].text.trimEnd());
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

const script = await bundle("src/main.ts", true), style = await bundle("style.css", false);
const wasm = readFileSync(wasmFile), html = readFileSync(join(here, "index.html"), "utf8");
const packed = gzipSync(wasm, { level: 9 }).toString("base64");
if (/<\/(script|style)/i.test(script + style)) throw new Error("the bundle holds a tag that would end it");

let single = head(html, policy(sha(script), sha(style), "'none'", "blob:"));
single = put(single, styleTag, `<style>${style}</style>`);
single = put(single, scriptTag, "");
single = put(single, "</body>", `<script type="application/wasm" id="posenc-wasm">${packed}</script>\n<script>${script}</script>\n</body>`);
writeFileSync(join(here, "posenc.html"), single);

mkdirSync(site, { recursive: true });
writeFileSync(join(site, "index.html"), head(html, policy("'self'", "'self'", "'self'", "'self'")));
writeFileSync(join(site, "page.js"), script);
writeFileSync(join(site, "page.css"), style);
writeFileSync(join(site, "posenc.wasm"), wasm);

const kib = (n) => `${Math.round(n / 1024)} KiB`;
console.log(`web/posenc.html: ${kib(single.length)} (wasm ${kib(wasm.length)}, packed ${kib(packed.length)}; script ` +
  `${kib(script.length)}; style ${kib(style.length)})`);
