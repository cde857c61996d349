// SPDX-License-Identifier: MIT
//
// The pictures: one view at a time or all of them below each other. What views there are the tool says.

import type { App, State } from "./app";
import { Card } from "./card";
import { fill, h } from "./dom";
import { Tabs } from "./tabs";
import type { View } from "./views";
import { words } from "./words";

const most = 4096; // positions that every view has room for; more are asked for one view only

export class Stage {
  private readonly tabs: Tabs;
  private readonly body = h("div", { class: "cards", id: "pictures", role: "tabpanel", tabindex: "-1" });
  private cards = new Map<string, Card>();
  private shown = "";

  constructor(root: HTMLElement, private readonly app: App, strip: HTMLElement) {
    const list = h("div", { class: "tabs" });
    this.tabs = new Tabs(list, app.t(words.views), (view) =>
      app.setState(app.state.n > most ? { view, n: 0 } : { view }));
    fill(root, list, strip, this.body);
  }

  update(specs: string[], views: readonly View[], chosen: string, state: Readonly<State>): void {
    this.tabs.show([...views.map((v) => ({ name: v.name, title: this.app.lang === "en" ? v.name : v.title, about: v.title, panel: "pictures" })),
      { name: "all", title: this.app.t(words.allViews), panel: "pictures" }], chosen);
    this.body.setAttribute("aria-labelledby", `tab-${chosen}`);
    const wanted = views.filter((v) => chosen === "all" || v.name === chosen);
    const names = wanted.map((v) => v.name).join();
    if (names !== this.shown) {
      for (const [name, card] of this.cards) if (!wanted.some((v) => v.name === name)) { card.stop(); this.cards.delete(name); }
      for (const v of wanted) if (!this.cards.has(v.name)) this.cards.set(v.name, new Card(this.app, v));
      fill(this.body, ...wanted.map((v) => this.cards.get(v.name)?.root ?? null));
      this.shown = names;
    }
    for (const card of this.cards.values()) card.update(specs, state);
  }

  stop(): void {
    for (const card of this.cards.values()) card.stop();
  }
}
