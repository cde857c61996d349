// SPDX-License-Identifier: MIT
//
// node tour.mjs PAGE CHROMIUM: every step of the tour in both languages: every choice, both ends of every slider, every
// claim; every term of the glossary and what it opens. Whatever the tool refuses, and every error of the script, is a failure.
import { launch } from "./browser.mjs";

const [page, chromium] = process.argv.slice(2);
let passed = 0;
const failed = [];
const claims = process.argv.includes("--no-claims") ? false : true;
const check = (what, wrong) => (wrong.length ? failed.push(`${what}: ${wrong.join(" | ")}`) : passed++);

const browser = await launch(chromium);
const tab = await browser.newPage({ viewport: { width: 1200, height: 900 } });
let errors = [];
tab.on("pageerror", (e) => errors.push(String(e.message ?? e)));
tab.on("console", (m) => { if (m.type() === "error") errors.push(m.text()); });

async function go(hash) {
  errors = [];
  await tab.goto(`file://${page}#${hash}`);
  await tab.evaluate(() => new Promise((done) => {
    const ready = () => ("ready" in document.documentElement.dataset ? requestAnimationFrame(() => requestAnimationFrame(done)) : setTimeout(ready, 10));
    ready();
  }));
}

/** Moves every control of the step on the page, one after the other, and gathers what goes wrong. Runs in the page. */
async function play(claims) {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const root = document.querySelector("#tour"), wrong = new Set();
  const look = (when) => { for (const e of root.querySelectorAll(".error")) if (e.textContent) wrong.add(`${when}: ${e.textContent}`); };
  look("at first");
  for (const radio of root.querySelectorAll("input[type=radio]")) { radio.click(); await frame(); look(radio.parentElement.textContent); }
  for (const range of root.querySelectorAll("input[type=range]"))
    for (const end of ["min", "max"]) {
      const before = range.value;
      range.value = range[end];
      range.dispatchEvent(new Event("input", { bubbles: true }));
      await frame();
      look(`${range.getAttribute("aria-label")} at its ${end}`);
      range.value = before;
      range.dispatchEvent(new Event("input", { bubbles: true }));
      await frame();
    }
  const outputs = root.querySelectorAll(".output");
  for (const o of outputs) if (!o.textContent && !o.querySelector("svg")) wrong.add(`an empty ${o.className}`);
  for (const p of root.querySelectorAll(".output.picture")) if (!p.querySelector("svg")) wrong.add("a picture without a drawing");
  if (!root.querySelectorAll("math").length) wrong.add("no formula");
  for (const button of claims ? root.querySelectorAll("button[data-claim]") : []) {
    button.click();
    for (let n = 0; n < 3000 && !button.parentElement.querySelector(".badge, .error"); n++) await new Promise((done) => setTimeout(done, 10));
    if (!button.parentElement.querySelector(".badge")) wrong.add(`${button.dataset.claim}: ${button.parentElement.textContent}`);
  }
  return [...wrong];
}

for (const lang of ["en", "zh"]) {
  await go(`tab=tour&lang=${lang}`);
  const steps = await tab.evaluate(() => [...document.querySelectorAll("#tour .contents a")].map((a) => a.hash.slice(1)));
  check(`${lang}: nine steps`, steps.length === 9 ? [] : [`${steps.length}`]);
  for (const step of steps) {
    await go(step);
    const title = await tab.evaluate(() => document.querySelector("#tour h2").textContent);
    check(`${lang} ${title}`, [...(await tab.evaluate(play, claims)), ...errors]);
  }
  const there = () => tab.evaluate(() => document.querySelector("#tour article").dataset.step);
  await go(steps[3]);
  const before = await there();
  await tab.evaluate(() => document.querySelector("#tour a[rel=next]").click());
  await go(await tab.evaluate(() => location.hash.slice(1)));
  check(`${lang}: next goes on`, before === "3" && (await there()) === "4" ? [] : [`from ${before} to ${await there()}`]);

  await go(`tab=glossary&lang=${lang}&step=yarn`);
  const glossary = await tab.evaluate(() => {
    const root = document.querySelector("#glossary"), entries = [...root.querySelectorAll(".entry")];
    const ids = new Set(entries.map((e) => e.id));
    const links = [...root.querySelectorAll("a.term")].map((a) => new URLSearchParams(a.hash.slice(1)).get("step"));
    return {
      count: entries.length, asked: root.querySelector(".asked")?.id, dead: links.filter((l) => !ids.has(`term-${l}`)),
      opens: [...root.querySelectorAll("a.open")].map((a) => a.hash.slice(1)),
    };
  });
  check(`${lang}: the glossary goes to the term asked for`, glossary.asked === "term-yarn" && glossary.count > 40 ? [] : [JSON.stringify(glossary)]);
  check(`${lang}: links between terms`, glossary.dead);
  for (const hash of new Set(glossary.opens)) {
    await go(hash);
    const wrong = await tab.evaluate(() => [...document.querySelectorAll("main section:not([hidden]) .error")].map((e) => e.textContent).filter(Boolean));
    check(`${lang}: ${hash}`, [...wrong, ...errors]);
  }
  const termLinks = [];
  for (const step of steps) {
    await go(step);
    termLinks.push(...(await tab.evaluate(() => [...document.querySelectorAll("#tour a.term")].map((a) => new URLSearchParams(a.hash.slice(1)).get("step")))));
  }
  await go(`tab=glossary&lang=${lang}`);
  check(`${lang}: the tour's links into the glossary`, await tab.evaluate((all) => all.filter((t) => !document.getElementById(`term-${t}`)), termLinks));
}
await browser.close();
for (const line of failed) console.log(`FAILED: ${line}`);
console.log(`${browser.by}: ${passed} passed, ${failed.length} failed`);
process.exit(failed.length ? 1 : 0);
