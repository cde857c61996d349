// SPDX-License-Identifier: MIT
//
// Without a mouse, and without eyes.
import { calm, check, open, settle, that, until } from "./page.mjs";
import { browser, disk } from "./setup.mjs";

check("the keyboard reaches every control, and one sees where it is", async () => {
  const page = await open(browser, `${disk}#a=rope&b=t5`);
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
      .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }));
    all.forEach((e, i) => { e.dataset.seen = String(i); });
    return all.length;
  });
  const met = new Map();
  for (let i = 0; i < wanted + 20; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement, s = getComputedStyle(e);
      const mark = e.type === "file" ? getComputedStyle(e.labels[0]) : s;
      const visible = (mark.outlineStyle !== "none" && parseFloat(mark.outlineWidth) > 0) || mark.boxShadow !== "none";
      return { seen: e.dataset?.seen, visible, what: `${e.tagName}#${e.id}.${e.className} ${e.textContent.slice(0, 30)}` };
    });
    if (at.seen !== undefined) met.set(at.seen, at);
  }
  const missed = await page.evaluate((met) => [...document.querySelectorAll("[data-seen]")]
    .filter((e) => !met.includes(e.dataset.seen) && e.type !== "radio").map((e) => `${e.tagName}#${e.id}.${e.className}`), [...met.keys()]);
  that(missed.length === 0, `${missed.length} of ${wanted} not reached: ${missed.slice(0, 5)}`);
  const blind = [...met.values()].filter((m) => !m.visible);
  that(blind.length === 0, `no visible focus on ${blind.slice(0, 5).map((m) => m.what)}`);
  calm(page);
  await page.close();
  return `${wanted} places`;
});

check("arrow keys move sliders and tabs", async () => {
  const page = await open(browser, `${disk}#a=rope`);
  await page.evaluate(() => document.querySelector(".strip input[type=range]").focus());
  const before = await page.evaluate(() => document.activeElement.value);
  await page.keyboard.press("ArrowRight");
  await settle(page);
  that((await page.evaluate(() => document.activeElement.value)) !== before, "the slider stays");
  await until(page, () => location.hash.includes("n=")); // the page writes its link a little later
  await page.evaluate(() => document.getElementById("tab-explore").focus());
  await page.keyboard.press("ArrowRight");
  await settle(page);
  that((await page.evaluate(() => document.getElementById("sheet").hidden)) === false, "the tabs stay");
  calm(page);
  await page.close();
});

check("pictures have words for those who do not see them", async () => {
  const page = await open(browser, `${disk}#a=rope&view=all`);
  const dumb = await page.evaluate(() => [...document.querySelectorAll("#pictures svg")]
    .filter((s) => !(s.querySelector("title, desc")?.textContent || s.getAttribute("aria-label"))).length);
  that(dumb === 0, `${dumb} without`);
  await page.close();
});
