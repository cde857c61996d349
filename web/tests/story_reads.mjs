// SPDX-License-Identifier: MIT
//
// Links, languages, light and dark, a phone.
import { calm, check, follow, open, settle, that, turnControl, until } from "./page.mjs";
import { browser, disk, lab, tabs } from "./setup.mjs";

check("a link restores what it was made from", async () => {
  const page = await open(browser, `${disk}#a=rope%3Atheta%3D500000&b=alibi&n=48&dim=32&heads=4`);
  await page.evaluate(turnControl, { selector: ".side-b select[data-key^=encoding]", index: 0, value: "t5" });
  await settle(page, "all");
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
      await settle(page, "all");
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
  await settle(page);
  that((await page.evaluate(() => document.documentElement.lang)) === "zh-CN", "the button does not change the language");
  calm(page);
  await page.close();
});

check("a link to no encoding says so, and the causal box tells the truth", async () => {
  const page = await open(browser, `${disk}#a=nonsense:foo=1`);
  await settle(page, "all");
  const text = await page.evaluate(() => document.querySelector(".stage").innerText);
  that(/unknown encoding/.test(text) && !/measuring/.test(text), text);
  await follow(page, "#a=alibi&b=t5&view=bias");
  const box = () => page.evaluate(() => { const b = [...document.querySelectorAll(".look.check input")].find((e) => e.offsetParent); return [b.checked, b.disabled]; });
  that(String(await box()) === "true,true", "ALiBi is drawn under a causal mask and the box says something else");
  await follow(page, "#a=rope&view=attention");
  that(String(await box()) === "false,false", "RoPE needs no mask");
  calm(page);
  await page.close();
});

check("pictures of what is random say so", async () => {
  const page = await open(browser, lab);
  for (const [link, random] of [["#a=t5&view=heads", true], ["#a=learned&view=table", true], ["#a=rope&view=attention", true], ["#a=alibi&view=heads", false], ["#a=rope&view=table", false]]) {
    await follow(page, link);
    that((await page.evaluate(() => /untrained/.test(document.querySelector("#pictures svg").textContent))) === random, `${link}: untrained or not`);
  }
  calm(page);
  await page.close();
});

check("A and B have the same axes, and what is pointed at in one is shown in both", async () => {
  const page = await open(browser, `${disk}#a=rope&b=rope%3Atheta%3D100&view=decay`, { viewport: { width: 1300, height: 900 } });
  await page.evaluate(() => document.querySelector("#pictures .drawing-box").focus());
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  const tips = await page.evaluate(() => [...document.querySelectorAll("#pictures .tip")].map((t) => [t.hidden, t.textContent.split(":")[0], t.getBoundingClientRect().bottom <= innerHeight]));
  that(tips.length === 2 && tips.every(([hidden, at, seen]) => !hidden && at === tips[0][1] && seen), JSON.stringify(tips));
  const heights = await page.evaluate(() => [...document.querySelectorAll("#pictures svg.drawing")].map((s) => s.getAttribute("viewBox")));
  that(heights[0] === heights[1], `${heights}`);
  calm(page);
  await page.close();
});

check("light and dark, by the system and by the button", async () => {
  const paper = () => getComputedStyle(document.body).backgroundColor;
  const light = await open(browser, lab, { colorScheme: "light" }), dark = await open(browser, lab, { colorScheme: "dark" });
  const [a, b] = [await light.evaluate(paper), await dark.evaluate(paper)];
  that(a !== b, `both are ${a}`);
  await light.evaluate(() => document.getElementById("theme").click());
  await settle(light);
  that((await light.evaluate(paper)) === b, "the button does not turn light into dark");
  calm(light);
  calm(dark);
  await light.close();
  await dark.close();
});

check("a phone scrolls it one way only", async () => {
  const page = await open(browser, lab, { viewport: { width: 390, height: 844 } });
  for (const lang of ["en", "zh"])
    for (const link of [...tabs.map((t) => `tab=${t}`), "a=rope&b=t5&view=all", "a=rope:sections=8/12/12"]) {
      await follow(page, `#lang=${lang}&${link}`);
      await settle(page, "all");
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

check("the skip link and Back keep what the reader set", async () => {
  const page = await open(browser, `${disk}#a=alibi&n=48`);
  const at = () => page.evaluate(() => ({ spec: document.querySelector(".side-a input.spec").value, hash: location.hash, tab: document.querySelector("main > section:not([hidden])").id }));
  await page.evaluate(() => document.getElementById("skip").click());
  await settle(page);
  that((await at()).spec === "alibi", `after the skip link: ${JSON.stringify(await at())}`);
  await page.evaluate(() => document.getElementById("tab-claims").click());
  await settle(page);
  that((await at()).tab === "claims", JSON.stringify(await at()));
  await page.evaluate(() => history.back());
  await until(page, () => !document.getElementById("explore").hidden);
  const back = await at();
  that(back.tab === "explore" && back.spec === "alibi", `after Back: ${JSON.stringify(back)}`);
  calm(page);
  await page.close();
});

check("playing goes on, or stops, in the other language, and nothing breaks", async () => {
  const page = await open(browser, `${disk}#a=rope&view=table`, { reducedMotion: "no-preference" });
  await page.click(".strip button[aria-label=Play]");
  await until(page, () => /start=[1-9]/.test(location.hash));
  await page.evaluate(() => document.getElementById("language").click());
  await settle(page);
  const buttons = await page.evaluate(() => [...document.querySelectorAll(".strip button")].map((b) => b.getAttribute("aria-label") ?? b.textContent).join());
  that(!/Play|Pause/.test(buttons), `English is left: ${buttons}`);
  calm(page);
  await page.close();
});

check("a spec that looks like an option is a spec, and + may stand in a value of it", async () => {
  const page = await open(browser, lab);
  const said = async (spec) => {
    await follow(page, `#a=${encodeURIComponent(spec)}`);
    return page.evaluate(() => [...document.querySelectorAll("#explore .error")].map((e) => e.textContent).filter(Boolean).join(" "));
  };
  that(/unknown encoding/.test(await said("--help")), await said("--help"));
  that((await said("rope:theta=1e+6")) === "" || /1e/.test(await said("rope:theta=1e+6")), await said("rope:theta=1e+6"));
  that((await said("rope+alibi")) === "", await said("rope+alibi"));
  calm(page);
  await page.close();
});

check("a model's file is told in Chinese, and what is English is marked", async () => {
  const page = await open(browser, `${disk}#tab=model&lang=en`);
  for (const name of ["Llama 3.1 8B", "BLOOM 7B1", "T5 small"]) {
    await page.evaluate((name) => {
      const select = document.querySelector("#model select.examples");
      select.value = name;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    }, name);
    await settle(page);
    await page.evaluate(() => document.getElementById("language").click());
    await settle(page);
    const model = await page.evaluate(() => {
      const root = document.getElementById("model"), specs = root.querySelectorAll(".spec-cell").length;
      const loose = [...root.querySelectorAll("p, th, td, button, label, h2, h3")].filter((e) => !e.closest("[lang=en]") && !e.querySelector("[lang=en]"))
        .map((e) => e.textContent.trim()).filter((t) => /[a-z]{3,} [a-z]{3,} [a-z]{3,}/i.test(t) && !/[\u4e00-\u9fff]/.test(t));
      return { specs, loose };
    });
    that(model.specs > 0, `${name}: the file is gone in the other language`);
    that(model.loose.length === 0, `${name}: English that is not marked: ${model.loose[0]}`);
    await page.evaluate(() => document.getElementById("language").click());
    await settle(page);
  }
  calm(page);
  await page.close();
});
