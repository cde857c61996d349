// SPDX-License-Identifier: MIT
//
// The tour and the glossary, in both languages: every choice, both ends of every slider, every claim, every link. Whatever
// the tool refuses, and every error of the script, is a failure. The numbers of the race are those of docs/results.md.
import { readFileSync } from "node:fs";
import { calm, check, follow, open, that } from "./page.mjs";
import { browser, disk } from "./setup.mjs";

const visit = (lang, tab) => open(browser, `${disk}#tab=${tab}&lang=${lang}`, { viewport: { width: 1200, height: 900 } });
const stepsOf = (page) => page.evaluate(() => [...document.querySelectorAll("#tour .contents a")].map((a) => a.hash));

/** Moves every control of the step on the page, one after the other, and gathers what goes wrong. Runs in the page. */
async function play() {
  const root = document.querySelector("#tour"), wrong = new Set(), seen = new Set();
  const look = (when) => {
    for (const { textContent: text } of root.querySelectorAll(".error"))
      if (text && !seen.has(text)) { seen.add(text); wrong.add(`${when}: ${text}`); }
  };
  look("at first");
  if (root.querySelector("article").textContent.length < 100) wrong.add("almost empty");
  for (const radio of root.querySelectorAll("input[type=radio]")) { radio.click(); await window.settled(); look(radio.parentElement.textContent); }
  for (const range of root.querySelectorAll("input[type=range]")) {
    const before = range.value;
    for (const value of [range.min, range.max, String((Number(range.min) + Number(range.max)) / 2), before]) {
      range.value = value;
      range.dispatchEvent(new Event("input", { bubbles: true }));
      await window.settled();
      look(`${range.getAttribute("aria-label")} at ${value}`);
    }
  }
  for (const o of root.querySelectorAll(".output")) if (!o.textContent && !o.querySelector("svg")) wrong.add(`an empty ${o.className}`);
  for (const p of root.querySelectorAll(".output.picture")) if (!p.querySelector("svg")) wrong.add("a picture without a drawing");
  if (!root.querySelectorAll("math").length) wrong.add("no formula");
  for (const button of root.querySelectorAll("button[data-claim]")) {
    button.click();
    await window.settled(true);
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
  check(`${lang}: every control and claim of the nine steps works, and next goes on`, async () => {
    const page = await visit(lang, "tour"), steps = await stepsOf(page), wrong = [];
    that(steps.length === 9, `${steps.length} steps`);
    for (const step of steps) {
      await follow(page, step);
      wrong.push(...(await page.evaluate(play)).map((what) => `${step}: ${what}`));
    }
    that(!wrong.length, wrong.join("\n"));
    const there = () => page.evaluate(() => document.querySelector("#tour article").dataset.step);
    await follow(page, steps[3]);
    const before = await there();
    await follow(page, await page.evaluate(() => document.querySelector("#tour a[rel=next]").hash));
    that(before === "3" && (await there()) === "4", `next goes from ${before} to ${await there()}`);
    calm(page);
    await page.close();
  });

  check(`${lang}: the race in the tour is the one that is published`, async () => {
    const page = await visit(lang, "tour");
    await follow(page, (await stepsOf(page)).at(-1));
    const rows = await page.evaluate(() => [...document.querySelectorAll("#tour .results tbody tr")].map((tr) => [tr.dataset.row, [...tr.cells].slice(1).map((c) => c.textContent)]));
    that(rows.length >= 5, `${rows.length} rows`);
    for (const [row, values] of rows) that(published(row, values.length) === values.join(" "), `${row}: ${values.join(" ")}; published ${published(row, values.length)}`);
    calm(page);
    await page.close();
  });

  check(`${lang}: links of the tour and the glossary lead somewhere`, async () => {
    const page = await visit(lang, "tour"), steps = await stepsOf(page), links = new Set(), wrong = [];
    const gather = async (tab) => (await page.evaluate((tab) => [...document.querySelectorAll(`#${tab} a[href^="#"]`)].map((a) => a.hash), tab)).forEach((l) => links.add(l));
    await follow(page, `#tab=glossary&lang=${lang}&term=yarn`);
    const { asked, ids } = await page.evaluate(() => ({ asked: document.querySelector("#glossary .asked")?.id, ids: [...document.querySelectorAll("#glossary .entry")].map((e) => e.id) }));
    that(asked === "term-yarn" && ids.length > 40, `the glossary of ${ids.length} terms is at ${asked}`);
    await gather("glossary");
    let opened = 0;
    for (const step of steps) {
      await follow(page, step);
      await gather("tour");
      opened += await page.evaluate(() => document.querySelectorAll("#tour a.open").length);
    }
    that(opened > 9, `${opened} pictures of the tour lead into the explorer`);
    for (const link of links) {
      const term = new URLSearchParams(link.slice(1)).get("term");
      if (term && !ids.includes(`term-${term}`)) wrong.push(`no term ${term}`);
      await follow(page, link);
      const said = await page.evaluate(() => [...document.querySelectorAll("main > section:not([hidden]) .error")].map((e) => e.textContent).filter(Boolean).join(" "));
      if (said) wrong.push(`${link}: ${said}`);
    }
    that(!wrong.length, wrong.join("\n"));
    calm(page);
    await page.close();
    return `${links.size} links`;
  });
}
