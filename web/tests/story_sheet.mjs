// SPDX-License-Identifier: MIT
//
// The cheat-sheet, the static pages of the encodings, and a figure in a frame.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { calm, check, follow, open, serve, settle, skip, that } from "./page.mjs";
import { browser, disk, native, registry, web } from "./setup.mjs";

check("the cheat-sheet has a row per encoding, with the tool's verdicts, and is one page on paper", async () => {
  for (const lang of ["en", "zh"]) {
    const page = await open(browser, `${disk}#tab=sheet&lang=${lang}`, { viewport: { width: 1400, height: 900 } });
    await settle(page, "all");
    const rows = await page.evaluate(() => [...document.querySelectorAll(".sheet [data-row]")].map((r) => [r.dataset.row, [...r.querySelectorAll(".sign")].map((s) => s.textContent).join("")]));
    that(rows.map(([name]) => name).sort().join() === registry.encodings.map((r) => r.name).sort().join(), `${rows.length} rows`);
    const signs = { holds: "✓", yes: "✓", fails: "✗", no: "✗" };
    for (const name of ["none", "sinusoidal", "rope", "alibi", "learned"]) {
      const { properties } = JSON.parse(native(["prove", name, "--properties", "--json"]).text).specs[0], of = new Map(properties.map((p) => [p.name, signs[p.outcome] ?? "–"]));
      const wanted = registry.claims.filter((c) => !["any-length", "endless", "learned"].includes(c)).map((c) => of.get(c) ?? "–").join("") + (of.get("any-length") === "✓" && of.get("endless") === "✓" ? "✓" : "✗");
      that(rows.find(([n]) => n === name)[1] === wanted, `${name}: ${rows.find(([n]) => n === name)[1]}; the tool says ${wanted}`);
    }
    const losses = Object.fromEntries(await page.evaluate(() => [...document.querySelectorAll(".sheet [data-row]")].map((r) => [r.dataset.row, [...r.querySelectorAll(".loss")].map((s) => s.textContent).join(" ")])));
    for (const [name, line] of [["rope", /^\| rope \|.*$/m], ["alibi", /^\| alibi \|.*$/m], ["sinusoidal", /^\| sinusoidal, added \|.*$/m], ["transformer-xl", /^\| transformer-xl \|.*$/m]]) {
      const [, , near, , , , far] = line.exec(readFileSync(join(web, "..", "docs", "results.md"), "utf8"))[0].replaceAll("**", "").split("|").map((c) => c.trim());
      that(losses[name] === `${near} ${far}`, `${name}: ${losses[name]}; docs/results.md has ${near} ${far}`);
    }
    const formulas = Object.fromEntries(await page.evaluate(() => [...document.querySelectorAll(".sheet [data-row]")].map((r) => [r.dataset.row, r.querySelector(".typeset").innerHTML])));
    that(formulas.sinusoidal.startsWith("<i>p</i><sub><i>t</i></sub>[2<i>i</i>] = sin(<i>t</i> θ<sup>−2<i>i</i>/<i>d</i></sup>)"), formulas.sinusoidal);
    that(Object.values(formulas).every((f) => !/[_^]|theta|sum/.test(f)), "a formula is left in ASCII");
    that(losses.learned.endsWith(lang === "zh" ? "不能" : "cannot") && losses.integer === "– –", `${losses.learned}; ${losses.integer}`);
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    that(/\/Count 1\b/.test(pdf), `${/\/Count \d+/.exec(pdf)} pages`);
    calm(page);
    await page.close();
  }
  return `${registry.encodings.length} rows`;
});

