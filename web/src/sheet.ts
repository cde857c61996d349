// SPDX-License-Identifier: MIT
//
// The cheat-sheet: every encoding in one table that can be printed: picture, formula, where it acts, which properties hold,
// what it costs, who uses it, when to choose it. Facts are the registry's, those of `posenc prove --properties`, and the race's of
// docs/results.md.

import type { App, Words } from "./app";
import { asset } from "./asset";
import { fill, h, type Child } from "./dom";
import { pending, WhileSeen } from "./frame";
import type { Registry, Row } from "./registry";
import { claimWords, hookWords, ideaWords } from "./registry.zh";
import { pictureOf } from "./sheet_picture";
import { typeset } from "./typeset";

const words = {
  title: { en: "Every encoding on one sheet", zh: "一张表看全所有编码" },
  about: {
    en: "Pictures are drawn now, properties were measured when this page was built. ✓ holds, ✗ does not, – has no meaning here. Loss: bits per byte of small models that were trained on novels at 256 bytes, lower is better; from the race of docs/results.md, – was not in it. The models that run in the story are smaller ones of another race, trained at 128. Cost: with 8 heads of 64.",
    zh: "图是现画的，性质是构建本页时实测的。✓ 成立，✗ 不成立，– 在此无意义。损失：在小说上以 256 字节训练的小模型每字节的比特数，越低越好，取自 docs/results.md 的比赛，– 表示未参加。故事里运行的是另一次比赛的更小的模型，以 128 字节训练。代价按 8 个宽 64 的头计。",
  },
  print: { en: "Print", zh: "打印" },
  encoding: { en: "Encoding", zh: "编码" },
  formula: { en: "Formula", zh: "公式" },
  acts: { en: "Acts on", zh: "作用点" },
  anywhere: { en: "has a code anywhere", zh: "处处有编码" },
  raced: { en: "loss at 256", zh: "256 处的损失" },
  far: { en: "loss at 4096, 16x", zh: "16 倍处的损失" },
  cannot: { en: "cannot", zh: "不能" },
  cost: { en: "Cost", zh: "代价" },
  parameters: { en: "COUNT parameters", zh: "COUNT 个参数" },
  nothing: { en: "nothing", zh: "无" },
  users: { en: "Used by", zh: "使用者" },
  choose: { en: "Choose it for", zh: "适用于" },
  holds: { en: "texts longer than in training", zh: "比训练时更长的文本" },
  falls: { en: "lengths seen in training", zh: "训练见过的长度" },
  ends: { en: "lengths up to its table", zh: "表内的长度" },
  anyKernel: { en: "any attention kernel", zh: "任何注意力核" },
  biasKernel: { en: "kernels that add a bias", zh: "能加偏置的注意力核" },
  ownKernel: { en: "kernels that you can change", zh: "可以改动的注意力核" },
  own: { en: "A page of its own", zh: "单独成页" },
};

const signs: Record<string, string> = { holds: "✓", yes: "✓", fails: "✗", no: "✗" };
/** Those of the table's own columns: whether every position has a code, whatever the length; what is learned. */
const apart = ["any-length", "endless", "learned"];

/** What is computed for each hook, and how often. */
const costs: Record<string, Words> = {
  embed: { en: "once per word, before the first layer", zh: "每个词一次，在第一层之前" },
  rotate: { en: "per query and key, in each layer", zh: "每层对每个查询和键各一次" },
  bias: { en: "a number per pair of words, in the score", zh: "每对词一个数，加进分数" },
  content: { en: "a product per pair of words, in the score", zh: "每对词一次内积，加进分数" },
  value: { en: "a vector per pair of words, in the values", zh: "每对词一个向量，加进值" },
};

/** Bits per byte at the trained length and at 16 times it, as docs/results.md writes them. */
export type Race = Record<string, [string, string]>;
export type Outcomes = Record<string, Record<string, string>>; // by encoding, then by property

function sign(outcome: string | undefined): string {
  return signs[outcome ?? ""] ?? "–";
}

function costOf(r: Row, app: App): Child[] {
  const count = r.tensors.reduce((all, t) => all + t.shape.reduce((a, b) => a * b, 1), 0);
  const said = [...r.hooks.map((k) => app.t(costs[k] ?? { en: k, zh: k })), ...(count ? [app.t(words.parameters).replace("COUNT", count.toLocaleString("en"))] : [])];
  return said.length ? said.map((text) => h("div", {}, text)) : [app.t(words.nothing)];
}

const kept = 0.15; // bits per byte by which a loss may rise at 16 times the trained length

/** When it is the one to choose, by what is known of it: its losses, and what it asks of the attention kernel. */
function adviceOf(r: Row, race: [string, string] | undefined, app: App): Child[] {
  const [near = NaN, far = NaN] = (race ?? []).map(Number), length = race?.[1] === "cannot" ? words.ends : far - near < kept ? words.holds : words.falls;
  const kernel = r.hooks.some((k) => k === "content" || k === "value") ? words.ownKernel : r.hooks.includes("bias") ? words.biasKernel : words.anyKernel;
  return [...(race ? [h("div", {}, app.t(length))] : []), h("div", {}, app.t(kernel))];
}

