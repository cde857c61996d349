// SPDX-License-Identifier: MIT
//
// The cheat-sheet: every encoding in one table that can be printed: picture, formula, where it acts, which properties hold,
// what it learns, who uses it, when to choose it. Facts are the registry's and those of `posenc prove --properties`.

import type { App } from "./app";
import { asset } from "./asset";
import { fill, h, type Child } from "./dom";
import { pending, WhileSeen } from "./frame";
import type { Registry, Row } from "./registry";
import { claimWords, hookWords, ideaWords } from "./registry.zh";
import { pictureOf } from "./sheet_picture";

const words = {
  title: { en: "Every encoding on one sheet", zh: "一张表看全所有编码" },
  about: {
    en: "Pictures are drawn now, properties were measured when this page was built. ✓ holds, ✗ does not, – has no meaning here.",
    zh: "图是现画的，性质是构建本页时实测的。✓ 成立，✗ 不成立，– 在此无意义。",
  },
  print: { en: "Print", zh: "打印" },
  encoding: { en: "Encoding", zh: "编码" },
  formula: { en: "Formula", zh: "公式" },
  acts: { en: "Acts on", zh: "作用点" },
  extrapolates: { en: "Any place, any length", zh: "任意位置与长度" },
  learns: { en: "Learns", zh: "可训练参数" },
  nothing: { en: "nothing", zh: "无" },
  users: { en: "Used by", zh: "使用者" },
  own: { en: "A page of its own", zh: "单独成页" },
};

const signs: Record<string, string> = { holds: "✓", yes: "✓", fails: "✗", no: "✗" };
/** Those of the table's own columns: whether every position has a code, whatever the length; what is learned. */
const apart = ["any-length", "endless", "learned"];

export type Outcomes = Record<string, Record<string, string>>; // by encoding, then by property

function sign(outcome: string | undefined): string {
  return signs[outcome ?? ""] ?? "–";
}

function row(r: Row, registry: Registry, outcomes: Record<string, string>, app: App): HTMLElement {
  const box = h("div", {}), picture = h("td", { class: "sheet-picture" }, box);
  const draw = (): void => { if (!box.firstChild) app.picture(box, { spec: r.name, view: pictureOf(app, r.name), alone: true }); };
  new WhileSeen(box, draw);
  addEventListener("beforeprint", draw);
  const shown = registry.claims.filter((c) => !apart.includes(c));
  const learned: Child[] = r.tensors.length ? r.tensors.flatMap((t) => [h("div", {}, `${t.name} ${t.shape.join(" × ")}`)]) : [app.t(words.nothing)];
  const name = app.leads(h("a", {}, r.name), () => ({ tab: "explore", a: r.name, b: "", view: "" }));
  const own = document.getElementById("posenc-posenc.wasm") ? null : h("a", { class: "own", href: `encodings/${r.name}.${app.lang}.html` }, app.t(words.own));
  return h("tr", { "data-row": r.name }, picture,
    h("th", { scope: "row" }, name, h("p", {}, app.about(r.summary)),
      h("p", { class: "source" }, r.arxiv ? h("a", { href: `https://arxiv.org/abs/${r.arxiv}`, rel: "noreferrer", target: "_blank" }, app.about(r.paper)) : app.about(r.paper)), own),
    h("td", {}, h("code", {}, r.formula)),
    h("td", {}, r.hooks.map((k) => app.t(hookWords[k]?.name ?? { en: k, zh: k })).join(app.lang === "zh" ? "、" : ", ") || "–"),
    ...shown.map((c) => h("td", { class: `sign ${sign(outcomes[c]) === "✓" ? "good" : sign(outcomes[c]) === "✗" ? "bad" : "faint"}` }, sign(outcomes[c]))),
    h("td", { class: "sign" }, sign(outcomes["any-length"]) === "✓" && sign(outcomes.endless) === "✓" ? "✓" : "✗"),
    h("td", {}, ...learned),
    h("td", {}, r.models.map((m) => app.about(m)).join(app.lang === "zh" ? "、" : ", ") || "–"));
}

/** The encodings of one idea below its name and the advice when to choose it. */
function group(idea: string, advice: string, columns: number, registry: Registry, outcomes: Outcomes, app: App): HTMLElement {
  const { name = { en: idea, zh: idea }, about = { en: advice, zh: advice } } = ideaWords[idea] ?? {};
  return h("tbody", {}, h("tr", { class: "idea" }, h("th", { scope: "rowgroup", colspan: columns }, app.t(name), " ", h("span", { class: "faint" }, app.lang === "en" ? advice : app.t(about)))),
    ...registry.encodings.filter((r) => r.idea === idea).map((r) => row(r, registry, outcomes[r.name] ?? {}, app)));
}

export async function renderSheet(root: HTMLElement, registry: Registry, app: App): Promise<void> {
  const done = pending("waiting");
  try {
    const outcomes = JSON.parse(new TextDecoder().decode(await asset("properties.json"))) as Outcomes;
    const shown = registry.claims.filter((c) => !apart.includes(c)), narrow = (c: string): HTMLElement =>
      h("th", { scope: "col", class: "narrow" }, h("span", {}, app.t(claimWords[c]?.name ?? { en: c, zh: c })));
    const head = h("thead", {}, h("tr", {}, h("td", {}), ...[words.encoding, words.formula, words.acts].map((w) => h("th", { scope: "col" }, app.t(w))),
      ...shown.map(narrow), h("th", { scope: "col", class: "narrow" }, h("span", {}, app.t(words.extrapolates))), ...[words.learns, words.users].map((w) => h("th", { scope: "col" }, app.t(w)))));
    const ideas = registry.ideas.filter(({ idea }) => registry.encodings.some((r) => r.idea === idea));
    fill(root, h("h2", {}, app.t(words.title)), h("p", { class: "row" }, h("span", {}, app.t(words.about)),
      h("button", { type: "button", class: "quiet", onclick: () => print() }, app.t(words.print))),
    h("div", { class: "wide sheet-box", tabindex: "0", role: "region", "aria-label": app.t(words.title) },
      h("table", { class: "sheet" }, head, ...ideas.map(({ idea, advice }) => group(idea, advice, 7 + shown.length, registry, outcomes, app)))));
  } finally {
    done();
  }
}
