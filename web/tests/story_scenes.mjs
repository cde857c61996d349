// SPDX-License-Identifier: MIT
//
// The story and the glossary, in both languages: every choice, both ends of every slider, every verdict, every link. Whatever
// the tool refuses, and every error of the script, is a failure.
import { calm, check, follow, open, settle, that } from "./page.mjs";
import { browser, disk } from "./setup.mjs";

const visit = (lang, tab, options = {}) => open(browser, `${disk}#tab=${tab}&lang=${lang}`, { viewport: { width: 1200, height: 900 }, ...options });
const scenesOf = (page) => page.evaluate(() => [...document.querySelectorAll("#story .scene")].map((s) => s.dataset.scene));

/** Moves every control of a scene, one after the other, and gathers what goes wrong. Runs in the page. */
async function play(id) {
  const root = document.getElementById(`scene-${id}`), wrong = new Set(), seen = new Set();
  const look = (when) => {
    for (const { textContent: text } of root.querySelectorAll(".error"))
      if (text && !seen.has(text)) { seen.add(text); wrong.add(`${when}: ${text}`); }
  };
  for (const folded of root.querySelectorAll("details.demo")) folded.open = true;
  for (const demo of root.querySelectorAll(".demo")) {
    for (const output of demo.querySelectorAll(".output")) { output.scrollIntoView({ block: "center" }); await window.filled(output); }
    look("at first");
    if (!demo.querySelector(".insight")?.textContent) wrong.add("a figure without its insight");
    for (const radio of demo.querySelectorAll("input[type=radio]")) { radio.click(); await window.settled(); look(radio.parentElement.textContent); }
    for (const range of demo.querySelectorAll("input[type=range]")) {
      const before = range.value;
      for (const value of [range.min, range.max, String((Number(range.min) + Number(range.max)) / 2), before]) {
        range.value = value;
        range.dispatchEvent(new Event("input", { bubbles: true }));
        await window.settled();
        look(`${range.getAttribute("aria-label")} at ${value}`);
      }
    }
    for (const o of demo.querySelectorAll(".output")) if (window.empty(o)) wrong.add(`an empty ${o.className}`);
    for (const p of demo.querySelectorAll(".output.picture")) if (!p.querySelector("svg")) wrong.add("a picture without a drawing");
    for (const c of demo.querySelectorAll(".output.claim")) if (!c.querySelector(".badge")) wrong.add(`no verdict: ${c.textContent.slice(0, 80)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.add(`wider than the window: ${document.documentElement.scrollWidth}`);
  return [...wrong];
}

const rows = (page) => page.evaluate(() => ({
  same: document.querySelector("#scene-dogs .twins").classList.contains("same"),
  words: [...document.querySelectorAll("#scene-dogs .chip")].map((c) => c.textContent).join(" "),
  numbers: [...document.querySelectorAll("#scene-dogs .weights tr")].map((tr) => [...tr.querySelectorAll(".weight-number")].map((n) => n.textContent).join(" ")),
}));

check("words are dragged by the mouse, by a finger and by keys; the two dogs part with an encoding only", async () => {
  const page = await visit("en", "story", { hasTouch: true });
  const chip = async (n) => { const b = await page.locator("#scene-dogs .chip").nth(n).boundingBox(); return [b.x + b.width / 2, b.y + b.height / 2]; };
  const equal = async (wanted, when) => {
    await settle(page);
    const { same, numbers, words } = await rows(page);
    that(numbers.length === 2 && same === wanted && (numbers[0] === numbers[1]) === wanted, `${when}: ${words}: ${numbers.join(" | ")}`);
    return words;
  };
  const first = await equal(true, "at first");
  await page.mouse.move(...(await chip(1)));
  await page.mouse.down();
  await page.mouse.move(...(await chip(4)), { steps: 8 });
  await page.mouse.up();
  const second = await equal(true, "dragged by the mouse");
  that(second !== first, "the mouse moves no word");
  const session = await page.context().newCDPSession(page), [from, to] = [await chip(0), await chip(2)];
  for (const [type, at] of [["touchStart", from], ["touchMove", to], ["touchEnd", null]])
    await session.send("Input.dispatchTouchEvent", { type, touchPoints: at ? [{ x: at[0], y: at[1] }] : [] });
  const third = await equal(true, "dragged by a finger");
  that(third !== second, "a finger moves no word");
  await page.locator("#scene-dogs .chip").nth(2).focus();
  await page.keyboard.press("ArrowRight");
  that((await equal(true, "moved by a key")) !== third, "a key moves no word");
  that((await page.evaluate(() => document.activeElement.dataset.at)) === "3", "the focus does not stay on the word");
  for (const radio of await page.locator("#scene-dogs .choice input").all()) {
    await radio.check();
    await equal((await radio.evaluate((r) => r.parentElement.textContent)) === "none", await radio.evaluate((r) => r.parentElement.textContent));
  }
  calm(page);
  await page.close();
});

check("clocks run when asked, by steps where motion is not wanted, and hands are dragged", async () => {
  for (const reducedMotion of ["no-preference", "reduce"]) {
    const page = await visit("en", "story", { reducedMotion });
    const at = () => page.evaluate(() => Number(document.querySelector("#scene-waves input[type=number]").value));
    await page.evaluate(() => document.getElementById("scene-waves").scrollIntoView({ behavior: "instant" }));
    await settle(page);
    if (reducedMotion === "no-preference") { // it began by itself
      await page.waitForFunction(() => document.querySelector("#scene-waves .play").textContent === "❚❚");
      await page.locator("#scene-waves .play").first().click();
    }
    const before = await at();
    await page.waitForTimeout(200);
    that((await at()) === before, "it moves by itself, or a press does not stop it");
    await page.locator("#scene-waves .play").first().click();
    await page.waitForFunction((b) => Number(document.querySelector("#scene-waves input[type=number]").value) > b, before);
    if (reducedMotion === "reduce") that((await at()) === before + 1, `a press is ${(await at()) - before} steps`);
    else {
      await page.waitForFunction((b) => Number(document.querySelector("#scene-waves input[type=number]").value) > b + 3, before);
      await page.locator("#scene-waves .play").first().click();
      const stopped = await at();
      await page.waitForTimeout(300);
      that((await at()) === stopped, "it does not stop");
    }
    const dial = await page.locator("#scene-rotary .dial svg").nth(1), values = () => page.evaluate(() => [...document.querySelectorAll("#scene-rotary .demo:first-of-type input[type=number]")].map((i) => i.value).join());
    await page.evaluate(() => document.getElementById("scene-rotary").scrollIntoView({ behavior: "instant" }));
    await settle(page);
    await dial.scrollIntoViewIfNeeded();
    await settle(page);
    const held = await values(), box = await dial.boundingBox();
    await page.mouse.move(box.x + box.width / 2 + 20, box.y + box.height / 2 - 8);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 20, box.y + box.height / 2 - 20, { steps: 6 });
    await page.mouse.up();
    await settle(page);
    that((await values()) !== held, `no hand follows the pointer: ${held}`);
    calm(page);
    await page.close();
  }
});

check("what moves begins by itself, leaves the link alone and stops at a touch; still where motion is not wanted", async () => {
  const at = (page, id) => page.evaluate((id) => Number(document.querySelector(`#scene-${id} .slider:has(.play) input[type=number]`).value), id);
  for (const reducedMotion of ["no-preference", "reduce"]) {
    const page = await visit("en", "story&step=waves", { reducedMotion }), moves = reducedMotion === "no-preference", first = await at(page, "waves");
    await page.waitForTimeout(1500);
    that((await at(page, "waves")) > first === moves, `${reducedMotion}: from ${first} to ${await at(page, "waves")}`);
    that(!(await page.evaluate(() => location.hash)).includes("demo"), "the link follows what moves by itself");
    const box = await page.locator("#scene-waves .dial svg").first().boundingBox();
    await page.mouse.click(box.x + box.width / 2 + 20, box.y + box.height / 2);
    const touched = await at(page, "waves");
    await page.waitForTimeout(600);
    that((await at(page, "waves")) === touched, "a touch does not stop it");
    await page.close();
  }
});

check("a longer text has a smaller step, and the same word lies further left", async () => {
  const page = await visit("en", "story&step=fraction"), rulers = () => page.evaluate(() => [...document.querySelectorAll("#scene-fraction .ruler")].map((r) => ({
    said: r.querySelector("p").textContent, at: r.querySelector(".now").offsetLeft / r.clientWidth, step: r.querySelector(".ruler-step").offsetWidth / r.clientWidth, places: r.querySelectorAll(".ruler-place").length })));
  await page.locator("#scene-fraction input[type=number]").first().fill("64");
  await page.locator("#scene-fraction input[type=number]").nth(1).fill("4");
  await settle(page);
  const [short, long] = await rulers();
  that(short.said.includes("0.667, one step is 0.167") && long.said.includes("0.063, one step is 0.016"), `${short.said}; ${long.said}`);
  for (const [{ at, step, places }, n] of [[short, 6], [long, 64]])
    that(places === n && Math.abs(at - 4 / n) < 0.01 && Math.abs(step - 1 / n) < 0.01, `${n} words: ${JSON.stringify({ at, step, places })}`);
  await page.locator("#scene-fraction .play").click();
  await settle(page);
  that((await rulers())[1].places === 6, "play does not go on from the first length after the last");
  calm(page);
  await page.close();
});

check("query and key move together, and the angle between them stays", async () => {
  const page = await visit("en", "story&step=rotary"), hands = (kind) => page.evaluate((kind) => [...document.querySelectorAll(`#scene-rotary .hand.${kind} line`)].map((l) => `${Number(l.getAttribute("x2")).toFixed(2)} ${Number(l.getAttribute("y2")).toFixed(2)}`).join(), kind);
  const arcs = () => page.evaluate(() => [...document.querySelectorAll("#scene-rotary .dial:has(.between)")].map((dial) => {
    const [x, y, radius, , , , , u, v] = dial.querySelector(".between").getAttribute("d").match(/[-+.\de]+/g).map(Number);
    const off = [["key", x, y], ["query", u, v]].map(([kind, a, b]) => {
      const line = dial.querySelector(`.hand.${kind} line`), size = Number(line.getAttribute("x2")), up = Number(line.getAttribute("y2"));
      return Math.hypot(a / radius - size / 44, b / radius - up / 44);
    });
    return { off: Math.max(...off), across: Math.hypot(x - u, y - v) };
  }));
  const before = [await hands("query"), await hands("key")], spans = await arcs();
  await page.locator("#scene-rotary .slider input[type=range]").nth(2).fill("37");
  await settle(page);
  const after = await arcs();
  that((await hands("query")) !== before[0] && (await hands("key")) !== before[1], "the hands do not turn");
  that(spans.length === 4 && after.every(({ off, across }, i) => off < 1e-4 && across > 1 && Math.abs(across - spans[i].across) < 1e-3), `the arcs: ${JSON.stringify([spans, after])}`);
  await page.close();
});

check("a link and Contents lead to their scene, where motion is allowed too", async () => {
  for (const [width, height] of [[1200, 900], [390, 844]]) {
    const page = await visit("en", "story", { viewport: { width, height }, reducedMotion: "no-preference" }), scenes = await scenesOf(page);
    const there = async (id, how) => {
      await page.waitForTimeout(600); // what is drawn late has come
      await settle(page, "all");
      const top = await page.evaluate((id) => document.getElementById(`scene-${id}`).getBoundingClientRect().top, id);
      that(Math.abs(top - 16) < 8, `${how} to ${id} at ${width} pixels: its top is at ${Math.round(top)}`);
    };
    for (const id of [scenes[3], scenes[9], scenes.at(-2), scenes[1]]) {
      await follow(page, `#tab=story&lang=en&step=${id}`);
      await there(id, "a link");
    }
    await page.evaluate(() => { scrollTo({ top: 0 }); document.querySelector(".contents details").open = true; });
    await page.locator(`.contents a[data-scene=${scenes[8]}]`).click();
    await there(scenes[8], "Contents");
    await page.evaluate(() => scrollTo({ top: 0 }));
    await page.locator(`.contents a[data-scene=${scenes[8]}]`).click();
    await there(scenes[8], "Contents, once more,");
    const opened = await visit("en", `story&step=${scenes[7]}`, { viewport: { width, height }, reducedMotion: "no-preference" });
    that(Math.abs(await opened.evaluate((id) => document.getElementById(`scene-${id}`).getBoundingClientRect().top, scenes[7]) - 16) < 8, "a link that opens the page misses its scene");
    calm(page);
    await page.close();
    await opened.close();
  }
});

for (const lang of ["en", "zh"]) {
  for (const width of [1200, 320])
    check(`${lang}: every control of every scene works, at ${width} pixels`, async () => {
      const page = await visit(lang, "story", { viewport: { width, height: 800 } }), scenes = await scenesOf(page), wrong = [];
      that(scenes.length >= 13, `${scenes.length} scenes`);
      for (const id of scenes) wrong.push(...(await page.evaluate(play, id)).map((what) => `${id}: ${what}`));
      that(!wrong.length, wrong.join("\n"));
      calm(page);
      await page.close();
      return `${scenes.length} scenes`;
    });

  check(`${lang}: links of the story and the glossary lead somewhere`, async () => {
    const page = await visit(lang, "story"), scenes = await scenesOf(page), links = new Set(), wrong = [];
    const gather = async (tab) => (await page.evaluate((tab) => [...document.querySelectorAll(`#${tab} a[href^="#"]`)].map((a) => a.hash), tab)).forEach((l) => links.add(l));
    await follow(page, `#tab=glossary&lang=${lang}&term=yarn`);
    const { asked, ids } = await page.evaluate(() => ({ asked: document.querySelector("#glossary .asked")?.id, ids: [...document.querySelectorAll("#glossary .entry")].map((e) => e.id) }));
    that(asked === "term-yarn" && ids.length > 40, `the glossary of ${ids.length} terms is at ${asked}`);
    await gather("glossary");
    await follow(page, `#tab=story&lang=${lang}`);
    await gather("story");
    that((await page.evaluate(() => document.querySelectorAll("#story a.open").length)) > 9, "few pictures lead into the lab");
    await follow(page, `#tab=story&lang=${lang}&step=${scenes[5]}`);
    that(Math.abs(await page.evaluate((id) => document.getElementById(`scene-${id}`).getBoundingClientRect().top, scenes[5])) < 300, "a link does not lead to its scene");
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
