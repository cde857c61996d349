// SPDX-License-Identifier: MIT
//
// The trained models run in the page, and say there what they say in the native tool.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calm, check, open, settle, skip, that } from "./page.mjs";
import { browser, disk, native, web, work } from "./setup.mjs";
import { wasmTool } from "./tools.mjs";

const models = join(web, "..", "models");
if (existsSync(join(models, "rope-1.safetensors"))) {
  check("the attention of the reader's sentence is a trained model's, and layers and heads differ", async () => {
    const page = await open(browser, `${disk}#tab=story&step=trained`);
    await page.evaluate(async () => { for (const d of document.querySelectorAll("#scene-trained .demo")) { d.scrollIntoView(); await window.settled(true); } });
    const demo = page.locator("#scene-trained .demo").nth(1), numbers = () => demo.locator(".output.picture canvas").first().evaluate((c) => c.toDataURL());
    await demo.locator("input[type=text]").fill("a dog");
    await settle(page, "all");
    const first = await numbers();
    that(/untrained/.test(await demo.locator("svg").first().evaluate((s) => s.textContent)) === false, "it says untrained");
    await demo.locator("input[type=range]").nth(1).fill("2");
    await settle(page, "all");
    that((await numbers()) !== first, "another head looks the same");
    calm(page);
    await page.close();
  });

  check("the mean loss is the native tool's", async () => {
    const tool = wasmTool(join(web, "posenc.html"), work), said = [];
    writeFileSync(join(work, "nine.txt"), readFileSync(join(models, "text.txt")).subarray(0, 9000));
    for (const name of ["rope-1.safetensors", "alibi-1.safetensors"]) {
      copyFileSync(join(models, name), join(work, name));
      const ran = tool.run(["read", name, "--text", "nine.txt", "--length", "128"]);
      that(ran.code === 0, ran.err);
      const { y } = JSON.parse(ran.out).figures[0].points[0], here = y.reduce((a, b) => a + b) / y.length;
      const there = native(["eval", name, "--text", "nine.txt", "--lengths", "128", "--windows", "4", "--extend", "none", "--json"]);
      that(there.code < 2, there.err);
      const { mean } = JSON.parse(there.text).entries[0].tests[0].bits;
      that(Math.abs(mean - here) < 1e-4, `${name}: ${here} here, ${mean} in posenc eval`); // other matrix products: other roundings
      said.push(`${name} ${here.toFixed(4)}`);
    }
    return said.join(", ");
  });

  check("past the trained length RoPE falls apart, T5 does not, NTK helps, a table ends", async () => {
    const page = await open(browser, `${disk}#tab=story&step=trained`);
    await page.evaluate(() => document.querySelector("#scene-trained .demo").scrollIntoView());
    await settle(page, "all");
    const demo = page.locator("#scene-trained .demo").first();
    for (const box of await demo.locator("input[type=checkbox]").all()) await box.check();
    await settle(page, "all");
    await demo.locator("details.numbers summary").click().catch(() => {});
    const caption = await demo.locator("figcaption").first().textContent(), lines = await demo.locator("svg.drawing").first().evaluate((s) => s.textContent);
    that(/learned/.test(caption) && /alibi/.test(lines) && /t5/.test(lines), `${caption}; ${lines.slice(0, 200)}`);
    const said = async () => Number(/([\d.]+) bits per byte/.exec(await demo.locator(".bytes + p").textContent())?.[1]);
    const asTrained = await said();
    await demo.locator("select").first().selectOption("ntk");
    await settle(page, "all");
    const ntk = await said(), heading = await demo.locator("h3:not(.hidden)").textContent();
    that(heading === "What rope + NTK makes of the end of a text of 512 bytes", heading);
    await demo.locator("select").nth(1).selectOption({ label: "t5:direction=causal" });
    await settle(page, "all");
    const t5 = await said();
    that(asTrained > ntk + 0.5 && ntk > t5, `bits at the end of 512 bytes: RoPE ${asTrained}, NTK ${ntk}, T5 ${t5}`);
    calm(page);
    await page.close();
    return `at the end of 512 bytes: RoPE ${asTrained}, NTK ${ntk}, T5 ${t5}`;
  });
} else skip("models/ is not there");
