// SPDX-License-Identifier: MIT
//
// A claim, checked on the spot: `posenc prove CLAIM`.

import { sentence, type App } from "./app";
import { fill, h } from "./dom";

const words = {
  check: { en: "Check it here", zh: "当场检验" },
  again: { en: "Check again", zh: "再检验一次" },
  checking: { en: "measuring …", zh: "测量中……" },
  evidence: { en: "All numbers", zh: "全部数值" },
};

interface Found {
  claim: string;
  source: string;
  command: string;
  verdict: "HOLDS" | "REFUTED" | "DEPENDS" | null;
  verdict_text?: string;
  because: string;
  numbers: { what: string; of: string; text: string }[];
}

interface Listed {
  groups: { claims: { name: string; claim: string }[] }[];
}

const looks = { HOLDS: "good", REFUTED: "bad", DEPENDS: "mixed", none: "none" };
const sentences = new Map<string, Map<string, string>>(); // by language, then by claim

/** The claim as the literature has it, before anything is measured; its name where the tool does not know it. */
function sentenceOf(claim: string, app: App): string {
  let known = sentences.get(app.lang);
  if (!known) {
    const ran = app.run(["prove", "--list", "--json", "--lang", app.lang]);
    const all = ran.code ? [] : (JSON.parse(ran.text) as Listed).groups.flatMap((g) => g.claims);
    known = new Map(all.map((c) => [c.name, c.claim]));
    sentences.set(app.lang, known);
  }
  return known.get(claim) ?? claim;
}

function verdict(f: Found, app: App): HTMLElement[] {
  const rows = f.numbers.map((n) => h("tr", {}, h("td", {}, n.what), h("td", {}, h("code", {}, n.of)), h("td", { class: "number" }, n.text)));
  return [
    h("p", {}, h("span", { class: `badge ${looks[f.verdict ?? "none"]}` }, f.verdict_text ?? "?"), " ", f.because),
    h("p", { class: "faint" }, f.source, " · ", h("code", {}, f.command)),
    h("details", {}, h("summary", {}, app.t(words.evidence)), h("div", { class: "wide" }, h("table", {}, h("tbody", {}, ...rows)))),
  ];
}

export function claimOutput(el: HTMLElement, claim: string, app: App): void {
  const result = h("div", { class: "found", role: "status" });
  const button = h("button", { type: "button", class: "quiet", "data-claim": claim }, app.t(words.check));
  button.addEventListener("click", () => {
    fill(result, app.t(words.checking));
    // A measurement may take a moment: let the page say so first.
    requestAnimationFrame(() => setTimeout(() => {
      const ran = app.run(["prove", claim, "--json", "--lang", app.lang]);
      const found = ran.text ? (JSON.parse(ran.text) as { claims: Found[] }).claims[0] : undefined;
      fill(result, ...(found ? verdict(found, app) : [h("p", { class: "error", role: "alert" }, sentence(ran))]));
      fill(button, app.t(words.again));
    }));
  });
  fill(el, h("blockquote", {}, sentenceOf(claim, app)), button, result);
}
