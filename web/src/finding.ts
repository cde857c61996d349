// SPDX-License-Identifier: MIT
//
// What `posenc prove CLAIM --json` found: verdict, reason, evidence.

import { sentence, type App, type Ran } from "./app";
import { h, type Child } from "./dom";
import { words } from "./words";

export interface Finding {
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

export function showFinding(ran: Ran, app: App): Child[] {
  const f = findingOf(ran);
  if (!f) return [h("p", { class: "error", role: "alert" }, sentence(ran))];
  const rows = f.numbers.map((n) =>
    h("tr", {}, h("td", {}, n.what), h("td", {}, h("code", {}, n.of)), h("td", { class: "number" }, n.text)));
  return [
    h("p", {}, h("span", { class: `badge ${lookOf(f)}` }, f.verdict_text ?? "—"), " ", f.because),
    rows.length > 0 && h("details", {}, h("summary", {}, `${app.t(words.evidence)} (${rows.length})`),
      h("div", { class: "wide" }, h("table", {}, h("tbody", {}, ...rows)))),
  ];
}
