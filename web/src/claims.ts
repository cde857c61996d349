// SPDX-License-Identifier: MIT
//
// The claims of the literature and their verdicts: as measured when the page was built, and again when asked, one command
// each, beside the page.

import { sentence, type App, type Ran, type Words } from "./app";
import { fill, h, type Child } from "./dom";
import { builtFindings, findingOf, lookOf, refusalOf, showFinding, showSource, type Finding } from "./finding";
import { words } from "./words";

interface Claim {
  name: string;
  claim: string;
  source: string;
  timed: boolean;
}

interface Groups {
  groups: { name: string; title: string; claims: Claim[] }[];
}

export class ClaimsPanel {
  private readonly rows = new Map<string, HTMLElement>();
  private readonly groups: HTMLElement[] = [];
  private readonly waiting = new Set<string>();
  private readonly all: HTMLButtonElement;
  private readonly tally = h("span", { class: "row", role: "status" });
  private readonly verdicts = new Map<string, { look: string; text: string }>(); // by claim
  private only = ""; // the look of the verdicts that are shown; "": all

  constructor(root: HTMLElement, private readonly app: App) {
    const ran = app.run(["prove", "--list", "--json", "--lang", app.lang]);
    this.all = h("button", { type: "button", onclick: () => this.toggle() }, app.t(words.runAll));
    fill(root, h("h2", {}, app.t(words.claimsTitle)), h("p", {}, app.t(words.claimsAbout)), h("p", { class: "row" }, this.all, this.tally));
    if (ran.code) { root.append(h("p", { class: "error" }, sentence(ran))); return; }
    for (const g of (JSON.parse(ran.text) as Groups).groups)
      this.groups.push(h("section", { class: "claims" }, h("h3", {}, g.title), ...g.claims.map((c) => this.row(c))));
    root.append(...this.groups);
    void this.built();
    this.again();
  }

  /** What was found when the page was built. */
  private async built(): Promise<void> {
    for (const f of (await builtFindings(this.app.lang)).values())
      if (this.rows.has(f.name) && !this.kept.has(f.name)) this.put(f.name, f, showFinding(f, this.app), words.measuredThen);
  }

  /** What was measured before the panel was made anew, by claim; the words are of the language it was measured in. */
  private get kept(): Map<string, { lang: string; ran: Ran }> {
    const kept = (this.app.kept.get("claims") as Map<string, { lang: string; ran: Ran }> | undefined) ?? new Map<string, { lang: string; ran: Ran }>();
    this.app.kept.set("claims", kept);
    return kept;
  }

  /** Shows that again; what was said in the other language is measured once more for its words. */
  private again(): void {
    const before = [...this.kept].filter(([name]) => this.rows.has(name));
    for (const [name, { lang, ran }] of before) if (lang === this.app.lang) this.show(name, ran);
    this.ask(before.filter(([, { lang }]) => lang !== this.app.lang).map(([name]) => name));
  }

  private row(c: Claim): HTMLElement {
    const found = h("div", { class: "found", "aria-live": "polite" },
      this.button(c.name));
    const box = h("article", { class: "claim", "data-claim": c.name },
      h("p", { class: "sentence" }, c.claim), h("p", { class: "faint source" }, ...showSource(c.source, this.app)), found);
    this.rows.set(c.name, found);
    return box;
  }

  private toggle(): void {
    if (this.waiting.size) this.stop();
    else this.ask([...this.rows.keys()]);
  }

  private stop(): void {
    this.app.forget(this);
    for (const name of this.waiting) fill(this.found(name), this.button(name));
    this.waiting.clear();
    void this.built();
    this.label();
  }

  private label(): void {
    this.all.textContent = this.app.t(this.waiting.size ? words.stop : words.runAll);
  }

  private ask(names: string[]): void {
    for (const name of names.filter((n) => !this.waiting.has(n))) {
      this.waiting.add(name);
      fill(this.found(name), h("span", { class: "faint" }, this.app.t(words.measuring)));
      this.app.later(["prove", name, "--json", "--lang", this.app.lang], this, (ran) => {
        this.waiting.delete(name);
        this.kept.set(name, { lang: this.app.lang, ran });
        this.show(name, ran);
        this.label();
      });
    }
    this.label();
  }

  private found(name: string): HTMLElement {
    return this.rows.get(name) as HTMLElement;
  }

  private button(name: string): HTMLElement {
    return h("button", { type: "button", class: "quiet small", onclick: () => this.ask([name]) }, this.app.t(words.runOne));
  }

  private show(name: string, ran: Ran): void {
    const f = findingOf(ran);
    if (f) this.put(name, f, showFinding(f, this.app), words.measuredNow);
    else void this.refused(name, ran);
  }

  /** Says why it was not measured, above what was found when the page was built. */
  private async refused(name: string, ran: Ran): Promise<void> {
    const f = (await builtFindings(this.app.lang)).get(name), why = h("p", { class: "error", role: "alert" }, refusalOf(ran, this.app));
    if (f) this.put(name, f, [why, ...showFinding(f, this.app)], words.measuredThen);
    else fill(this.found(name), why);
  }

  private put(name: string, f: Finding, found: Child[], when: Words): void {
    this.count(name, lookOf(f), f.verdict_text ?? "—");
    fill(this.found(name), ...found, h("p", { class: `row faint when${when === words.measuredNow ? " again" : ""}` }, this.app.t(when), this.button(name)));
  }

  /** Shows the claims of one verdict, or all again; null: as before. */
  private filter(look: string | null): void {
    this.only = look === null ? this.only : look === this.only ? "" : look;
    for (const [name, found] of this.rows) found.closest<HTMLElement>(".claim")!.hidden = this.only !== "" && this.verdicts.get(name)?.look !== this.only;
    for (const group of this.groups) group.hidden = ![...group.querySelectorAll<HTMLElement>(".claim")].some((c) => !c.hidden);
    for (const b of this.tally.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.classList.contains(this.only)));
  }

  /** "HOLDS 12, REFUTED 3": each shows only its own when it is pressed. */
  private count(name: string, look: string, text: string): void {
    this.verdicts.set(name, { look, text });
    const counted = new Map<string, { text: string; n: number }>();
    for (const v of this.verdicts.values())
      counted.set(v.look, { text: v.text, n: (counted.get(v.look)?.n ?? 0) + 1 });
    fill(this.tally, ...[...counted].sort().map(([l, c]) => h("button", {
      type: "button", class: `tally ${l}`, "aria-pressed": String(l === this.only), onclick: () => this.filter(l),
    }, `${c.text} ${c.n}`)));
    this.filter(null);
  }
}
