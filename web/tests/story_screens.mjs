// SPDX-License-Identifier: MIT
//
// Screenshots, for a person to look at.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { calm, check, open, settle, that } from "./page.mjs";
import { browser, disk, screens } from "./setup.mjs";

check("screenshots of light, dark, phone and Chinese", async () => {
  mkdirSync(screens, { recursive: true });
  const shots = [
    ["light", "#a=rope&b=sinusoidal&view=table", { colorScheme: "light" }],
    ["dark", "#a=rope&b=rope%3Atheta%3D500000&view=decay", { colorScheme: "dark" }],
    ["phone", "#a=rope&view=table", { viewport: { width: 390, height: 844 } }],
    ["chinese", "#a=alibi&b=t5&view=bias&lang=zh", {}],
    ["story", "", {}],
    ["story-phone", "#lang=zh", { viewport: { width: 390, height: 844 } }],
  ];
  for (const [name, link, options] of shots) {
    const page = await open(browser, disk + link, { viewport: { width: 1280, height: 900 }, ...options });
    if (name === "phone") await page.evaluate(() => document.querySelector(".card").scrollIntoView());
    await settle(page, "all");
    const path = join(screens, `${name}.png`);
    await page.screenshot({ path });
    that(statSync(path).size > 10000, `${name}.png has ${statSync(path).size} bytes`);
    calm(page);
    await page.close();
  }
});
