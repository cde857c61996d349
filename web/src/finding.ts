// SPDX-License-Identifier: MIT
//
// What `posenc prove CLAIM --json` found: verdict, reason, evidence.

import { sentence, type App, type Lang, type Ran } from "./app";
import { asset } from "./asset";
import { h, type Child } from "./dom";
import { pending } from "./frame";
import { words } from "./words";

export interface Finding {
  name: string;
  claim: string;
  source: string;
  command: string;
  verdict: string | null;
  verdict_text?: string;
  because: string;
  numbers: { what: string; of: string; text: string }[];
}

const looks: Record<string, string> = { HOLDS: "good", REFUTED: "bad", DEPENDS: "mixed" };

/** Which badge a verdict has. */
export function lookOf(f: Finding): string {
  return looks[f.verdict ?? ""] ?? "none";
}

/** The first claim of the answer; undefined: it was not measured, and the answer says why. */
export function findingOf(ran: Ran): Finding | undefined {
  return ran.code > 1 ? undefined : (JSON.parse(ran.text) as { claims: Finding[] }).claims[0];
}

/** Why the answer is none: in the tool's words, or that it takes more trained models than the page has. */
export function refusalOf(ran: Ran, app: App): string {
  const [f] = ran.text.startsWith("{") ? (JSON.parse(ran.text) as { claims: (Finding & { cannot?: string })[] }).claims : [];
  return f?.cannot ? app.t(words.takesModels).replace("COMMAND", f.command) : sentence(ran);
}

const built = new Map<Lang, Promise<ReadonlyMap<string, Finding>>>();

/** What was found when the page was built, by claim. */
export function builtFindings(lang: Lang): Promise<ReadonlyMap<string, Finding>> {
  const read = async (): Promise<ReadonlyMap<string, Finding>> => {
    const done = pending("waiting");
    try {
      const text = new TextDecoder().decode(await asset(`claims.${lang}.json`));
      return new Map((JSON.parse(text) as { claims: Finding[] }).claims.map((f) => [f.name, f]));
    } finally {
      done();
    }
  };
  const known = built.get(lang) ?? read();
  built.set(lang, known);
  return known;
}

/** What sources say besides names, in Chinese. */
const phrases: [string, string][] = [
  ["; against it ", "；反对它的有 "], [": a pair rotated by x + y cannot tell x from y", "：按 x + y 旋转的一对分不清 x 与 y"],
  [": of relative vectors, O(n^2 d) or O(n d)", "：关于相对向量，O(n^2 d) 或 O(n d)"], [": of networks at large", "：关于一般网络"],
  [", where the projections are untied", "，投影分开时"], [": codes as wide as words, so that they can be summed", "：编码与词向量同宽，以便相加"],
  [", on direction ", "，关于方向 "], [", of bfloat16", "，关于 bfloat16"], [" on linear attention", "，关于线性注意力"],
  ["a common misreading of Vaswani et al. 2017", "对 Vaswani et al. 2017 的常见误读"], ["arithmetic", "算术"], ["folklore; ", "流传的说法；"],
];

/** A source with its arXiv ids as links. */
export function showSource(source: string, app: App): Child[] {
  const said = app.lang === "zh" ? phrases.reduce((text, [en, zh]) => text.replace(en, zh), source) : source;
  return said.split(/(arXiv:\d{4}\.\d{4,5})/).map((part) => part.startsWith("arXiv:")
    ? h("a", { href: `https://arxiv.org/abs/${part.slice(6)}`, rel: "noreferrer", target: "_blank" }, part) : part);
}

export function badgeOf(f: Finding): HTMLElement {
  return h("span", { class: `badge ${lookOf(f)}` }, f.verdict_text ?? "—");
}

/** The rows of numbers behind a verdict, folded. */
export function evidenceOf(f: Finding, app: App): HTMLElement | false {
  const rows = f.numbers.map((n) =>
    h("tr", {}, h("td", {}, n.what), h("td", {}, h("code", {}, n.of)), h("td", { class: "number" }, n.text)));
  return rows.length > 0 && h("details", {}, h("summary", {}, `${app.t(words.evidence)} (${rows.length})`),
    h("div", { class: "wide" }, h("table", {}, h("tbody", {}, ...rows))));
}

export function showFinding(f: Finding, app: App): Child[] {
  return [h("p", {}, badgeOf(f), " ", f.because), evidenceOf(f, app)];
}
