// SPDX-License-Identifier: MIT
//
// One view on the page: its figures of A and, beside them, of B, by one command, so that what stands side by side has one
// scale. Drawn while it is in sight, at a width that fits the window.

import { sentence, specArgs, type App, type State } from "./app";
import { fill, h } from "./dom";
import { readFigures, type Figure } from "./figure";
import { measured, WhileSeen } from "./frame";
import { Picture, type Saved } from "./picture";
import { link } from "./readout";
import { saveFile } from "./save";
import { showArgs, type View } from "./views";
import { words } from "./words";

const least = 300; // pixels of a figure that has another beside it
const files = [["SVG", "svg", "image/svg+xml"], ["CSV", "csv", "text/csv"]] as const;

export class Card {
  readonly root = h("section", { class: "card" });
  private readonly about = h("p", { class: "faint about" });
  private readonly grid = h("div", { class: "sides" });
  private readonly error = h("p", { class: "error" });
  private readonly waiting = h("p", { class: "faint", role: "status" });
  private readonly seen: WhileSeen;
  private pictures = new Map<string, Picture>();
  private args: string[] = [];
  private columns = 1; // of figures, where one spec has several of a kind
  private narrow = Infinity; // the width at which the tallest fits into the window
  private fitted = ""; // the cells that narrow was found for
  private specs: string[] = [];
  private named = ""; // the specs whose names stand above the pictures

  constructor(private readonly app: App, readonly view: View) {
    this.about.textContent = view.about;
    fill(this.root, this.about, this.error, this.waiting, this.grid);
    this.seen = new WhileSeen(this.root, () => this.draw());
  }

  update(specs: string[], state: Readonly<State>): void {
    this.specs = specs;
    this.args = showArgs(this.view, state, this.app.lang);
    this.seen.ask();
  }

  stop(): void {
    this.seen.stop();
    this.app.forget(this);
  }

  private command(as: readonly string[]): string[] {
    return specArgs("show", this.specs, [...this.args, ...as]);
  }

  private draw(): void {
    measured("picture", () => this.make(Math.min(this.narrow, this.room()), (figures) => {
      const again = this.refit(figures);
      if (again) this.make(again, (fitting) => this.lay(fitting));
      else this.lay(figures);
    }));
  }

  private make(width: number, done: (figures: Figure[]) => void): void {
    this.waiting.textContent = "";
    let made = false;
    const slow = this.app.newest(this.command(["--as", "parts", "--width", `${Math.floor(width)}`]), this, (ran) => {
      made = true;
      this.waiting.textContent = "";
      this.error.textContent = ran.code ? sentence(ran) : "";
      if (!ran.code) done(readFigures(ran.text));
    });
    if (slow && !made) this.waiting.textContent = this.app.t(words.measuring);
  }

  /** Pixels that one figure has: half of the row where there are two. */
  private room(): number {
    const all = this.grid.clientWidth || 640, columns = all < 2 * least ? 1 : this.specs.length > 1 ? 2 : this.columns;
    return Math.max(280, Math.min((all - 20 * (columns - 1)) / columns, 900));
  }

  /** Pictures fit into the window: the width to draw them at instead, or 0 where they are well as they are. Heights go in
   *  steps of cells, so the width that fits is looked for once for as many cells, and not hunted after. */
  private refit(figures: readonly Figure[]): number {
    const columns = figures.length > 1 && figures.every((f) => f.kind === "cells") ? 2 : 1;
    const tallest = Math.max(...figures.map((f) => f.height)), most = Math.max(380, 0.7 * innerHeight);
    const before = Math.min(this.narrow, this.room());
    this.columns = columns;
    this.grid.classList.toggle("pairs", this.specs.length === 1 && columns === 2);
    const cells = [this.room(), most, ...figures.map((f) => `${f.kind} ${f.matrix?.rows} ${f.matrix?.columns}`)].join();
    if (cells === this.fitted) return 0;
    this.fitted = cells;
    if (tallest > most || (this.narrow < this.room() && tallest < 0.6 * most)) this.narrow = (before * most) / tallest;
    const now = Math.min(this.narrow, this.room());
    return Math.abs(now - before) > 2 ? Math.max(280, now) : 0;
  }

  /** Figures of A on the left, of B on the right. */
  private lay(figures: readonly Figure[]): void {
    const kept = new Map<string, Picture>();
    const sides = this.specs.map((_, side) =>
      this.ofSide(figures, side).map((f, i) => this.picture(`${side}.${i}`, f, kept)));
    if (sides.length > 1) sides[0]?.forEach((p, i) => link([p, sides[1]?.[i]].flatMap((q) => (q ? [q.readout] : []))));
    else link((sides[0] ?? []).map((p) => p.readout));
    const names = this.specs.join("\n");
    const same = names === this.named && kept.size === this.pictures.size && [...kept.keys()].every((k) => this.pictures.has(k)) &&
      this.grid.childElementCount === sides.length;
    this.pictures = kept;
    this.named = names;
    if (same) return;
    fill(this.grid, ...sides.map((pictures, side) => h("div", { class: "side" },
      sides.length > 1 && h("p", { class: "side-name" }, "AB"[side] ?? "", " ", h("code", { class: "cut" }, this.specs[side] ?? "")),
      ...(pictures.length ? pictures.map((p) => p.root) : [h("p", { class: "faint" }, this.app.t(words.unfit))]))));
  }

  /** A figure names its spec as the tool writes it, as specs are here. The same spec on both sides gives the same figures twice. */
  private ofSide(figures: readonly Figure[], side: number): Figure[] {
    const mine = figures.filter((f) => f.group === this.specs[side]);
    return this.specs.length > 1 && this.specs[0] === this.specs[1] ? mine.slice(0, mine.length / 2) : mine;
  }

  private picture(key: string, f: Figure, kept: Map<string, Picture>): Picture {
    const picture = this.pictures.get(key) ?? new Picture(this.app, this.saves());
    picture.draw(f);
    kept.set(key, picture);
    return picture;
  }

  private saves(): Saved[] {
    return files.map(([name, as, type]) => ({
      name,
      save: () => {
        const ran = this.app.run(this.command(["--as", as]));
        if (ran.code) this.error.textContent = sentence(ran);
        else saveFile(`posenc-${this.view.name}.${as}`, ran.out, type);
      },
    }));
  }
}
