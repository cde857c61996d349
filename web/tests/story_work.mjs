// SPDX-License-Identifier: MIT
//
// What a redraw costs.
import { calm, check, open, that } from "./page.mjs";
import { browser, disk } from "./setup.mjs";

/** Milliseconds of the CPU that scripts of the page have taken: whoever else uses this machine does not count. */
async function scriptTime(page) {
  const { metrics } = await page.send("Performance.getMetrics");
  return 1000 * metrics.find((m) => m.name === "ScriptDuration").value;
}

for (const [row, width] of [["rope", "dim"], ["sinusoidal", "model"]])
  check(`a redraw of ${row} at 512 x 128 is one command`, async () => {
    const page = await open(browser, `${disk}#a=${row}&view=table&n=512&${width}=128`);
    await page.send("Performance.enable", { timeDomain: "threadTicks" });
    const redraw = (row) => page.evaluate(async (row) => {
      const frame = () => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
      const spec = document.querySelector(".side-a input.spec");
      performance.clearMeasures("redraw");
      for (let i = 0; i < 30; i++) {
        spec.value = `${row}:theta=${10000 + 1000 * i}`;
        spec.dispatchEvent(new Event("input", { bubbles: true }));
        await frame();
      }
      return performance.getEntriesByName("redraw").length;
    }, row);
    await redraw(row);
    const before = await scriptTime(page), count = await redraw(row), each = ((await scriptTime(page)) - before) / 30;
    that(count >= 25 && count <= 31, `${count} redraws for 30 changes`);
    that(each < 80, `${each.toFixed(1)} ms of script; 16 are meant, 80 are too many on any machine`);
    calm(page);
    await page.close();
    return `${each.toFixed(1)} ms of script (16 are meant)`;
  });