function lossOf(said: string | undefined, label: string, app: App): HTMLElement {
  return h("td", { class: "loss", "data-label": label }, said === "cannot" ? app.t(words.cannot) : (said ?? "–"));
}

function nameOf(claim: string, app: App): string {
  return app.t(claimWords[claim]?.name ?? { en: claim, zh: claim });
}

function row(r: Row, registry: Registry, outcomes: Record<string, string>, race: [string, string] | undefined, app: App): HTMLElement {
  const box = h("div", {}), picture = h("td", { class: "sheet-picture" }, box);
  const draw = (): void => { if (!box.firstChild) app.picture(box, { spec: r.name, view: pictureOf(app, r.name), alone: true }); };
  new WhileSeen(box, draw);
  addEventListener("beforeprint", draw);
  const shown = registry.claims.filter((c) => !apart.includes(c));
  const signed = (outcome: string, label: string): HTMLElement =>
    h("td", { class: `sign ${outcome === "✓" ? "good" : outcome === "✗" ? "bad" : "faint"}`, "data-label": label }, outcome);
  const name = app.leads(h("a", {}, r.name), () => ({ tab: "explore", a: r.name, b: "", view: "" }));
  const own = document.getElementById("posenc-posenc.wasm") ? null : h("a", { class: "own", href: `encodings/${r.name}.${app.lang}.html` }, app.t(words.own));
  return h("tr", { "data-row": r.name }, picture,
    h("th", { scope: "row" }, name, h("p", {}, app.about(r.summary)),
      h("p", { class: "source" }, r.arxiv ? h("a", { href: `https://arxiv.org/abs/${r.arxiv}`, rel: "noreferrer", target: "_blank" }, app.about(r.paper)) : app.about(r.paper)), own),
    h("td", { "data-label": app.t(words.formula) }, h("span", { class: "typeset" }, ...typeset(r.formula))),
    h("td", { "data-label": app.t(words.acts) }, r.hooks.map((k) => app.t(hookWords[k]?.name ?? { en: k, zh: k })).join(app.lang === "zh" ? "、" : ", ") || "–"),
    ...shown.map((c) => signed(sign(outcomes[c]), nameOf(c, app))),
    signed(sign(outcomes["any-length"]) === "✓" && sign(outcomes.endless) === "✓" ? "✓" : "✗", app.t(words.anywhere)),
    lossOf(race?.[0], app.t(words.raced), app), lossOf(race?.[1], app.t(words.far), app),
    h("td", { "data-label": app.t(words.choose) }, ...adviceOf(r, race, app)),
    h("td", { "data-label": app.t(words.cost) }, ...costOf(r, app)),
    h("td", { "data-label": app.t(words.users) }, r.models.map((m) => app.about(m)).join(app.lang === "zh" ? "、" : ", ") || "–"));
}

/** The encodings of one idea below its name and the advice when to choose it. */
function group(idea: string, advice: string, columns: number, registry: Registry, outcomes: Outcomes, race: Race, app: App): HTMLElement {
  const { name = { en: idea, zh: idea }, about = { en: advice, zh: advice } } = ideaWords[idea] ?? {};
  return h("tbody", {}, h("tr", { class: "idea" }, h("th", { scope: "rowgroup", colspan: columns }, app.t(name), " ", h("span", { class: "faint" }, app.lang === "en" ? advice : app.t(about)))),
    ...registry.encodings.filter((r) => r.idea === idea).map((r) => row(r, registry, outcomes[r.name] ?? {}, race[r.name], app)));
}

export async function renderSheet(root: HTMLElement, registry: Registry, app: App): Promise<void> {
  const done = pending("waiting");
  try {
    const read = async (name: string): Promise<unknown> => JSON.parse(new TextDecoder().decode(await asset(name)));
    const outcomes = await read("properties.json") as Outcomes, race = await read("race.json") as Race;
    const shown = registry.claims.filter((c) => !apart.includes(c)), narrow = (text: string): HTMLElement => h("th", { scope: "col", class: "narrow" }, h("span", {}, text));
    const head = h("thead", {}, h("tr", {}, h("td", {}), ...[words.encoding, words.formula, words.acts].map((w) => h("th", { scope: "col" }, app.t(w))),
      ...[...shown.map((c) => nameOf(c, app)), ...[words.anywhere, words.raced, words.far].map((w) => app.t(w))].map(narrow), ...[words.choose, words.cost, words.users].map((w) => h("th", { scope: "col" }, app.t(w)))));
    const ideas = registry.ideas.filter(({ idea }) => registry.encodings.some((r) => r.idea === idea));
    fill(root, h("h2", {}, app.t(words.title)), h("p", { class: "row" }, h("span", {}, app.t(words.about)),
      h("button", { type: "button", class: "quiet", onclick: () => print() }, app.t(words.print))),
    h("div", { class: "wide sheet-box", tabindex: "0", role: "region", "aria-label": app.t(words.title) },
      h("table", { class: "sheet" }, head, ...ideas.map(({ idea, advice }) => group(idea, advice, 10 + shown.length, registry, outcomes, race, app)))));
  } finally {
    done();
  }
}
