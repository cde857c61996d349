// SPDX-License-Identifier: MIT
//
// Every control of every row does something, and every view is drawn.
import { calm, check, follow, open, settle, that, until, turnControl } from "./page.mjs";
import { browser, disk, lab, native, registry } from "./setup.mjs";

/** In the page: what can be set in the form of side A, and to what. */
function listControls(selector) {
  for (const fold of document.querySelectorAll(".side-a details")) fold.open = true;
  return [...document.querySelectorAll(selector)].filter((e) => e.offsetParent !== null).map((e, index) => {
    const label = e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? "";
    const now = e.value;
    if (e.tagName === "SELECT") return { index, label, now, values: [...e.options].map((o) => o.value).filter((v) => v && v !== now) };
    if (e.type === "number") return { index, label, now, values: ["2", "7", "-5"].filter((v) => v !== now), typed: true };
    const [low, high] = [Number(e.min), Number(e.max)];
    return { index, label, now, values: [low, high, low + (high - low) / 3].map(String) };
  });
}

const state = () => ({
  spec: document.querySelector(".side-a input.spec")?.value ?? "",
  said: [...document.querySelectorAll("#explore .error")].map((e) => e.textContent).filter(Boolean).join(" "),
  pictures: document.querySelectorAll("#pictures svg").length,
  fresh: performance.getEntriesByName("command").some((e) => e.detail.args.includes("parts") && e.detail.code === 0),
});

/** The state once the tool has answered, which may be in a worker: a picture or a sentence. */
async function answered(page) {
  await settle(page);
  return page.evaluate(state);
}

/** Why the tool may refuse what a control asks for: a sentence that says what would be right, and never that memory is short. */
const reasons = /^(?!.*no memory).*(; |needs|wants|between|outside|only|must|has a meaning)/is;

check("every control of every row does something, and nothing breaks", async () => {
  const page = await open(browser, lab, { viewport: { width: 1400, height: 900 } });
  let rotated = 0;
  const refused = new Map();
  for (const row of registry.encodings) {
    await follow(page, `#a=${row.name}`);
    const selector = ".side-a .key select, .side-a .key input[type=range], .side-a .key input[type=number]";
    const controls = await page.evaluate(listControls, selector);
    for (const { index, label, values, typed } of controls)
      for (const value of values) {
        await follow(page, `#a=${row.name}`);
        await page.evaluate(listControls, selector);
        const before = await page.evaluate(state);
        await page.evaluate(() => performance.clearMeasures("command"));
        that(await page.evaluate(turnControl, { selector, index, value }), `${row.name}: ${label} is gone`);
        const after = await answered(page);
        rotated++;
        that(after.spec !== before.spec || (typed && after.said), `${row.name}: ${label} to ${value} leaves the spec as it was: ${after.spec}`);
        that(!/crashed|undefined|NaN/.test(after.said), `${row.name}: ${label} to ${value}: ${after.said}`);
        that(after.pictures > 0, `${row.name}: ${label} to ${value}: no picture`);
        that(after.said || after.fresh, `${row.name}: ${label} to ${value}: the picture is the old one`);
        if (after.said) refused.set(`${row.name} ${label} ${value}`, after.said);
        that(!after.said || reasons.test(after.said), `${row.name}: ${label} to ${value}: refused for no known reason: ${after.said}`);
        if (page.troubles.length) that(false, `${row.name}: ${label} to ${value}: ${page.troubles[0]}`);
      }
  }
  await page.close();
  return `${rotated} turns over ${registry.encodings.length} rows, of which ${refused.size} are refused with a sentence:\n${[...refused].map(([what, why]) => `  ${what}: ${why.slice(0, 90)}`).join("\n")}`;
});

/** In the page: what can be set above the pictures, and to what. */
function listStrip(selector) {
  return [...document.querySelectorAll(selector)].filter((e) => e.offsetParent !== null).map((e, index) => {
    const label = e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? "";
    if (e.disabled) return { index, label, values: [] }; // it says what is always so
    if (e.type === "checkbox") return { index, label, values: [!e.checked] };
    if (e.type === "text") return { index, label, values: [/[0-9]/.test(e.placeholder) ? "0,1" : "one two one"] };
    const [low, high] = [Number(e.min), Number(e.max)];
    return { index, label, values: [low, Math.round(low + (high - low) / 8)].filter((v) => v !== Number(e.value)).map(String) };
  });
}

check("every control above the pictures changes them", async () => {
  const page = await open(browser, lab, { viewport: { width: 1400, height: 900 } });
  const selector = ".strip input[type=range], .strip input[type=checkbox], .strip input[type=text]";
  const command = () => document.querySelector("#explore pre").textContent;
  let rotated = 0;
  for (const spec of ["rope", "sinusoidal", "rope:axes=2,split=axial", "alibi", "shaw"]) {
    const { views } = JSON.parse(native(["show", spec, "--list", "--json"]).text);
    for (const view of views.filter((v) => v.fits.length)) {
      const link = `#a=${encodeURIComponent(spec)}&view=${view.name}`;
      await follow(page, link);
      for (const { index, label, values } of await page.evaluate(listStrip, selector))
        for (const value of values) {
          await follow(page, link);
          const before = await page.evaluate(command);
          that(await page.evaluate(turnControl, { selector, index, value }), `${spec}, ${view.name}: ${label} is gone`);
          await settle(page);
          const after = await page.evaluate(command), { said } = await page.evaluate(state);
          that(after !== before || said, `${spec}, ${view.name}: ${label} to ${value} changes nothing: ${after}`);
          that(!/crashed|undefined|NaN|unknown option/.test(said), `${spec}, ${view.name}: ${label} to ${value}: ${said}`);
          that(page.troubles.length === 0, `${spec}, ${view.name}: ${label} to ${value}: ${page.troubles[0]}`);
          rotated++;
        }
    }
  }
  await page.close();
  return `${rotated} turns`;
});

check("every view of every row is drawn", async () => {
  const page = await open(browser, lab);
  let views = 0;
  for (const row of registry.encodings) {
    await follow(page, `#a=${row.name}&view=all`);
    await until(page, () => document.querySelectorAll("#pictures .card").length > 0);
    const cards = await page.evaluate(async () => {
      const out = [];
      for (const card of document.querySelectorAll("#pictures .card")) {
        card.scrollIntoView();
        await window.settled();
        out.push({ title: card.querySelector("h3")?.textContent, drawn: !!card.querySelector("svg"), said: card.querySelector(".error")?.textContent ?? "" });
      }
      return out;
    });
    for (const card of cards) that(card.drawn && !card.said, `${row.name}: ${card.title}: ${card.said || "no picture"}`);
    views += cards.length;
  }
  calm(page);
  await page.close();
  return `${views} views`;
});
