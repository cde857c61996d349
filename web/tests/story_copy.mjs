// SPDX-License-Identifier: MIT
//
// What is copied runs, and gives the numbers of the page.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { calm, check, follow, open, settle, that } from "./page.mjs";
import { browser, disk, posenc, web, work } from "./setup.mjs";

async function copied(page, name) {
  await page.evaluate((name) => document.querySelector(`#explore [role=tab][data-name=${name}]`).click(), name);
  await settle(page);
  return page.evaluate(() => document.querySelector("#explore pre").textContent);
}

check("what it copies runs", async () => {
  const page = await open(browser, `${disk}#a=rope%3Atheta%3D500000&n=32`);
  const build = process.env.POSENC_BUILD;
  for (const spec of ["rope:theta=500000", "sinusoidal", "alibi", "t5", "shaw", "rope:axes=2,split=axial", "none"]) {
    await follow(page, `#a=${encodeURIComponent(spec)}&n=32`);
    const env = { ...process.env, PATH: `${work}:${process.env.PATH}` };
    const lines = await copied(page, "cli");
    writeFileSync(join(work, "posenc"), `#!/bin/sh\nexec "${posenc}" "$@"\n`, { mode: 0o755 });
    const shell = spawnSync("bash", ["-euc", lines], { cwd: work, env });
    that(shell.status === 0 || shell.status === 1, `${lines}${shell.stderr}`);
    writeFileSync(join(work, "try.c"), await copied(page, "c"));
    const cc = spawnSync(process.env.CC ?? "cc", ["-std=c11", "-Wall", "-Werror", `-I${join(web, "..", "include")}`, "try.c",
      ...(build ? [join(build, "libposenc.a"), "-lm", "-pthread", "-o", "try"] : ["-c"])], { cwd: work });
    that(cc.status === 0, `${spec}: ${cc.stderr}`);
    if (build) that(spawnSync(join(work, "try")).status === 0, `${spec}: the C program fails`);
    writeFileSync(join(work, "try.py"), await copied(page, "python"));
    const python = spawnSync("python3", ["-m", "py_compile", "try.py"], { cwd: work });
    that(python.error || python.status === 0, `${spec}: ${python.stderr}`);
  }
  calm(page);
  await page.close();
});
