// SPDX-License-Identifier: MIT
//
// The numbers of the page are those of the native library.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { calm, check, follow, open, skip, that, until } from "./page.mjs";
import { browser, disk, lab, native, posenc, registry, web } from "./setup.mjs";
import { sameBits } from "./tools.mjs";

/** As the page prints a number of the tool. */
const shown = (x) => (x === null || Number.isNaN(x) ? "" : String(Number(x.toPrecision(6))));

/** The same but for the last of six digits: exp differs between libraries by a rounding, which can move that digit. */
const alike = (a, b) => a === b || (a !== "" && b !== "" && Math.abs(a - b) <= 1.01e-5 * Math.max(Math.abs(a), Math.abs(b)));

check("the numbers it shows are the native library's, for every row", async () => {
  const page = await open(browser, lab);
  let compared = 0;
  for (const row of registry.encodings) {
    const shape = ["--heads", "4", "--head-dim", "16", "--model-dim", "32"];
    const { views } = JSON.parse(native(["show", row.name, "--list", "--json", ...shape]).text);
    for (const view of views.filter((v) => v.fits.length > 0).map((v) => v.name)) {
      await follow(page, `#a=${row.name}&view=${view}&heads=4&dim=16&model=32&n=12&at=5`);
      const said = await until(page, () => document.querySelector("#pictures svg") ? " " : [...document.querySelectorAll("#pictures .error")].map((e) => e.textContent).join(""));
      const pictures = await page.evaluate(async () => {
        const folds = [...document.querySelectorAll("#pictures details.numbers:not([open])")];
        await Promise.all(folds.map((fold) => new Promise((done) => {
          fold.addEventListener("toggle", done, { once: true }); // after the page's own listener, which fills the table
          fold.open = true;
        })));
        return [...document.querySelectorAll("#pictures figure")].map((f) =>
          [...f.querySelectorAll("table.values tbody td")].map((td) => td.textContent));
      });
      const command = await page.evaluate(() => document.querySelector("#explore pre").textContent.split("\n")[0]);
      const args = spawnSync("bash", ["-c", `printf '%s\\n' ${command.replace(/^posenc /, "")}`]).stdout.toString().trim().split("\n");
      const asked = said === " " || args.includes("--length") ? args : [...args, "--length", "12"]; // the page soon leaves a length away that is refused
      const ran = native([...asked, "--as", "json"]);
      if (said !== " ") { // refused here: refused there, in the same words
        that(ran.code !== 0 && ran.err.includes(said), `${command}: ${said}; native: ${ran.code} ${ran.err}`);
        continue;
      }
      that(ran.code === 0, `${command}: ${ran.err}`);
      const figures = JSON.parse(ran.text).figures;
      that(figures.length === pictures.length, `${command}: ${figures.length} figures, ${pictures.length} on the page`);
      figures.forEach((f, i) => {
        const wanted = numbersOf(f);
        const same = pictures[i].filter((t, k) => alike(t, wanted[k])).length;
        that(pictures[i].length > 0 && same === pictures[i].length,
          `${command}: figure ${i}: ${pictures[i].length - same} of ${pictures[i].length} numbers differ, first ${pictures[i].find((t, k) => !alike(t, wanted[k]))} for ${wanted[pictures[i].findIndex((t, k) => !alike(t, wanted[k]))]}`);
        compared += same;
      });
    }
  }
  calm(page);
  await page.close();
  return `${compared} numbers`;
});

/** The numbers of a figure of `posenc show --as json`, as the page's table has them: row by row. */
function numbersOf(figure) {
  if (figure.values) return figure.values.flat().map((x) => (x === null ? "" : shown(Math.fround(x))));
  const lines = figure.series;
  if (figure.kind === "dials") return lines.flatMap((l) => l.cos.slice(0, 128).flatMap((cos, i) => [shown(cos), shown(l.sin[i])]));
  const shared = lines.every((l) => JSON.stringify(l.x) === JSON.stringify(lines[0].x));
  if (!shared) return lines.flatMap((l) => l.y.slice(0, 128).map(shown));
  return lines[0].x.slice(0, 128).flatMap((_, i) => lines.map((l) => shown(l.y[i])));
}

// ---------------------------------------------------------------- at full precision

/** The page's own door to the tool, as a script: by esbuild, where npm brought it. Nothing of it is in the page. */
async function door() {
  const esbuild = await import("esbuild").catch(() => null);
  if (!esbuild) return null;
  const made = await esbuild.build({ entryPoints: [join(web, "src", "tool.ts")], bundle: true, write: false, format: "iife", globalName: "door" });
  return `${made.outputFiles[0].text};window.door = door;null`;
}

const script = await door();
if (script)
  check("tables are, in the browser, the native bits", async () => {
    const page = await open(browser, lab);
    await page.evaluate(script);
    await page.evaluate(async () => { window.tool = window.door.toolOf(await window.door.loadModule()); return null; });
    let bytes = 0;
    for (const row of registry.encodings.filter((r) => sameBits.has(r.name)))
      for (const spec of row.examples)
        for (const hook of row.hooks.filter((h) => h === "embed" || h === "rotate"))
          for (const type of ["f32", "f64"]) {
            const args = ["table", spec, "--hook", hook, "-n", "9", "--dtype", type, "-o", "-"];
            const ran = spawnSync(posenc, args, { maxBuffer: 1 << 28 });
            if (ran.status !== 0) continue; // coordinates come from files
            const here = await page.evaluate((args) => { const { out } = window.tool.run(args); let s = ""; for (const b of out) s += String.fromCharCode(b); return btoa(s); }, args);
            that(here === ran.stdout.toString("base64"), `${args.join(" ")}: other bits`);
            bytes += ran.stdout.length;
          }
    await page.close();
    that(bytes > 1e5, `${bytes} bytes`);
    return `${bytes} bytes`;
  });
else skip("tables bit for bit in the browser: esbuild comes with npm ci");
