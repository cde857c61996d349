// SPDX-License-Identifier: MIT
//
// The steps of `posenc walk`, formula beside number.

import { sentence, type App } from "./app";
import { fill, h } from "./dom";

interface Walked {
  steps: { title: string; formula: string; numbers: string; note: string | null }[];
}

export function walkOutput(el: HTMLElement, spec: string, options: string[], app: App): void {
  const ran = app.run(["walk", spec, ...options, "--json", "--lang", app.lang]);
  if (ran.code) return fill(el, h("p", { class: "error", role: "alert" }, sentence(ran)));
  const { steps } = JSON.parse(ran.text) as Walked;
  fill(el, h("ol", { class: "steps" }, ...steps.map((s) => h("li", {},
    h("p", {}, h("strong", {}, s.title)),
    h("div", { class: "beside" }, h("code", { class: "formula" }, s.formula), h("pre", { tabindex: 0 }, s.numbers)),
    s.note && h("p", { class: "faint" }, s.note)))));
}
