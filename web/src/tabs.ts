// SPDX-License-Identifier: MIT
//
// A row of tabs (WAI-ARIA: one is in the tab order, arrows move between them).

import { fill, h } from "./dom";

export interface Tab {
  name: string;
  title: string;
  about?: string;
  panel?: string; // id of what it shows
}

export class Tabs {
  private tabs: Tab[] = [];
  private chosen = "";
  constructor(readonly root: HTMLElement, label: string, private readonly choose: (name: string) => void) {
    root.setAttribute("role", "tablist");
    root.setAttribute("aria-label", label);
    root.addEventListener("keydown", (event) => this.key(event));
  }

  show(tabs: Tab[], chosen: string): void {
    const same = tabs.length === this.tabs.length &&
      tabs.every((t, i) => t.name === this.tabs[i]?.name && t.title === this.tabs[i]?.title);
    this.chosen = chosen;
    if (!same) {
      this.tabs = tabs;
      fill(this.root, ...tabs.map((t) => h("button", {
        type: "button", role: "tab", "data-name": t.name, id: `tab-${t.name}`, title: t.about ?? null,
        "aria-controls": t.panel ?? null, onclick: () => this.choose(t.name),
      }, t.title)));
    }
    for (const tab of this.buttons()) {
      const on = tab.dataset.name === chosen;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
  }

  private buttons(): HTMLButtonElement[] {
    return [...this.root.querySelectorAll<HTMLButtonElement>("[role=tab]")];
  }

  private key(event: KeyboardEvent): void {
    const all = this.buttons();
    const at = all.findIndex((b) => b.dataset.name === this.chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = all[(to + all.length) % all.length];
    if (!next) return;
    next.focus();
    this.choose(next.dataset.name ?? "");
  }
}
