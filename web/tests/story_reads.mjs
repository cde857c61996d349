// SPDX-License-Identifier: MIT
//
// Links, languages, light and dark, a phone.
import { calm, check, follow, open, settle, that, turnControl } from "./page.mjs";
import { browser, disk, tabs } from "./setup.mjs";

check("a link restores what it was made from", async () => {
  const page = await open(browser, `${disk}#a=rope%3Atheta%3D500000&b=alibi&n=48&dim=32&heads=4`);
  await page.evaluate(turnControl, { selector: ".side-b select[data-key^=encoding]", index: 0, value: "t5" });
  await settle(page, 400);
  const before = await page.evaluate(() => [location.hash, ...[...document.querySelectorAll("input")].map((i) => i.value)]);
  that(before[0].includes("t5"), before[0]);
  const again = await open(browser, disk + before[0]);
  const after = await again.evaluate(() => [location.hash, ...[...document.querySelectorAll("input")].map((i) => i.value)]);
  that(JSON.stringify(before) === JSON.stringify(after), `${before}\n${after}`);
  calm(page);
  await page.close();
  await again.close();
});

check("every part of it speaks both languages", async () => {
  const page = await open(browser, `${disk}#lang=en`);
  const words = {};
  for (const lang of ["en", "zh"]) {
    for (const tab of tabs) {
      await follow(page, `#tab=${tab}&lang=${lang}`);
      await settle(page, 250);
      const text = await page.evaluate((tab) => document.getElementById(tab).innerText, tab);
      const chinese = (text.match(/[\u4e00-\u9fff]/g) ?? []).length;
      words[`${lang} ${tab}`] = chinese;
      if (lang === "zh") that(chinese > 20, `${tab} has ${chinese} Chinese characters`);
      else that(chinese === 0, `${tab} in English has ${chinese} Chinese characters: ${text.match(/.{0,20}[\u4e00-\u9fff].{0,20}/)?.[0]}`);
    }
    that((await page.evaluate(() => document.documentElement.lang)) === (lang === "zh" ? "zh-CN" : "en"), "html lang");
  }
  await follow(page, "#tab=explore&lang=en");
  await page.evaluate(() => document.getElementById("language").click());
  await settle(page, 250);
  that((await page.evaluate(() => document.documentElement.lang)) === "zh-CN", "the button does not change the language");
  calm(page);
  await page.close();
});

check("light and dark, by the system and by the button", async () => {
  const paper = () => getComputedStyle(document.body).backgroundColor;
  const light = await open(browser, disk, { colorScheme: "light" }), dark = await open(browser, disk, { colorScheme: "dark" });
  const [a, b] = [await light.evaluate(paper), await dark.evaluate(paper)];
  that(a !== b, `both are ${a}`);
  await light.evaluate(() => document.getElementById("theme").click());
  await settle(light, 50);
  that((await light.evaluate(paper)) === b, "the button does not turn light into dark");
  calm(light);
  calm(dark);
  await light.close();
  await dark.close();
});

check("a phone scrolls it one way only", async () => {
  const page = await open(browser, disk, { viewport: { width: 390, height: 844 } });
  for (const lang of ["en", "zh"])
    for (const link of [...tabs.map((t) => `tab=${t}`), "a=rope&b=t5&view=all", "a=rope:sections=8/12/12"]) {
      await follow(page, `#lang=${lang}&${link}`);
      await settle(page, 250);
      const wide = await page.evaluate(() => {
        const over = document.documentElement.scrollWidth - innerWidth;
        const widest = over > 0 && [...document.querySelectorAll("body *")].find((e) => e.getBoundingClientRect().right > innerWidth + 1);
        return { over, what: widest ? `${widest.tagName}.${widest.className}` : "" };
      });
      that(wide.over <= 0, `${lang} ${link}: ${wide.over} pixels too wide: ${wide.what}`);
    }
  calm(page);
  await page.close();
});
