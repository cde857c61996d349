// SPDX-License-Identifier: MIT
//
// `posenc walk`: the arithmetic of one small case, formula beside number. Open or not, and which case, is in the link.

import type { App, Slider } from "./app";
import { fill, h } from "./dom";
import { whenQuiet } from "./frame";
import { walkOutput } from "./walk_steps";
import { words } from "./words";

const first = "5,3,8"; // the query's position, the key's, the width

export class WalkPanel {
  private readonly body = h("div", { "aria-live": "polite" });
  private readonly box: HTMLDetailsElement;
  private readonly sliders: Slider[];
  private spec = "";
  private readonly later = whenQuiet(() => this.show(), 120);

  constructor(root: HTMLElement, private readonly app: App) {
    const controls = h("div", { class: "walk-controls" });
    this.box = h("details", { ontoggle: () => this.tell() },
      h("summary", {}, h("h2", {}, app.t(words.walk))), h("p", { class: "faint" }, app.t(words.walkAbout)), controls, this.body);
    fill(root, this.box);
    const place = { min: 0, max: 255, most: 2 ** 30 };
    this.sliders = [
      { label: app.t(words.queryAt), value: 5, ...place }, { label: app.t(words.keyAt), value: 3, ...place },
      { label: app.t(words.walkDim), value: 8, min: 2, max: 16, step: 2 },
    ].map((wanted) => app.slider(controls, wanted, () => this.tell()));
  }

  private tell(): void {
    const walk = this.box.open ? this.sliders.map((s) => s.get()).join() : "";
    if (walk !== this.app.state.walk) this.app.setState({ walk });
  }

  update(spec: string, walk: string): void {
    this.spec = spec;
    this.box.open = walk !== "";
    (/^\d+,\d+,\d+$/.test(walk) ? walk : first).split(",").forEach((v, i) => this.sliders[i]?.set(Number(v)));
    this.later();
  }

  private show(): void {
    if (!this.box.open || !this.spec) return;
    const [pos, key, dim] = this.sliders.map((s) => `${s.get()}`) as [string, string, string];
    walkOutput(this.body, this.spec, ["--pos", pos, "--key", key, "--dim", dim], this.app);
  }
}
