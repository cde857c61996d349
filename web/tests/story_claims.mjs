// SPDX-License-Identifier: MIT
//
// The claims of the literature, measured in the page.
import { calm, check, open, that, until } from "./page.mjs";
import { browser, disk, native, registry } from "./setup.mjs";

check("claims are measured in it, one after the other", async () => {
  const { groups } = JSON.parse(native(["prove", "--list", "--json"]).text);
  const names = groups.flatMap((g) => g.claims).map((c) => c.name);
  const page = await open(browser, `${disk}#tab=claims`);
  const there = await page.evaluate(() => [...document.querySelectorAll("#claims [data-claim]")].map((e) => e.dataset.claim));
  that(JSON.stringify(there) === JSON.stringify(names), `the page has ${there}`);
  const built = await until(page, (n) => {
    const all = [...document.querySelectorAll("#claims .claim .badge")].map((e) => e.textContent);
    return all.length === n && all;
  }, names.length);
  const when = await page.evaluate(() => [...new Set([...document.querySelectorAll("#claims .claim .when")].map((e) => e.firstChild.textContent))]);
  that(String(when) === "measured when this page was built", `not as the page was built: ${when}`);
  that(await page.evaluate(() => document.querySelectorAll('#claims .source a[href^="https://arxiv.org/abs/"]').length) > 30, "no links to papers");
  const refuted = built.filter((v) => v === "REFUTED").length;
  await page.evaluate(() => document.querySelector("#claims button.tally.bad").click());
  that(refuted === await page.evaluate(() => [...document.querySelectorAll("#claims .claim")].filter((c) => c.offsetParent).length), "the filter shows other claims");
  await page.evaluate(() => document.querySelector("#claims button.tally.bad").click());
  const trained = await page.evaluate(async () => {
    const claim = document.querySelector("#claims [data-claim=trained-table]"), badge = claim.querySelector(".badge").textContent;
    claim.querySelector("button").click();
    await window.settled(true);
    return [claim.querySelector(".error").textContent, claim.querySelector(".badge").textContent === badge];
  });
  that(/posenc prove trained-table/.test(trained[0]) && trained[1], `what it cannot measure: ${trained}`);
  await page.evaluate(() => document.querySelector("#claims button").click());
  const [group] = groups;
  const verdicts = await until(page, (n) => {
    const first = [...document.querySelectorAll("#claims [data-claim]")].slice(0, n);
    return first.every((e) => e.querySelector(".again, .error")) && first.map((e) => e.querySelector(".badge, .error").textContent);
  }, group.claims.length);
  const told = JSON.parse(native(["prove", group.name, "--json"]).text).claims.map((c) => c.verdict_text);
  const both = group.claims.map((c, i) => i).filter((i) => !(group.claims[i].every_row && registry.lacking.length));
  that(both.every((i) => verdicts[i] === told[i]), `${verdicts}; native ${told}`);
  calm(page);
  await page.close();
  return `${names.length} claims`;
});
