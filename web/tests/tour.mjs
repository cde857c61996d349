// SPDX-License-Identifier: MIT
//
// node tour.mjs PAGE CHROMIUM [--no-claims]: every step of the tour in both languages: every choice, both ends of every slider, every
// claim; every term of the glossary and what it opens. Whatever the tool refuses, and every error of the script, is a failure.
// The numbers of the race are those of docs/results.md.
import { readFileSync } from "node:fs";
import { launch } from "./browser.mjs";

const [page, chromium] = process.argv.slice(2);
let passed = 0;
const failed = [];
const claims = !process.argv.includes("--no-claims");
const check = (what, wrong) => (wrong.length ? failed.push(`${what}: ${wrong.join(" | ")}`) : passed++);

const browser = await launch(chromium);
const tab = await browser.newPage({ viewport: { width: 1200, height: 900 } });
let errors = [];
tab.on("pageerror", (e) => errors.push(String(e.message ?? e)));
tab.on("console", (m) => { if (m.type() === "error") errors.push(m.text()); });

/** Follows a link within the page, and waits until it is shown. */
async function go(hash) {
  errors = [];
  await tab.evaluate((to) => new Promise((done) => {
    const shown = () => requestAnimationFrame(() => requestAnimationFrame(() => done(null)));
    if (location.hash === `#${to}`) return shown();
    addEventListener("hashchange", shown, { once: true });
    location.hash = to;
  }), hash);
}

await tab.goto(`file://${page}`);
await tab.evaluate(() => new Promise((done) => {
  const ready = () => ("ready" in document.documentElement.dataset ? done(null) : setTimeout(ready, 10));
  ready();
}));

/** Moves every control of the step on the page, one after the other, and gathers what goes wrong. Runs in the page. */
async function play(claims) {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const root = document.querySelector("#tour"), wrong = new Set(), seen = new Set();
  const look = (when) => {
    for (const { textContent: text } of root.querySelectorAll(".error"))
      if (text && !seen.has(text)) { seen.add(text); wrong.add(`${when}: ${text}`); }
  };
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

/** The first row of this name in the document: its numbers, up to as many as wanted. */
function published(name, count) {
  const text = readFileSync(new URL("../../docs/results.md", import.meta.url), "utf8");
  const row = text.split("\n").find((line) => line.startsWith(`| ${name} |`)) ?? "";
  return row.split("|").slice(2, 2 + count).map((cell) => cell.replace(/[*\s]/g, "")).join(" ");
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
  const results = await tab.evaluate(() => [...document.querySelectorAll("#tour .results tbody tr")].map((tr) => [tr.dataset.row, [...tr.cells].slice(1).map((c) => c.textContent)]));
  check(`${lang}: a table of the race`, results.length >= 5 ? [] : [`${results.length} rows`]);
  for (const [row, values] of results) check(`${lang}: ${row} is as published`, published(row, values.length) === values.join(" ") ? [] : [values.join(" "), published(row, values.length)]);
  const there = () => tab.evaluate(() => document.querySelector("#tour article").dataset.step);
  await go(steps[3]);
  const before = await there();
  await go(await tab.evaluate(() => document.querySelector("#tour a[rel=next]").hash.slice(1)));
  check(`${lang}: next goes on`, before === "3" && (await there()) === "4" ? [] : [`from ${before} to ${await there()}`]);

  await go(`tab=glossary&lang=${lang}&term=yarn`);
  const glossary = await tab.evaluate(() => {
    const root = document.querySelector("#glossary"), entries = [...root.querySelectorAll(".entry")];
    const ids = new Set(entries.map((e) => e.id));
    const links = [...root.querySelectorAll("a.term")].map((a) => new URLSearchParams(a.hash.slice(1)).get("term"));
    return {
      count: entries.length, asked: root.querySelector(".asked")?.id, dead: links.filter((l) => !ids.has(`term-${l}`)),
      opens: [...root.querySelectorAll("a.open")].map((a) => a.hash.slice(1)),
    };
  });
  check(`${lang}: the glossary goes to the term asked for`, glossary.asked === "term-yarn" && glossary.count > 40 ? [] : [JSON.stringify(glossary)]);
  check(`${lang}: links between terms`, glossary.dead);
  const shown = [];
  for (const step of steps) {
    await go(step);
    shown.push(...(await tab.evaluate(() => [...document.querySelectorAll("#tour a.open")].map((a) => a.hash.slice(1)))));
  }
  check(`${lang}: pictures lead into the explorer`, shown.length > 9 ? [] : [`${shown.length} do`]);
  for (const hash of new Set([...glossary.opens, ...shown])) {
    await go(hash);
    const wrong = await tab.evaluate(() => [...document.querySelectorAll("main > section:not([hidden]) .error")].map((e) => e.textContent).filter(Boolean));
    check(`${lang}: ${hash}`, [...wrong, ...errors]);
  }
  const termLinks = [];
  for (const step of steps) {
    await go(step);
    termLinks.push(...(await tab.evaluate(() => [...document.querySelectorAll("#tour a.term")].map((a) => new URLSearchParams(a.hash.slice(1)).get("term")))));
  }
  await go(`tab=glossary&lang=${lang}`);
  check(`${lang}: the tour's links into the glossary`, await tab.evaluate((all) => all.filter((t) => !document.getElementById(`term-${t}`)), termLinks));
}
await browser.close();
for (const line of failed) console.log(`FAILED: ${line}`);
console.log(browser.by);
console.log(`${passed} passed, ${failed.length} failed, 0 skipped`);
process.exit(failed.length ? 1 : 0);
