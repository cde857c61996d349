// SPDX-License-Identifier: MIT
//
// `posenc walk`: the arithmetic of one small case, formula beside number.

import { sentence, type App } from "./app";
import { fill, h } from "./dom";
import { whenQuiet } from "./frame";
import { words } from "./words";

interface Walked {
  spec: string;
  steps: { title: string; formula: string; numbers: string; note: string | null }[];
}

export class WalkPanel {
  private readonly body = h("ol", { class: "steps" });
  private readonly box: HTMLDetailsElement;
  private readonly controls = h("div", { class: "walk-controls" });
  private spec = "";
  private position = 5;
  private dim = 8;
  private readonly later = whenQuiet(() => this.show(), 120);

  constructor(root: HTMLElement, private readonly app: App) {
    this.box = h("details", { ontoggle: () => this.show() },
      h("summary", {}, h("h2", {}, app.t(words.walk))), h("p", { class: "faint" }, app.t(words.walkAbout)), this.controls, this.body);
    fill(root, this.box);
    app.slider(this.controls, { label: app.t(words.position), value: this.position, min: 0, max: 1023 },
      (v) => { this.position = v; this.show(); });
    app.slider(this.controls, { label: app.t(words.walkDim), value: this.dim, min: 2, max: 16, step: 2 },
      (v) => { this.dim = v; this.show(); });
  }

  update(spec: string): void {
    this.spec = spec;
    this.later();
  }

  private show(): void {
    if (!this.box.open || !this.spec) return;
    const ran = this.app.run(["walk", this.spec, "--pos", `${this.position}`, "--dim", `${this.dim}`, "--json", "--lang", this.app.lang]);
    if (ran.code) { fill(this.body, h("li", { class: "error" }, sentence(ran))); return; }
    const walked = JSON.parse(ran.text) as Walked;
    fill(this.body, ...walked.steps.map((s) => h("li", {},
      h("h3", {}, s.title), s.formula ? h("code", { class: "formula" }, s.formula) : null,
      h("pre", { tabindex: "0" }, s.numbers), s.note ? h("p", { class: "faint" }, s.note) : null)));
  }
}
