// SPDX-License-Identifier: MIT
// registry.test.mjs LIST.json: what web/src/registry.zh.ts says in Chinese, the registry (`posenc list --json`) says in
// English: an entry that nobody says fails. A text without Chinese is a note: it is shown in English. Needs node alone.
import { readFileSync } from "node:fs";
import { registryWords } from "../registry-zh.mjs";

const { registryZh, hookWords, claimWords, ideaWords } = await registryWords();
const list = JSON.parse(readFileSync(process.argv[2], "utf8"));
const rows = list.encodings;
const citation = /^[A-Z]\S+ et al\. \d{4}$/; // "Su et al. 2021"
const name = /^[A-Z][\w.-]*( \d+)?( [A-Z]\w*)*$/; // "GPT-NeoX", "Music Transformer"

const said = new Set([
  ...rows.map((r) => r.summary),
  ...rows.flatMap((r) => r.keys.map((k) => k.help)),
  ...rows.flatMap((r) => r.tensors.map((t) => t.about)),
  ...rows.map((r) => r.paper).filter((p) => !citation.test(p)),
  ...rows.flatMap((r) => r.models).filter((m) => !name.test(m) && / /.test(m)),
]);
const wrong = [], notes = [];
const both = (what, wanted, table) => {
  for (const text of wanted) if (!(text in table)) notes.push(`${what}: no Chinese for: ${text}`);
  for (const text in table) if (!wanted.has(text)) wrong.push(`${what}: nobody says: ${text}`);
};
both("registryZh", said, registryZh);
both("hookWords", new Set(list.hooks), hookWords);
both("claimWords", new Set(list.claims), claimWords);
both("ideaWords", new Set(list.ideas.map((i) => i.idea)), ideaWords);
for (const { idea, advice } of list.ideas) if (idea in ideaWords && ideaWords[idea].about.en !== advice) wrong.push(`ideaWords: nobody says: ${ideaWords[idea].about.en}`);
for (const [text, zh] of Object.entries(registryZh))
  if (!/[^\x00-\x7f]/.test(zh) && zh === text) notes.push(`registryZh: the same in both languages: ${text}`);
for (const table of [hookWords, claimWords, ideaWords])
  for (const [key, w] of Object.entries(table))
    for (const words of [w.name, w.about]) if (!words.en || !/[\u4e00-\u9fff]/.test(words.zh)) wrong.push(`${key}: not in both languages`);

for (const line of notes) console.log(`note: ${line}`);
for (const line of wrong) console.log(`FAILED: ${line}`);
console.log(`${said.size} texts, ${list.hooks.length} hooks, ${list.claims.length} claims; ${notes.length} not in Chinese, ${wrong.length} wrong`);
process.exit(wrong.length ? 1 : 0);
