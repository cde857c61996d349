// SPDX-License-Identifier: MIT
//
// A model's own file.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calm, check, follow, open, settle, that } from "./page.mjs";
import { browser, disk, native, web, work } from "./setup.mjs";

check("a config.json that is dropped shows what explain says", async () => {
  const config = readFileSync(join(web, "..", "examples", "llama-3.1-8b", "config.json"), "utf8");
  writeFileSync(join(work, "config.json"), config);
  const said = JSON.parse(native(["explain", join(work, "config.json"), "--json"]).text);
  const page = await open(browser, `${disk}#tab=model`);
  await page.evaluate((config) => {
    const data = new DataTransfer();
    data.items.add(new File([config], "config.json", { type: "application/json" }));
    document.querySelector("#model .drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, config);
  await settle(page);
  const text = await page.evaluate(() => document.querySelector("#model").textContent);
  for (const part of said.parts)
    for (const group of part.groups) that(text.includes(group.spec), `${group.spec} is not in: ${text.slice(0, 300)}`);
  that(text.includes(String(said.parts[0].trained)), "the trained length");
  const bad = await page.evaluate(async () => {
    const area = document.querySelector("#model textarea");
    area.value = '{"model_type": ';
    area.dispatchEvent(new Event("input", { bubbles: true }));
    await window.settled(true);
    return document.querySelector("#model .error")?.textContent ?? "";
  });
  that(bad.includes("config.json"), `a broken file: ${bad}`);
  calm(page);
  await page.close();
});

/** In the page: a file of this text is let go over the element. Says whether the browser would have opened it itself. */
async function dropOn({ selector, text, size }) {
  const data = new DataTransfer();
  data.items.add(new File([text ?? new Uint8Array(size)], "config.json", { type: "application/json" }));
  const event = (type) => new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
  const at = document.querySelector(selector), left = [at.dispatchEvent(event("dragover")), at.dispatchEvent(event("drop"))];
  await window.settled();
  const area = document.querySelector("#model textarea");
  return { left: left.some(Boolean), hidden: document.getElementById("model").hidden, said: document.querySelector("#model .error")?.textContent ?? "",
    groups: document.querySelectorAll("#model .spec-cell").length, echoed: area.value.length };
}

check("a file dropped beside the box is taken too, wherever the reader is", async () => {
  const page = await open(browser, `${disk}#tab=explore`);
  const text = '{"model_type": "bloom", "hidden_size": 4096, "n_head": 32, "n_layer": 30}';
  for (const selector of ["#pictures", "footer", "#top"]) {
    await follow(page, "#tab=explore");
    const got = await page.evaluate(dropOn, { selector, text });
    that(!got.left && !got.hidden && !got.said && got.groups === 1, `${selector}: ${JSON.stringify(got)}`);
  }
  const empty = await page.evaluate(dropOn, { selector: "footer", text: "" });
  that(empty.said.includes("empty") && empty.groups === 0, JSON.stringify(empty));
  const large = await page.evaluate(dropOn, { selector: "footer", size: 30 << 20 });
  that(large.said.includes("1 MiB") && large.echoed === 0, JSON.stringify(large));
  const padded = await page.evaluate(dropOn, { selector: "footer", text: text + " ".repeat(500000) });
  that(!padded.said && padded.groups === 1 && padded.echoed === 0, `read and not echoed: ${JSON.stringify(padded)}`);
  calm(page);
  await page.close();
});
