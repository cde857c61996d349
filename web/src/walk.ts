// SPDX-License-Identifier: MIT
//
// `posenc walk`: the arithmetic of one small case, formula beside number.

import { sentence, type App } from "./app";
import { fill, h } from "./dom";
import { whenQuiet } from "./frame";
import { walkSteps } from "./walk_steps";
import { words } from "./words";

export class WalkPanel {
  private readonly body = h("div", { "aria-live": "polite" });
  private readonly box: HTMLDetailsElement;
  private readonly controls = h("div", { class: "walk-controls" });
  private spec = "";
  private position = 5;
  private key = 3;
  private dim = 8;
  private readonly later = whenQuiet(() => this.show(), 120);

  constructor(root: HTMLElement, private readonly app: App) {
    this.box = h("details", { ontoggle: () => this.show() },
      h("summary", {}, h("h2", {}, app.t(words.walk))), h("p", { class: "faint" }, app.t(words.walkAbout)), this.controls, this.body);
    fill(root, this.box);
    app.slider(this.controls, { label: app.t(words.queryAt), value: this.position, min: 0, max: 255, most: 2 ** 30 },
      (v) => { this.position = v; this.show(); });
    app.slider(this.controls, { label: app.t(words.keyAt), value: this.key, min: 0, max: 255, most: 2 ** 30 },
      (v) => { this.key = v; this.show(); });
    app.slider(this.controls, { label: app.t(words.walkDim), value: this.dim, min: 2, max: 16, step: 2 },
      (v) => { this.dim = v; this.show(); });
  }

  update(spec: string): void {
    this.spec = spec;
    this.later();
  }

  private show(): void {
    if (!this.box.open || !this.spec) return;
    const ran = this.app.run(["walk", this.spec, "--pos", `${this.position}`, "--key", `${this.key}`, "--dim", `${this.dim}`, "--json", "--lang", this.app.lang]);
    fill(this.body, ran.code ? h("p", { class: "error" }, sentence(ran)) : walkSteps(ran.text));
  }
}
