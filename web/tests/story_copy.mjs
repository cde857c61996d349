// SPDX-License-Identifier: MIT
//
// What is copied runs, and gives the numbers of the page.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { calm, check, follow, open, settle, that, until } from "./page.mjs";
import { browser, disk, lab, posenc, registry, web, work } from "./setup.mjs";

/** Runs a program in the tests' folder. It is not waited for in a way that stops the tests beside it. */
function ran(program, args, env = process.env) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: work, env, stdio: ["ignore", "pipe", "pipe"] }), text = { stdout: "", stderr: "" };
    for (const to of ["stdout", "stderr"]) child[to].on("data", (piece) => { text[to] += piece; });
    child.on("error", (error) => done({ error, ...text }));
    child.on("close", (status, signal) => done({ status: status ?? signal, ...text }));
  });
}

async function copied(page, name) {
  await page.evaluate((name) => document.querySelector(`#explore [role=tab][data-name=${name}]`).click(), name);
  await settle(page);
  return page.evaluate(() => document.querySelector("#explore pre").textContent);
}

/** What is printed behind "cos", "code" and "bias", by a program or by the tool's own tables (the row of position 1). */
function numbersIn(text) {
  const said = {};
  for (const [, what, numbers] of text.matchAll(/^(code|cos|bias) (.+)$/gm)) said[what] = numbers.trim().split(/\s+/).map(Number);
  return said;
}

/** The same of what the command lines print: a table in short, or a picture's JSON. */
async function printedBy(lines, env) {
  const said = {};
  for (const line of lines.trim().split("\n").slice(2).filter((l) => !l.includes(".npy"))) {
    const { status, stdout: text, stderr } = await ran("bash", ["-euc", line], env);
    that(status === 0, `${line}: ${status}: ${stderr}`);
    const what = / bias /.test(line) ? "bias" : /--hook embed/.test(line) ? "code" : "cos";
    if (!line.includes("--json")) said[what] = /^ +1 +(.+)$/m.exec(text)[1].trim().split(/\s+/).slice(0, 4).map(Number);
    else JSON.parse(text).figures.forEach((f) => { said[f.caption.includes("rotation") ? "cos" : what === "bias" ? what : "code"] = f.values[1].slice(0, 4); });
  }
  return said;
}

function agree(a, b, digits, what) {
  that(JSON.stringify(Object.keys(a)) === JSON.stringify(Object.keys(b)), `${what}: ${JSON.stringify(a)} | ${JSON.stringify(b)}`);
  for (const [name, numbers] of Object.entries(a))
    numbers.forEach((x, i) => that(Math.abs(x - b[name][i]) <= 1.001 * 10 ** -digits * Math.max(Math.abs(x), 1e-3), `${what}: ${name} ${numbers} | ${b[name]}`));
}

async function runCopied(page, spec) {
  const env = { ...process.env, PATH: `${work}:${process.env.PATH}` }, build = process.env.POSENC_BUILD;
  const lines = await copied(page, "cli");
  const shell = await ran("bash", ["-uc", lines.trim().split("\n").map((l) => `${l} || [ $? = 1 ] || exit 9`).join("\n")], env);
  that(shell.status === 0, `${lines}${shell.status}: ${shell.stderr}`);
  writeFileSync(join(work, "try.py"), await copied(page, "python"));
  const python = await ran("python3", ["try.py"], env); // it needs the tool and Python's own modules
  that(python.error || python.status === 0, `${spec}: ${python.status}: ${python.stderr}`);
  writeFileSync(join(work, "try.c"), await copied(page, "c"));
  const cc = await ran(process.env.CC ?? "cc", ["-std=c11", "-Wall", "-Wextra", "-Werror", `-I${join(web, "..", "include")}`, "try.c",
    ...(build ? [join(build, "libposenc.a"), "-lm", "-pthread", "-o", "try"] : ["-c"])]);
  that(cc.status === 0, `${spec}: ${cc.status}: ${cc.stderr}`);
  if (!build) return 0;
  const made = await ran(join(work, "try"), []), c = numbersIn(made.stdout);
  that(made.status === 0, `${spec}: the C program: ${made.status}: ${made.stderr}`);
  if (!python.error) agree(c, numbersIn(python.stdout), 5, `${spec}: C | Python`);
  const told = await printedBy(lines, env);
  agree(c, told, 3, `${spec}: C | CLI`);
  return Object.values(c).flat().length;
}

check("what it copies runs: command, C and Python print the same numbers", async () => {
  const page = await open(browser, lab);
  writeFileSync(join(work, "posenc"), `#!/bin/sh\nexec "${posenc}" "$@"\n`, { mode: 0o755 });
  const more = ["rope:theta=500000", "rope:axes=2,split=axial", "learned:rows=16/16", "rope+alibi", "sinusoidal+rope+t5"];
  let numbers = 0;
  for (const spec of [...registry.encodings.map((r) => r.name), ...more]) {
    await follow(page, `#a=${encodeURIComponent(spec)}&n=32`);
    await settle(page, "all");
    const compared = await runCopied(page, spec);
    const hooks = registry.encodings.find((r) => r.name === spec)?.hooks ?? ["rotate"];
    const printed = hooks.some((h) => ["embed", "rotate", "bias"].includes(h)); // content and value have no table of their own
    that(compared > 0 || !process.env.POSENC_BUILD || !printed, `${spec}: no numbers`);
    numbers += compared;
  }
  await follow(page, "#a=learned%3Arows%3D16&b=alibi&n=300&view=table");
  await copied(page, "cli");
  const lines = await until(page, () => { const text = document.querySelector("#explore pre").textContent; return text.includes("300") ? "" : text; });
  that(/bias alibi/.test(lines), `B has no lines: ${lines}`);
  calm(page);
  await page.close();
  return `${numbers} numbers`;
});
