// SPDX-License-Identifier: MIT
//
// The value under the pointer, or under the cursor that the arrow keys move, in words beside it and below the picture.
// Pictures side by side are linked: what is pointed at in one is shown in all.

import type { App } from "./app";
import { h, percent } from "./dom";
import type { Figure, Line } from "./figure";
import { shown } from "./numbers";
import { words } from "./words";

function between(low: number, value: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}

/** The index of the point nearest to px. */
function nearest(line: Line, px: number): number {
  let best = 0;
  for (let i = 1; i < line.px.length; i++)
    if (Math.abs((line.px[i] ?? 0) - px) < Math.abs((line.px[best] ?? 0) - px)) best = i;
  return best;
}

/** Which dial, and which of its hands, has its tip nearest. */
function nearestHand(dials: readonly Line[], x: number, y: number): [number, number] {
  let best: [number, number] = [0, 0], least = Infinity;
  dials.forEach((dial, d) => dial.px.forEach((px, i) => {
    const far = Math.hypot((px ?? Infinity) - x, (dial.py[i] ?? Infinity) - y);
    if (far < least) [best, least] = [[d, i], far];
  }));
  return best;
}

/** From now on what is pointed at in one is shown in all. */
export function link(readouts: Readout[]): void {
  for (const r of readouts) r.linked = readouts.filter((other) => other !== r);
}

export class Readout {
  linked: Readout[] = [];
  readonly tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  readonly line = h("p", { class: "readout", "aria-live": "polite" });
  readonly mark = h("div", { class: "mark", hidden: true });
  private figure: Figure | null = null;
  private row = -1; // of cells; which dial
  private column = -1; // of cells; of lines, the point; of a dial, the hand

  constructor(private readonly app: App, private readonly box: HTMLElement) {
    box.addEventListener("pointermove", (e) => this.point(e));
    box.addEventListener("pointerdown", (e) => this.point(e));
    box.addEventListener("pointerleave", () => { if (document.activeElement !== box) this.clear(); });
    box.addEventListener("blur", () => this.clear());
    box.addEventListener("keydown", (e) => this.key(e));
  }

  /** The figure that is read from now on; what was pointed at stays pointed at. */
  of(figure: Figure): void {
    this.figure = figure;
    const readable = figure.matrix !== null || figure.lines.some((l) => l.px.length > 0);
    this.box.tabIndex = readable ? 0 : -1;
    this.box.setAttribute("role", "group");
    this.box.setAttribute("aria-label", readable ? `${figure.title}. ${this.app.t(words.readHint)}` : figure.title);
    if (this.column >= 0) this.show();
    else this.line.textContent = "";
  }

  private clear(): void {
    for (const one of [this, ...this.linked]) one.hide();
  }

  private hide(): void {
    this.row = this.column = -1;
    this.mark.hidden = this.tip.hidden = true;
    this.line.textContent = "";
  }

  /** Shows what another points at. */
  private follow(row: number, column: number): void {
    this.row = row;
    this.column = column;
    this.show();
  }

  private point(event: PointerEvent): void {
    const f = this.figure;
    if (!f) return;
    const at = this.box.getBoundingClientRect();
    const x = ((event.clientX - at.left) * f.width) / at.width, y = ((event.clientY - at.top) * f.height) / at.height;
    const c = f.matrix;
    if (c) {
      if (x < c.x || y < c.y || x >= c.x + c.width || y >= c.y + c.height) return this.clear();
      this.column = Math.floor(((x - c.x) * c.columns) / c.width);
      this.row = Math.floor(((y - c.y) * c.rows) / c.height);
    } else if (f.kind === "dials") {
      [this.row, this.column] = nearestHand(f.lines, x, y);
    } else {
      const longest = this.longest();
      if (!longest) return;
      this.column = nearest(longest, x);
    }
    this.tell();
  }

  private tell(): void {
    for (const one of [this, ...this.linked]) one.follow(this.row, this.column);
  }

  private longest(): Line | undefined {
    return [...(this.figure?.lines ?? [])].sort((a, b) => b.px.length - a.px.length)[0];
  }

  private key(event: KeyboardEvent): void {
    const f = this.figure;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Escape") return this.clear();
    if (!f || !step) return;
    const columns = f.matrix?.columns ?? this.longest()?.px.length ?? 0;
    if (!columns) return;
    event.preventDefault();
    const far = event.shiftKey ? 10 : 1;
    this.column = between(0, this.column + (this.column < 0 ? 1 : 0) + (step[1] ?? 0) * far, columns - 1);
    const rows = f.matrix?.rows ?? (f.kind === "dials" ? f.lines.length : 0);
    if (rows) this.row = between(0, this.row + (this.row < 0 ? 1 : 0) + (step[0] ?? 0) * far, rows - 1);
    this.tell();
  }

  private show(): void {
    const f = this.figure;
    if (!f) return;
    if (f.matrix) this.showCell(f);
    else if (f.kind === "dials") this.showHand(f);
    else this.showPoint(f);
  }

  /** The words, below the picture and beside the place they are of: under it in the upper half, over it in the lower. */
  private say(text: string, left: number, top: number, width: number, height: number): void {
    const f = this.figure;
    if (!f) return;
    this.line.textContent = this.tip.textContent = text;
    const x = left + width / 2, low = top < f.height / 2;
    this.tip.hidden = this.mark.hidden = false;
    this.tip.classList.toggle("left", x > f.width / 2);
    this.tip.classList.toggle("above", !low);
    Object.assign(this.tip.style, { left: percent(x, f.width), top: percent(low ? top + height : top, f.height) });
    this.mark.classList.toggle("line", width === 0);
    Object.assign(this.mark.style, {
      left: percent(left, f.width), top: percent(top, f.height), width: percent(width, f.width), height: percent(height, f.height),
    });
  }

  private showCell(f: Figure): void {
    const c = f.matrix;
    if (!c || this.row >= c.rows || this.column >= c.columns || this.row < 0) return this.hide();
    const value = shown(c.values[this.row * c.columns + this.column]) || this.app.t(words.masked);
    const column = c.namesAlone ? c.columnName(this.column) : `${f.xLabel} ${c.columnName(this.column)}`;
    const width = c.width / c.columns, height = c.height / c.rows;
    this.say(`${f.yLabel} ${c.rowName(this.row)}, ${column}: ${value}`, c.x + this.column * width, c.y + this.row * height, width, height);
  }

  private showHand(f: Figure): void {
    const dial = f.lines[this.row], i = this.column;
    const px = dial?.px[i], py = dial?.py[i];
    if (!dial || typeof px !== "number" || typeof py !== "number") return this.hide();
    this.say(`${dial.name}, ${i + 1}/${dial.px.length}: cos ${shown(dial.x[i])}, sin ${shown(dial.y[i])}`, px - 4, py - 4, 8, 8);
  }

  private showPoint(f: Figure): void {
    const longest = this.longest();
    const x = longest?.x[this.column], px = longest?.px[this.column];
    if (x === undefined || x === null || px === undefined || px === null) return this.hide();
    const said = f.lines.map((l) => ({ l, i: l.x.indexOf(x) })).filter(({ l, i }) => shown(l.y[i]) !== "")
      .map(({ l, i }) => `${l.name} ${shown(l.y[i])}`);
    const high = f.lines.flatMap((l) => l.py.filter((y): y is number => y !== null));
    const top = Math.min(...high);
    this.say(`${f.xLabel} ${shown(x)}: ${said.join(", ")}`, px, top, 0, Math.max(...high) - top);
  }
}
