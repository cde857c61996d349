// SPDX-License-Identifier: MIT
//
// The live check: what an ideal encoding would do, measured on the specs at hand (`posenc prove SPEC --json`).

import { sentence, type App } from "./app";
import { fill, h } from "./dom";
import { whenQuiet } from "./frame";
import { words } from "./words";

interface Property {
  name: string;
  sentence: string;
  outcome: "holds" | "fails" | "no meaning";
  outcome_text: string;
  number_text: string;
  what: string;
  claimed: boolean;
}

type Checked = { properties: Property[]; error: string };

const looks = { holds: "good", fails: "bad", "no meaning": "none" } as const;

export class PropertiesPanel {
  private readonly body = h("div", { class: "wide", "aria-live": "polite" });
  private readonly known = new Map<string, Checked>();
  private specs: string[] = [];
  private shape: string[] = [];
  private readonly later = whenQuiet(() => this.show(), 200);

  constructor(root: HTMLElement, private readonly app: App) {
    fill(root, h("h2", {}, app.t(words.properties)), h("p", { class: "faint" }, app.t(words.propertiesAbout)), this.body);
  }

  update(specs: string[], shape: string[]): void {
    this.specs = specs;
    this.shape = shape;
    this.later();
  }

  private check(spec: string): Checked {
    const key = [spec, ...this.shape].join(" ");
    const known = this.known.get(key);
    if (known) return known;
    const ran = this.app.run(["prove", spec, "--properties", "--json", "--lang", this.app.lang, ...this.shape]);
    const made = ran.code > 1
      ? { properties: [], error: sentence(ran) }
      : { properties: (JSON.parse(ran.text) as { specs: Checked[] }).specs[0]?.properties ?? [], error: "" };
    this.known.set(key, made);
    return made;
  }

  private cell(p: Property | undefined): HTMLElement {
    if (!p) return h("td", {});
    return h("td", {}, h("span", { class: `badge ${looks[p.outcome]}` }, p.outcome_text), " ",
      p.number_text ? h("span", { class: "faint" }, `${p.what} ${p.number_text}`) : null);
  }

  private show(): void {
    const checked = this.specs.map((s) => this.check(s));
    const rows = checked.find((c) => c.properties.length)?.properties ?? [];
    const names = this.specs.map((s, i) => h("th", { scope: "col" },
      this.specs.length > 1 ? `${"AB"[i]} ` : "", h("code", { class: "cut", title: s }, s)));
    fill(this.body,
      ...checked.filter((c) => c.error).map((c) => h("p", { class: "error" }, c.error)),
      rows.length > 0 && h("table", { class: "properties" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, this.app.t(words.property)), ...names)),
        h("tbody", {}, ...rows.map((p, i) => h("tr", { "data-property": p.name },
          h("th", { scope: "row" }, p.sentence), ...checked.map((c) => this.cell(c.properties[i])))))));
  }
}
