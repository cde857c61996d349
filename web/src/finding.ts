// SPDX-License-Identifier: MIT
//
// What `posenc prove CLAIM --json` found: verdict, reason, evidence.

import type { App, Lang, Ran } from "./app";
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

/** A source with its arXiv ids as links. */
export function showSource(source: string): Child[] {
  return source.split(/(arXiv:\d{4}\.\d{4,5})/).map((part) => part.startsWith("arXiv:")
    ? h("a", { href: `https://arxiv.org/abs/${part.slice(6)}`, rel: "noreferrer", target: "_blank" }, part) : part);
}

export function showFinding(f: Finding, app: App): Child[] {
  const rows = f.numbers.map((n) =>
    h("tr", {}, h("td", {}, n.what), h("td", {}, h("code", {}, n.of)), h("td", { class: "number" }, n.text)));
  return [
    h("p", {}, h("span", { class: `badge ${lookOf(f)}` }, f.verdict_text ?? "—"), " ", f.because),
    rows.length > 0 && h("details", {}, h("summary", {}, `${app.t(words.evidence)} (${rows.length})`),
      h("div", { class: "wide" }, h("table", {}, h("tbody", {}, ...rows)))),
  ];
}
