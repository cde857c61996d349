// SPDX-License-Identifier: MIT
//
// A claim, checked on the spot: `posenc prove CLAIM`.

import { sentence, type App } from "./app";
import { fill, h } from "./dom";
import { findingOf, showFinding } from "./finding";
import { words } from "./words";

const check = { en: "Check it here", zh: "当场检验" };

interface Listed {
  groups: { claims: { name: string; claim: string }[] }[];
}

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

export function claimOutput(el: HTMLElement, claim: string, app: App): void {
  const found = h("div", { class: "found", role: "status" });
  const button = h("button", { type: "button", class: "quiet", "data-claim": claim }, app.t(check));
  button.addEventListener("click", () => {
    fill(found, h("span", { class: "faint" }, app.t(words.measuring)));
    app.forget(found);
    app.later(["prove", claim, "--json", "--lang", app.lang], found, (ran) => {
      const f = findingOf(ran);
      fill(found, ...(f ? showFinding(f, app) : [sentence(ran)]), f && h("p", { class: "faint" }, f.source, " · ", h("code", {}, f.command)));
    });
  });
  fill(el, h("blockquote", {}, sentenceOf(claim, app)), button, found);
}