check("embed=1 leaves one figure", async () => {
  const page = await open(browser, `${disk}#a=rope&view=turns&embed=1`, { viewport: { width: 640, height: 560 } });
  const seen = () => page.evaluate(() => [...document.querySelectorAll("#top, .controls, .strip, #code, #pictures svg, .scene, .whole")].filter((e) => e.checkVisibility()).map((e) => e.id || e.className.baseVal || e.className).join(" "));
  that((await seen()) === "drawing whole", await seen());
  await follow(page, "#tab=story&step=dogs&embed=1");
  that((await seen()) === "scene-dogs whole", await seen());
  await follow(page, "#tab=story&step=waves&embed=1");
  that((await seen()) === "scene-waves whole", await seen());
  const figures = () => page.evaluate(() => [...document.querySelectorAll(".demo, .scene > h2, .lead, .figure-link")].filter((e) => e.checkVisibility()).map((e) => [...(e.parentElement?.querySelectorAll(".demo") ?? [])].indexOf(e)).join());
  for (const figure of [1, 2, 3, 4]) {
    await follow(page, `#tab=story&step=terms&figure=${figure}&embed=1`);
    that((await figures()) === `${figure - 1}`, `figure ${figure} of the scene is ${await figures()}`);
  }
  await follow(page, "#tab=story&step=terms&figure=1");
  await page.evaluate(() => navigator.clipboard && Object.defineProperty(navigator.clipboard, "writeText", { value: async (text) => { window.copied = text; } }));
  await page.locator("#scene-terms .figure-link button").nth(1).click();
  const link = await page.evaluate(() => window.copied);
  that(/step=terms/.test(link) && /figure=2/.test(link) && /embed=1/.test(link), `the button gives ${link}`);
  await follow(page, "#tab=story&embed=1");
  that((await seen()) === "scene-dogs whole", await seen());
  const wrong = await open(browser, `${disk}#a=nonsense&embed=1`, { viewport: { width: 640, height: 560 } });
  that(await wrong.evaluate(() => document.querySelector(".unread .error").checkVisibility() && /nonsense/.test(document.querySelector(".unread").textContent)), "a wrong spec leaves an empty frame");
  await wrong.close();
  calm(page);
  await page.close();
});

const site = join(web, "build", "site");

/** A text of HTML without what two writers write differently: quotes and spaces. */
const plain = (text) => text.replace(/&(?:#39|quot);|['"\s]/g, "");

if (existsSync(join(site, "encodings")))
  check("every encoding has a static page in both languages, with pictures, a preview and links that lead somewhere", async () => {
    const folder = join(site, "encodings"), files = new Set(readdirSync(folder));
    for (const { name } of registry.encodings)
      for (const lang of ["en", "zh"]) {
        const text = readFileSync(join(folder, `${name}.${lang}.html`), "utf8"), links = [...text.matchAll(/(?:href|src|content)="([^"#:?]+\.(?:html|svg|png|css))/g)].map((m) => m[1]);
        that(/<meta name="description" content="[^"]{10}/.test(text) && links.includes(`${name}.png`) && links.some((l) => l.endsWith(".svg")), `${name}: no description, preview or picture`);
        for (const l of links) that(files.has(l) || l === "../index.html", `${name}: ${l} is not there`);
        that((/[\u4e00-\u9fff]/.test(text.replace("中文", ""))) === (lang === "zh"), `${name}.${lang}: the other language`);
        that(!/undefined|NaN/.test(text), `${name}: undefined`);
        for (const [, drawing, caption] of text.matchAll(/<img src="([^"]+)"[^>]*><\/picture><figcaption>([^<]+)</g)) {
          const lines = [...readFileSync(join(folder, drawing), "utf8").matchAll(/<text x="6" (?![^>]*font-weight)[^>]*>([^<]*)</g)].map(([, line]) => line).join(" ");
          that(!plain(lines).includes(plain(caption).slice(-20)), `${drawing}: the caption stands in the drawing too`);
        }
      }
    const server = await serve(site), page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    await page.goto(`${server.url}encodings/rope.zh.html`);
    that((await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && [...document.images].every((i) => i.complete && i.naturalWidth > 0))), "too wide, or a picture is missing");
    await page.close();
    server.close();
    return `${files.size} files`;
  });
else skip("the static pages: make page makes them");
