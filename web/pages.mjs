// SPDX-License-Identifier: MIT
//
// The site's static pages: one per encoding and language, with text, pictures and a preview, for readers and search engines.
// All facts are the tool's: list, show, prove. SITE=https://... makes links absolute, REPOSITORY=https://... is linked where given.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { registryWords } from "./registry-zh.mjs";

const text = (en, zh) => ({ en, zh });
const words = {
  all: text("All encodings", "全部编码"),
  interactive: text("Change its numbers in the lab", "在实验台里改参数看图"),
  formula: text("Formula", "公式"),
  acts: text("Where it acts", "作用点"),
  paper: text("Paper", "论文"),
  users: text("Used by", "使用者"),
  when: text("When to choose it", "什么时候选它"),
  learns: text("Learns", "可训练参数"),
  properties: text("Properties, measured", "性质（实测）"),
  keys: text("Keys", "参数"),
  commands: text("Commands", "命令"),
  embed: text("Embed this figure", "嵌入这张图"),
  nothing: text("nothing", "无"),
  number: text(" (WHAT: NUMBER)", "（WHAT：NUMBER）"),
  repository: text("Repository", "代码仓库"),
  kind: text("position encoding for Transformers", "Transformer 位置编码"),
};

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const html = (s) => String(s).replace(/[&<>"]/g, (c) => escapes[c]);

const css = `:root{color-scheme:light dark;font:16px/1.6 system-ui,sans-serif}body{max-width:46rem;margin:0 auto;padding:1rem}
img{display:block;max-width:100%;height:auto;background:#fff;border-radius:8px}figcaption{font-size:.9rem}h1{line-height:1.2}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}
code,pre{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere;white-space:pre-wrap}nav{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem}
th code{overflow-wrap:normal}figure{margin:1.2rem 0}`;

// ---------------------------------------------------------------- a preview: PNG, which is what previews of links take

const crcTable = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]), out = Buffer.alloc(body.length + 8);
  let crc = 0xffffffff;
  for (const b of body) crc = crcTable[(crc ^ b) & 255] ^ (crc >>> 8);
  out.writeUInt32BE(data.length);
  body.copy(out, 4);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, body.length + 4);
  return out;
}

