// SPDX-License-Identifier: MIT
//
// The trained models run in the page, and say there what they say in the native tool.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calm, check, open, settle, skip, that } from "./page.mjs";
import { browser, disk, native, web, work } from "./setup.mjs";
import { wasmTool } from "./tools.mjs";

const models = join(web, "..", "models");

/** The float32 numbers of a tensor of a file. */
function tensor(file, name) {
  const bytes = readFileSync(join(models, file)), size = Number(bytes.readBigUInt64LE(0)), { data_offsets: [from, to] } = JSON.parse(bytes.subarray(8, 8 + size))[name];
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + 8 + size + from, bytes.byteOffset + 8 + size + to));
}

/** The values of the cells of a figure. */
const cells = ({ cells: [{ values }] }) => new Float32Array(new Uint8Array(Buffer.from(values, "base64")).buffer);

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

  check("the four terms of a trained model add up to the scores of its attention", async () => {
    const tool = wasmTool(join(web, "posenc.html"), work), text = "the dog, the dog", n = text.length, said = [];
    writeFileSync(join(work, "short.txt"), text);
    for (const name of ["sinusoidal-1.safetensors", "learned-1.safetensors"])
      for (const head of ["0", "3"]) {
        copyFileSync(join(models, name), join(work, name));
        const ask = (view) => { const ran = tool.run(["read", name, "--text", "short.txt", "--view", view, "--head", head]); that(ran.code === 0, ran.err); return JSON.parse(ran.out).figures; };
        const terms = ask("terms").map(cells), [weights] = ask("attention").map(cells);
        that(terms.length === 4, `${terms.length} terms`);
        let off = 0;
        for (let i = 0; i < n; i++) {
          const power = Array.from({ length: i + 1 }, (_, j) => Math.exp(terms.reduce((sum, t) => sum + t[i * n + j], 0))), all = power.reduce((a, b) => a + b);
          power.forEach((p, j) => { off = Math.max(off, Math.abs(p / all - weights[i * n + j])); });
        }
        that(off < 1e-4, `${name}, head ${head}: the softmax of the four is off by ${off}`); // of float32 products
        said.push(off.toExponential(1));
      }
    copyFileSync(join(models, "rope-1.safetensors"), join(work, "rope-1.safetensors"));
    const none = tool.run(["read", "rope-1.safetensors", "--text", "short.txt", "--view", "terms"]);
    that(none.code !== 0 && /rope adds no code/.test(none.err), none.err);
    return `off by ${said.join(", ")}`;
  });

  check("what T5 adds by distance is what it learned, and ALiBi's lines stand beside it on one scale", async () => {
    const tool = wasmTool(join(web, "posenc.html"), work), names = ["alibi-1.safetensors", "t5-1.safetensors"];
    for (const name of names) copyFileSync(join(models, name), join(work, name));
    writeFileSync(join(work, "nine.txt"), readFileSync(join(models, "text.txt")).subarray(0, 9000));
    const ran = tool.run(["read", ...names, "--text", "nine.txt", "--view", "bias", "--layer", "1", "--length", "32", "--names", "ALiBi,T5"]);
    that(ran.code === 0, ran.err);
    const [alibi, t5] = JSON.parse(ran.out).figures, table = tensor("t5-1.safetensors", "layer.1.position.table");
    that(alibi.title === "ALiBi" && t5.title === "T5", `${alibi.title}, ${t5.title}`);
    for (let h = 0; h < 4; h++)
      for (let d = 0; d < 16; d++) { // a bucket each
        that(Math.abs(t5.points[h].y[d] - table[4 * d + h]) < 1e-6, `T5, head ${h}, distance ${d}: ${t5.points[h].y[d]}; the file has ${table[4 * d + h]}`);
        that(Math.abs(alibi.points[h].y[d] + d / 4 ** (h + 1)) < 1e-6, `ALiBi, head ${h}, distance ${d}: ${alibi.points[h].y[d]}`);
      }
    const scale = ({ points }) => { const [a, b] = [[0, 0], [1, 9]].map(([h, d]) => [points[h].y[d], points[h].py[d]]); return (a[1] - b[1]) / (a[0] - b[0]); };
    that(Math.abs(scale(alibi) - scale(t5)) < 1e-3 * Math.abs(scale(t5)), `pixels of 1: ${scale(alibi)}, ${scale(t5)}`);
    const page = await open(browser, `${disk}#a=rope`);
    await page.locator(".starts a", { hasText: "ALiBi" }).click();
    await settle(page, "all");
    const demo = page.locator("#scene-terms .demo", { hasText: "Nobody told T5" });
    that(Math.abs(await demo.evaluate((d) => d.getBoundingClientRect().top)) < 60 && (await demo.locator("svg.drawing").count()) === 2, "the lab's link does not lead to the figure");
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
    const caption = await demo.locator("figcaption").first().textContent(), lines = await demo.locator("svg.drawing").first().evaluate((s) => s.textContent);
    that(/learned table/.test(caption) && /ALiBi/.test(lines) && /T5/.test(lines), `${caption}; ${lines.slice(0, 200)}`);
    const said = async () => Number(/([\d.]+) bits per byte/.exec(await demo.locator(".bytes + p").first().textContent())?.[1]);
    const asTrained = await said();
    await demo.locator("select").first().selectOption("ntk");
    await settle(page, "all");
    const ntk = await said(), heading = await demo.locator("h3:not(.hidden)").first().textContent();
    that(heading === "What RoPE + NTK makes of the end of a text of 512 bytes", heading);
    const plain = await demo.locator("svg.drawing").first().evaluate((s) => ({ text: s.textContent, dashed: s.querySelectorAll("[stroke-dasharray]").length }));
    that(/RoPE \+ NTK/.test(plain.text) && /RoPE(?! \+)/.test(plain.text) && plain.dashed > 1, `plain RoPE is not dashed beside the changed one: ${plain.dashed}`);
    that((await demo.locator(".bytes").count()) === 2, "two texts");
    await demo.locator("select").nth(1).selectOption({ label: "T5" });
    await settle(page, "all");
    const t5 = await said();
    that(asTrained > ntk + 0.5 && ntk > t5, `bits at the end of 512 bytes: RoPE ${asTrained}, NTK ${ntk}, T5 ${t5}`);
    await demo.locator("select").first().selectOption("yarn");
    await settle(page, "all");
    const link = await page.evaluate(async () => { await new Promise((done) => setTimeout(done, 500)); return location.hash; });
    const again = await open(browser, disk + link);
    await again.evaluate(() => document.querySelector("#scene-trained .demo").scrollIntoView());
    await settle(again, "all");
    const kept = await again.locator("#scene-trained .demo").first().evaluate((d) => [...d.querySelectorAll("select, input[type=checkbox]")].map((e) => (e.type === "checkbox" ? e.checked : e.value)).join());
    that(kept === "true,true,true,true,true,true,true,yarn,t5,alibi", `the link keeps ${kept}`);
    await again.close();
    calm(page);
    await page.close();
    return `at the end of 512 bytes: RoPE ${asTrained}, NTK ${ntk}, T5 ${t5}`;
  });
} else skip("models/ is not there");
