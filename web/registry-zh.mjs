// SPDX-License-Identifier: MIT
// posenc list --json | node web/registry-zh.mjs: the table of encodings of README.zh-CN.md; what has no Chinese stays in
// English. Needs node alone.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The exported tables of src/registry.zh.ts, whose types stand only in front of `= {`, in functions and in imports. */
export async function registryWords() {
  const plain = readFileSync(new URL("src/registry.zh.ts", import.meta.url), "utf8")
    .replace(/^import type .*\n/gm, "")
    .replace(/^export function [^]*?^}\n/gm, "")
    .replace(/^export const (\w+): [^]*? = \{$/gm, "export const $1 = {");
  return import("data:text/javascript," + encodeURIComponent(plain));
}

export async function markdown(list) {
  const { registryZh, hookWords, ideaWords } = await registryWords();
  const zh = (text) => (registryZh[text] ?? text).replace(/_/g, "\\_");
  const paper = (r) => (r.arxiv ? `[${zh(r.paper)}](https://arxiv.org/abs/${r.arxiv})` : zh(r.paper));
  const row = (r) => [
    `\`${r.name}\``, zh(r.summary), r.hooks.map((h) => hookWords[h]?.name.zh ?? h).join("、") || "-", paper(r),
    r.models.map(zh).join("、") || "-",
  ];
  const head = [["名称", "做什么", "作用点", "出处", "使用者"], Array(5).fill("---")];
  const table = (cells) => cells.map((line) => `|${line.map((c) => (c === "---" ? c : ` ${c} `)).join("|")}|\n`).join("");
  const groups = list.ideas.filter(({ idea }) => list.encodings.some((r) => r.idea === idea)).map(({ idea, advice }) => {
    const rows = list.encodings.filter((r) => r.idea === idea).map(row);
    return `## ${ideaWords[idea]?.name.zh ?? idea}\n\n${ideaWords[idea]?.about.zh ?? advice}\n\n${table([...head, ...rows])}`;
  });
  return groups.join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(await markdown(JSON.parse(readFileSync(0, "utf8"))));
