// SPDX-License-Identifier: MIT
//
// The steps of `posenc walk`, formula beside number.

import { sentence, type App } from "./app";
import { fill, h } from "./dom";
import { walkSteps } from "./walk_steps";

export function walkOutput(el: HTMLElement, spec: string, options: string[], app: App): void {
  const ran = app.run(["walk", spec, ...options, "--json", "--lang", app.lang]);
  if (ran.code) return fill(el, h("p", { class: "error", role: "alert" }, sentence(ran)));
  fill(el, walkSteps(ran.text));
}
