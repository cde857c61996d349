// SPDX-License-Identifier: MIT
//
// The tour, the glossary, the claims.
import { calm, check, follow, open, settle, that, until } from "./page.mjs";
import { browser, disk, native, registry } from "./setup.mjs";

check("every step of the tour opens, and its checks run", async () => {
  const page = await open(browser, `${disk}#tab=tour`);
  const links = await page.evaluate(() => [...document.querySelectorAll("#tour nav.contents a")].map((a) => a.getAttribute("href")));
  that(links.length >= 6, `${links.length} steps`);
  for (const lang of ["en", "zh"])
    for (const link of links) {
      await follow(page, `${link}&lang=${lang}`);
      await settle(page, 150);
      const step = await page.evaluate(async () => {
        document.querySelectorAll("#tour button[data-claim]").forEach((b) => b.click());
        await new Promise((r) => setTimeout(r, 300));
        for (const e of document.querySelectorAll("#tour input[type=range]")) {
          e.value = String(Number(e.min) + (Number(e.max) - Number(e.min)) / 2);
          e.dispatchEvent(new Event("input", { bubbles: true }));
        }
        await new Promise((r) => setTimeout(r, 100));
        return { text: document.querySelector("#tour article")?.textContent.length ?? 0,
          said: [...document.querySelectorAll("#tour .error")].map((e) => e.textContent).filter(Boolean).join(" ") };
      });
      that(step.text > 100, `${link}: almost empty`);
      that(!step.said, `${lang} ${link}: ${step.said}`);
    }
  calm(page);
  await page.close();
  return `${links.length} steps`;
});

check("links of the page lead somewhere in it", async () => {
  const page = await open(browser, `${disk}#tab=glossary`);
  const entries = await page.evaluate(() => document.querySelectorAll("#glossary .entry").length);
  that(entries >= 20, `${entries} entries in the glossary`);
  const broken = [];
  for (const tab of ["glossary", "tour"]) {
    await follow(page, `#tab=${tab}`);
    const links = await page.evaluate((tab) => [...new Set([...document.querySelectorAll(`#${tab} a[href^="#"]`)].map((a) => a.getAttribute("href")))], tab);
    for (const link of links) {
      await page.evaluate((link) => { location.hash = link; }, link);
      await settle(page);
      const said = await page.evaluate(() => [...document.querySelectorAll("main section:not([hidden]) .error")].map((e) => e.textContent).filter(Boolean).join(" "));
      if (said) broken.push(`${link}: ${said}`);
    }
  }
  that(broken.length === 0, broken.join("\n"));
  calm(page);
  await page.close();
  return `${entries} entries`;
});

check("claims are measured in it, one after the other", async () => {
  const { groups } = JSON.parse(native(["prove", "--list", "--json"]).text);
  const names = groups.flatMap((g) => g.claims).map((c) => c.name);
  const page = await open(browser, `${disk}#tab=claims`);
  const there = await page.evaluate(() => [...document.querySelectorAll("#claims [data-claim]")].map((e) => e.dataset.claim));
  that(JSON.stringify(there) === JSON.stringify(names), `the page has ${there}`);
  await page.evaluate(() => document.querySelector("#claims button").click());
  const [group] = groups;
  const verdicts = await until(page, (n) => {
    const found = [...document.querySelectorAll("#claims [data-claim]")].slice(0, n).map((e) => e.querySelector(".badge, .error")?.textContent);
    return found.every(Boolean) && found;
  }, group.claims.length, 60000);
  const told = JSON.parse(native(["prove", group.name, "--json"]).text).claims.map((c) => c.verdict_text);
  const both = group.claims.map((c, i) => i).filter((i) => !(group.claims[i].every_row && registry.lacking.length));
  that(both.every((i) => verdicts[i] === told[i]), `${verdicts}; native ${told}`);
  calm(page);
  await page.close();
  return `${names.length} claims`;
});
