// SPDX-License-Identifier: MIT
//
// What the page is held to: accessibility by axe, 320 pixels and twice the size of letters, a first picture at once, frames
// while the reader drags, and Firefox.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { firefox } from "./firefox.mjs";
import { calm, check, follow, open, settle, skip, that } from "./page.mjs";
import { browser, disk, tabs, web } from "./setup.mjs";

/** The source of axe, where npm brought it. */
function axeSource() {
  try {
    return readFileSync(createRequire(join(web, "package.json")).resolve("axe-core/axe.min.js"), "utf8");
  } catch {
    return null;
  }
}

const axe = axeSource();
const palettes = [["en", "light"], ["zh", "dark"]];
if (axe)
  for (const [lang, colorScheme] of palettes)
    check(`axe finds nothing, ${lang}, ${colorScheme}`, async () => {
      const page = await open(browser, `${disk}#lang=${lang}`, { colorScheme, viewport: { width: 1000, height: 900 } });
      await page.evaluate(`${axe};null`);
      const wrong = [];
      for (const tab of tabs) {
        await follow(page, `#tab=${tab}&lang=${lang}${tab === "explore" ? "&a=rope&b=alibi&view=attention" : ""}`);
        await settle(page, "all");
        await page.evaluate(() => { for (const folded of document.querySelectorAll("#story details")) folded.open = true; });
        for (let y = 0; tab === "story" && y < (await page.evaluate(() => document.body.scrollHeight)); y += 700) {
          await page.evaluate((y) => scrollTo({ top: y, behavior: "instant" }), y);
          await settle(page);
        }
        const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] }));
        wrong.push(...violations.map((v) => `${tab}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | ")}`));
      }
      that(!wrong.length, wrong.join("\n"));
      await page.close();
    });
else skip("axe: axe-core comes with npm ci");

for (const [name, viewport] of [["320 pixels", { width: 320, height: 640 }], ["a window of 1280 at 200 %", { width: 640, height: 450 }]])
  check(`it fits ${name}`, async () => {
    const page = await open(browser, disk, { viewport });
    for (const lang of ["en", "zh"])
      for (const tab of tabs) {
        await follow(page, `#tab=${tab}&lang=${lang}${tab === "explore" ? "&a=t5&b=alibi&view=heads" : ""}`);
        await settle(page, "all");
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        that(wide <= 0, `${lang}, ${tab}: ${wide} pixels too wide`);
      }
    calm(page);
    await page.close();
  });

check("on a phone the first result stands on the first screen, and no formula is wider than 320 pixels", async () => {
  for (const lang of ["en", "zh"]) {
    const page = await open(browser, `${disk}#lang=${lang}`, { viewport: { width: 390, height: 844 } });
    const ends = await page.evaluate(() => [...document.querySelectorAll("#scene-dogs .weights tr")].map((r) => Math.round(r.getBoundingClientRect().bottom)));
    that(ends.length === 2 && Math.max(...ends) <= 844, `${lang}: the rows end at ${ends}`);
    await page.setViewportSize({ width: 320, height: 640 });
    await follow(page, `#lang=${lang}&tab=story`);
    const wide = await page.evaluate(() => {
      for (const folded of document.querySelectorAll("#story details")) folded.open = true;
      return [...document.querySelectorAll(".formula, .more > p")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent.slice(0, 40));
    });
    that(!wide.length, `${lang}: ${wide.join("; ")}`);
    calm(page);
    await page.close();
  }
});

check("the first picture is there at once", async () => {
  const times = [];
  for (let i = 0; i < 3; i++) {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(disk, { waitUntil: "commit" });
    times.push(await page.waitForFunction(() => document.querySelector(".weights, svg.drawing") && performance.now(), null, { polling: "raf" }).then((t) => t.jsonValue()));
    await page.close();
  }
  const best = Math.min(...times);
  that(best < 1500, `${times.map(Math.round)} ms`); // the best of three: others use this machine
  return `${Math.round(best)} ms`;
});

check("a word and a hand are dragged at 60 frames", async () => {
  const page = await open(browser, disk, { viewport: { width: 1200, height: 900 }, reducedMotion: "no-preference" });
  const session = await page.context().newCDPSession(page), said = [];
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => { const { metrics } = await session.send("Performance.getMetrics"); return 1000 * metrics.find((m) => m.name === "TaskDuration").value; };
  for (const what of ["#scene-dogs .chip", "#scene-waves .dial svg"]) {
    await page.evaluate((s) => document.getElementById(s.slice(1).split(" ")[0]).scrollIntoView({ behavior: "instant" }), what);
    await settle(page, "all");
    const at = await page.locator(what).nth(1).boundingBox(), x = at.x + at.width / 2, y = at.y + at.height / 2;
    await page.mouse.move(x + 20, y);
    await page.mouse.down();
    const before = await busy(), moves = 40;
    for (let i = 0; i < moves; i++) {
      await page.mouse.move(what.includes("chip") ? x + 20 + 8 * i : x + 30 * Math.cos(i / 6), what.includes("chip") ? y : y + 30 * Math.sin(i / 6));
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
    const each = ((await busy()) - before) / moves; // of the CPU: whoever else uses this machine does not count
    await page.mouse.up();
    that(each < 16, `${what}: a move takes ${each.toFixed(1)} ms`);
    said.push(`${what}: ${each.toFixed(1)} ms`);
  }
  await page.close();
  return said.join(", ");
});

const installed = ["firefox-esr", "firefox"].map((n) => spawnSync("sh", ["-c", `command -v ${n}`]).stdout.toString().trim()).find(Boolean);
if (installed)
  check("it works in Firefox", async () => {
    const window = await firefox(installed);
    try {
      await window.size(1100, 900);
      const ready = async () => {
        const end = performance.now() + 60_000;
        while (document.documentElement.dataset.ready === undefined || "drawing" in document.documentElement.dataset) {
          if (performance.now() > end) return document.body.textContent.slice(0, 300);
          await new Promise((done) => setTimeout(done, 50));
        }
        return "";
      };
      await window.go(disk);
      that((await window.run(ready)) === "", "it does not start");
      const dogs = await window.run(async () => {
        const same = () => document.querySelector("#scene-dogs .twins").classList.contains("same"), pause = () => new Promise((done) => setTimeout(done, 300));
        await pause();
        const out = [same()];
        document.querySelector("#scene-dogs .chip").focus();
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        await pause();
        out.push(same(), document.querySelector("#scene-dogs .chip").textContent);
        [...document.querySelectorAll("#scene-dogs .choice input")].at(-1).click();
        await pause();
        return [...out, same()];
      });
      that(String(dogs) === "true,true,dog,false", String(dogs));
      for (const [link, count, what] of [["#tab=story&step=waves", 1, "#scene-waves .dial"], ["#a=rope&b=alibi&view=attention", 2, "#pictures svg.drawing"], ["#tab=claims", 40, "#claims .badge"], ["#tab=glossary&lang=zh", 40, "#glossary dt"]]) {
        const found = await window.run(async (link, what, count) => {
          location.hash = link;
          const end = performance.now() + 30_000;
          while (document.querySelectorAll(what).length < count && performance.now() < end) await new Promise((done) => setTimeout(done, 50));
          return [document.querySelectorAll(what).length, [...document.querySelectorAll("main > section:not([hidden]) .error")].map((e) => e.textContent).join("")];
        }, link, what, count);
        that(found[0] >= count && !found[1], `${link}: ${found}`);
      }
      return `Firefox ${window.version}`;
    } finally {
      await window.end();
    }
  });
else skip("no firefox (Debian: firefox-esr)");
