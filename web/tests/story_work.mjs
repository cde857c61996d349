// SPDX-License-Identifier: MIT
//
// What a redraw costs.
import { calm, check, open, that } from "./page.mjs";
import { browser, disk } from "./setup.mjs";

/** Milliseconds of the CPU that scripts of the page have taken: whoever else uses this machine does not count. */
async function scriptTime(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * metrics.find((m) => m.name === "ScriptDuration").value;
}

/** In the page: thirty changes, each waited for: the commands that they took and the redraws. A change is of the spec, or of the
 *  length. A machine that is busy draws in a worker, some frames later. */
async function thirty({ spec, row }) {
  const field = spec ? document.querySelector(".side-a input.spec") : document.querySelector(".strip input[type=range]");
  const commands = [];
  let redraws = 0;
  for (let i = 0; i < 30; i++) {
    performance.clearMeasures("command");
    performance.clearMeasures("redraw");
    field.value = spec ? `${row}:theta=${10000 + 1000 * i}` : String(Number(field.min) + ((Number(field.max) - Number(field.min)) * (20 + i)) / 60);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await window.settled();
    commands.push(performance.getEntriesByName("command").map((e) => ({ list: e.detail.args.includes("--list"), bytes: e.detail.bytes, line: e.detail.args.join(" ") })));
    redraws += performance.getEntriesByName("redraw").length;
  }
  return { commands, redraws };
}

const drawn = [["rope", "#a=rope&view=table&n=512&dim=128"], ["sinusoidal", "#a=sinusoidal&view=table&n=512&model=128"],
  ["rope", "#a=rope&b=rope%3Apairs%3Dadjacent&view=table&n=512&dim=128"]];
for (const [row, link] of drawn)
  check(`a redraw of ${link} is one command`, async () => {
    const page = await open(browser, disk + link), figures = link.includes("&b=") ? 2 : 1;
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.evaluate(thirty, { spec: true, row });
    const before = await scriptTime(session), { commands, redraws } = await page.evaluate(thirty, { spec: true, row: `${row}` });
    const each = ((await scriptTime(session)) - before) / 30;
    that(redraws <= 31, `${redraws} redraws for 30 changes`);
    for (const of of commands) {
      that(of.filter((c) => c.list).length <= 1 && of.filter((c) => !c.list).length <= 1, `one change took ${of.map((c) => c.line).join("; ")}`);
      for (const p of of) that(p.bytes < figures * 700_000, `a picture of ${figures} x 512 x 128 takes ${p.bytes} bytes`);
    }
    that(commands.filter((of) => of.length).length >= 25, "too few changes were drawn");
    const slid = await page.evaluate(thirty, { spec: false, row });
    const slides = slid.commands.flat(); // a length that makes the picture too tall: anew, narrower
    that(slides.length <= 45, `30 moves of a slider took ${slides.length} commands: ${slides.slice(0, 4).map((c) => c.line).join("; ")}`);
    calm(page);
    await page.close();
    return `${each.toFixed(1)} ms of script (16 are meant), ${Math.max(...commands.flat().map((c) => c.bytes))} bytes`;
  });
