// SPDX-License-Identifier: MIT
//
// The live check: what an ideal encoding would do, measured on the specs at hand (`posenc prove SPEC --json`).

import { sentence, type App } from "./app";
import { fill, h } from "./dom";
import { whenQuiet, WhileSeen } from "./frame";
import { words } from "./words";

interface Property {
  name: string;
  sentence: string;
  outcome: "holds" | "fails" | "no meaning" | "yes" | "no";
  outcome_text: string;
  number_text: string;
  what: string;
  claimed: boolean;
}

type Checked = { properties: Property[]; error: string };

const looks = { holds: "good", fails: "bad", "no meaning": "none", yes: "none", no: "none" } as const;

export class PropertiesPanel {
  private readonly body = h("div", { class: "wide", "aria-live": "polite" });
  private readonly known = new Map<string, Checked>();
  private specs: string[] = [];
  private shape: string[] = [];
  private readonly seen: WhileSeen;
  private readonly soon = whenQuiet(() => this.seen.ask(), 150);

  constructor(root: HTMLElement, private readonly app: App) {
    fill(root, h("h2", {}, app.t(words.properties)), h("p", { class: "faint" }, app.t(words.propertiesAbout)), this.body);
    this.seen = new WhileSeen(root, () => this.ask());
  }

  update(specs: string[], shape: string[]): void {
    if (specs.join() === this.specs.join() && shape.join() === this.shape.join()) return;
    this.specs = specs;
    this.shape = shape;
    this.soon();
  }

  private key(spec: string): string {
    return [spec, ...this.shape].join(" ");
  }

  private ask(): void {
    this.app.forget(this);
    for (const spec of new Set(this.specs)) {
      const key = this.key(spec);
      if (this.known.has(key)) continue;
      this.app.later(["prove", spec, "--properties", "--json", "--lang", this.app.lang, ...this.shape], this, (ran) => {
        this.known.set(key, ran.code > 1
          ? { properties: [], error: sentence(ran) }
          : { properties: (JSON.parse(ran.text) as { specs: Checked[] }).specs[0]?.properties ?? [], error: "" });
        this.show();
      });
    }
    this.show();
  }

  private cell(p: Property | undefined): HTMLElement {
    if (!p) return h("td", { class: "faint" }, "…");
    return h("td", {}, h("span", { class: `badge ${looks[p.outcome]}` }, p.outcome_text), " ", p.number_text,
      p.number_text ? h("div", { class: "what faint" }, p.what) : null);
  }

  private show(): void {
    const checked = this.specs.map((s) => this.known.get(this.key(s)) ?? { properties: [], error: "" });
    const rows = checked.find((c) => c.properties.length)?.properties ?? [];
    const names = this.specs.map((s, i) => h("th", { scope: "col" },
      this.specs.length > 1 ? `${"AB"[i]} ` : "", h("code", { class: "cut", title: s }, s)));
    fill(this.body,
      ...checked.filter((c) => c.error).map((c) => h("p", { class: "error" }, c.error)),
      rows.length === 0 && checked.every((c) => !c.error) && h("p", { class: "faint" }, this.app.t(words.measuring)),
      rows.length > 0 && h("table", { class: "properties" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, this.app.t(words.property)), ...names)),
        h("tbody", {}, ...rows.map((p, i) => h("tr", { "data-property": p.name },
          h("th", { scope: "row" }, p.sentence), ...checked.map((c) => this.cell(c.properties[i])))))));
  }
}
