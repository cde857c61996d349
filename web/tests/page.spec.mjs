// SPDX-License-Identifier: MIT
//
// node page.spec.mjs POSENC CHROMIUM SCREENS STORY...: the page in a real browser, as people use it, story by story.
import { rmSync } from "node:fs";
import { account, proveAll } from "./page.mjs";
import { browser, work } from "./setup.mjs";

const stories = process.argv.slice(5), alone = ["held", "work", "screens"]; // which are disturbed by others at the same time
console.log(`Chromium ${browser.version()}, by Playwright`);
for (const [some, jobs] of [[stories.filter((s) => !alone.includes(s)), Number(process.env.JOBS ?? 3)], [stories.filter((s) => alone.includes(s)), 1]]) {
  for (const story of some) await import(`./story_${story}.mjs`);
  await proveAll(jobs);
}
await browser.close();
rmSync(work, { recursive: true, force: true });
console.log(`${account.passed} passed, ${account.failed} failed, ${account.skipped} skipped`);
process.exit(account.failed ? 1 : 0);
