// SPDX-License-Identifier: MIT
//
// A claim with its verdict: as measured when the page was built, and again on the spot: `posenc prove CLAIM`. Why, from which
// numbers and who said it is folded, but where the claim is all that a figure shows.

import type { App } from "./app";
import { fill, h } from "./dom";
import { badgeOf, builtFindings, evidenceOf, findingOf, refusalOf, showSource, type Finding } from "./finding";
import { words } from "./words";

export function claimOutput(el: HTMLElement, claim: string, open: boolean, app: App): void {
  const said = h("summary", {}), found = h("div", { class: "found", role: "status" });
  const button = h("button", { type: "button", class: "quiet small", "data-claim": claim }, app.t(words.runOne));
  const show = (f: Finding, when: string): void => {
    fill(said, badgeOf(f), " ", f.claim);
    fill(found, h("p", {}, f.because), evidenceOf(f, app),
      h("p", { class: "faint when" }, h("span", {}, ...showSource(f.source, app)), " · ", h("code", {}, f.command), " · ", when, " ", button));
  };
  button.addEventListener("click", () => {
    fill(found, h("span", { class: "faint" }, app.t(words.measuring)));
    app.forget(found);
    app.later(["prove", claim, "--json", "--lang", app.lang], found, (ran) => {
      const f = findingOf(ran);
      if (f) show(f, app.t(words.measuredNow));
      else fill(found, h("p", { class: "error", role: "alert" }, refusalOf(ran, app)));
    });
  });
  fill(said, h("code", {}, claim));
  fill(found, button);
  fill(el, h("details", { class: "finding", open }, said, found));
  void builtFindings(app.lang).then((all) => {
    const f = all.get(claim);
    if (f) show(f, app.t(words.measuredThen));
  });
}
