// SPDX-License-Identifier: MIT
//
// node page.spec.mjs POSENC CHROMIUM SCREENS: the page in a real browser, as people use it, story by story.
import { rmSync } from "node:fs";
import { account, proveAll } from "./page.mjs";
import { browser, work } from "./setup.mjs";

console.log(browser.by);
for (const story of ["opens", "controls", "numbers", "reads", "keyboard", "copy", "model", "tour"]) await import(`./story_${story}.mjs`);
await proveAll(Number(process.env.JOBS ?? 3));
for (const story of ["work", "screens"]) await import(`./story_${story}.mjs`);
await proveAll(1);
await browser.close();
rmSync(work, { recursive: true, force: true });
console.log(`${account.passed} passed, ${account.failed} failed, ${account.skipped} skipped`);
process.exit(account.failed ? 1 : 0);