/** The cells of a figure (`--as parts`) on white, 1200 by 630. */
function png({ rows, columns, heat }, palette) {
  const width = 1200, height = 630, margin = 60, levels = Buffer.from(heat, "base64"), raw = Buffer.alloc((3 * width + 1) * height, 255);
  for (let y = 0; y < height; y++) {
    raw[y * (3 * width + 1)] = 0; // no filter
    const row = Math.floor(((y - margin) * rows) / (height - 2 * margin));
    for (let x = 0; x < width; x++) {
      const column = Math.floor(((x - margin) * columns) / (width - 2 * margin));
      if (row < 0 || column < 0 || row >= rows || column >= columns) continue;
      const [r, g, b, a] = (palette[levels[row * columns + column]] ?? "#00000000").match(/[0-9a-f]{2}/g).map((h) => parseInt(h, 16));
      [r, g, b].forEach((c, i) => { raw[y * (3 * width + 1) + 1 + 3 * x + i] = 255 + ((c - 255) * a) / 255; });
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", deflateSync(raw, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

// ---------------------------------------------------------------- a picture

/** A drawing without the caption below it, which the page has as text. */
function bare(svg, caption) {
  const said = (line) => line.replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&amp;/g, "&");
  const lines = [...svg.matchAll(/<text x="6" [^>]*>[^<]*<\/text>\n?/g)].map(([line]) => line), plain = (text) => text.replace(/\s/g, "");
  for (let n = 1; n <= lines.length; n++) {
    const last = lines.slice(-n);
    if (plain(said(last.join(""))) !== plain(caption)) continue;
    const cut = 17 * n + 6;
    return last.reduce((all, line) => all.replace(line, ""), svg).replace(/viewBox="0 0 ([\d.]+) ([\d.]+)" width="[\d.]+" height="[\d.]+"/,
      (_, width, height) => `viewBox="0 0 ${width} ${height - cut}" width="${width}" height="${height - cut}"`);
  }
  return svg;
}

// ---------------------------------------------------------------- a page

function page(row, lang, facts) {
  const { zh, idea, hooks, site, repository, views, outcomes } = facts, t = (w) => w[lang];
  const say = (english) => (lang === "zh" ? (zh[english] ?? english) : english);
  const url = (path) => (site ? new URL(path, site).href : path), other = lang === "en" ? "zh" : "en";
  const file = (l) => `${row.name}.${l}.html`, title = `${row.name}: ${t(words.kind)}`;
  const list = (rows) => `<table>${rows.map(([a, b]) => `<tr><th scope="row">${a}</th><td>${b}</td></tr>`).join("")}</table>`;
  const advice = idea[row.idea]?.about[lang] ?? "";
  const figures = views.map(({ name, titles, captions }) => `<figure><picture><source media="(max-width: 600px)" srcset="${row.name}.${name}.${lang}.narrow.svg">` +
    `<img src="${row.name}.${name}.${lang}.svg" alt="${html(titles[lang])}"></picture><figcaption>${html(captions[lang])}</figcaption></figure>`).join("\n");
  const lab = `../index.html#a=${encodeURIComponent(row.name)}&amp;lang=${lang}`;
  return `<!doctype html>
<html lang="${lang === "zh" ? "zh-CN" : "en"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title>
<meta name="description" content="${html(say(row.summary))}">
<meta property="og:type" content="article">
<meta property="og:title" content="${html(title)}">
<meta property="og:description" content="${html(say(row.summary))}">
<meta property="og:image" content="${html(site ? url(`encodings/${row.name}.png`) : `${row.name}.png`)}">
<meta name="twitter:card" content="summary_large_image">
<link rel="alternate" hreflang="${other === "zh" ? "zh-CN" : "en"}" href="${file(other)}">
<link rel="stylesheet" href="pages.css">
</head>
<body>
<nav><a href="../index.html#tab=sheet&amp;lang=${lang}">${t(words.all)}</a><a href="${file(other)}" lang="${other === "zh" ? "zh-CN" : "en"}">${other === "zh" ? "中文" : "English"}</a>${repository ? `<a href="${html(repository)}">${t(words.repository)}</a>` : ""}</nav>
<main>
<h1>${html(row.name)}</h1>
<p>${html(say(row.summary))}</p>
${list([
    [t(words.formula), `<code>${html(row.formula)}</code>`],
    [t(words.acts), row.hooks.map((k) => html(`${hooks[k]?.name[lang] ?? k}: ${hooks[k]?.about[lang] ?? ""}`)).join("<br>") || "–"],
    [t(words.paper), row.arxiv ? `<a href="https://arxiv.org/abs/${row.arxiv}">${html(say(row.paper))}</a>` : html(say(row.paper))],
    [t(words.learns), row.tensors.map((x) => html(`${x.name} ${x.shape.join(" × ")}`)).join("<br>") || t(words.nothing)],
    [t(words.users), html(row.models.map(say).join(lang === "zh" ? "、" : ", ")) || "–"],
    [t(words.when), html(advice)],
  ])}
${figures}
<p><a href="${lab}">${t(words.interactive)}</a></p>
<h2>${t(words.properties)}</h2>
${list(outcomes[lang].map((p) => [html(p.sentence), html(p.outcome_text + (p.number_text ? t(words.number).replace("WHAT", p.what).replace("NUMBER", p.number_text) : ""))]))}
${row.keys.length ? `<h2>${t(words.keys)}</h2>\n${list(row.keys.map((k) => [`<code>${html(k.name)}</code>`, html(say(k.help))]))}` : ""}
<h2>${t(words.commands)}</h2>
<pre>posenc show ${row.name}
posenc walk ${row.name}
posenc prove ${row.name}
posenc list ${row.name}</pre>
<h2>${t(words.embed)}</h2>
<pre>${html(`<iframe src="${url("index.html")}#a=${row.name}&embed=1" width="640" height="560"></iframe>`)}</pre>
</main>
</body>
</html>
`;
}

const order = ["table", "heads", "bias", "decay", "wavelengths", "attention"];

/** The pages of all rows into site/encodings/; ask(args, codes) runs the tool; outcomes of each row are in facts. */
export async function makePages(site, list, ask, outcomesOf) {
  const { registryZh, ideaWords, hookWords } = await registryWords(), folder = join(site, "encodings");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pages.css"), css);
  for (const row of list.encodings) {
    const fits = JSON.parse(ask(["show", row.name, "--list", "--json"])).views.filter((v) => v.fits.length).map((v) => v.name);
    const names = order.filter((n) => fits.includes(n)).slice(0, 3), views = names.map((name) => ({ name, titles: {}, captions: {} }));
    for (const view of views)
      for (const lang of ["en", "zh"]) {
        const common = ["show", row.name, "--view", view.name, "--lang", lang];
        const { figures } = JSON.parse(ask([...common, "--as", "json"])), [figure] = figures, caption = figure.caption ?? "";
        for (const [end, width] of [["", "720"], [".narrow", "360"]]) {
          const svg = ask([...common, "--as", "svg", "--width", width]);
          writeFileSync(join(folder, `${row.name}.${view.name}.${lang}${end}.svg`), figures.length > 1 ? svg : bare(svg, caption));
        }
        const mark = figure.mark ? (lang === "zh" ? `${figure.mark}。` : `Drawn ${figure.mark}. `) : "";
        view.titles[lang] = figure.title ?? "";
        view.captions[lang] = mark + (figures.length > 1 ? figures.map((f) => f.title).join(lang === "zh" ? "；" : "; ") : caption);
      }
    const cells = fits.includes("table") ? "table" : fits.includes("bias") ? "bias" : "attention";
    const parts = JSON.parse(ask(["show", row.name, "--view", cells, "--as", "parts"])).figures.at(-1);
    writeFileSync(join(folder, `${row.name}.png`), png(parts.cells[0], parts.palette));
    const facts = { zh: registryZh, idea: ideaWords, hooks: hookWords, site: process.env.SITE ?? "", repository: process.env.REPOSITORY ?? "", views, outcomes: outcomesOf(row.name) };
    for (const lang of ["en", "zh"]) writeFileSync(join(folder, `${row.name}.${lang}.html`), page(row, lang, facts));
  }
}
