// SPDX-License-Identifier: MIT
//
// One picture on the page: the tool's drawing with its cells painted on a canvas, what it says in words, a readout under
// the pointer or the arrow keys, its numbers as a table, and the tool's own files of it.

import type { App } from "./app";
import { fill, h, percent, svgElement } from "./dom";
import type { Cells, Figure } from "./figure";
import { numbersTable } from "./numbers";
import { Readout } from "./readout";
import { words } from "./words";

export interface Saved {
  name: string; // "SVG"
  save(): void;
}

export class Picture {
  readonly root: HTMLElement;
  private readonly drawing = h("div", { class: "drawing-box" });
  private canvases: HTMLCanvasElement[] = [];
  readonly readout: Readout;
  private readonly caption = h("figcaption", {});
  private readonly table = h("div", { class: "wide" });
  private readonly numbers: HTMLDetailsElement;
  private figure: Figure | null = null;

  constructor(private readonly app: App, saved: Saved[], alone = false) {
    this.numbers = h("details", { class: "numbers", ontoggle: () => this.tabulate() },
      h("summary", {}, app.t(words.numbers)), this.table);
    this.readout = new Readout(app, this.drawing);
    this.root = h("figure", { class: "picture" }, this.drawing, this.readout.line, this.caption,
      !alone && h("div", { class: "picture-foot" }, this.numbers,
        h("div", { class: "saves", role: "group", "aria-label": app.t(words.download) },
          ...saved.map((s) => h("button", { type: "button", class: "quiet small", onclick: () => s.save() }, s.name)))));
  }

  draw(figure: Figure): void {
    this.figure = figure;
    const svg = svgElement(figure.svg);
    this.canvases = figure.cells.map((_, i) => this.canvases[i] ?? h("canvas", { "aria-hidden": "true" }));
    fill(this.drawing, svg, ...this.canvases, this.readout.mark, this.readout.tip);
    figure.cells.forEach((cells, i) => this.paint(figure, cells, this.canvases[i] as HTMLCanvasElement));
    this.readout.of(figure);
    this.caption.textContent = figure.caption;
    this.root.dataset.mark = figure.mark;
    if (this.numbers.open) this.tabulate();
  }

  private paint(figure: Figure, cells: Cells, canvas: HTMLCanvasElement): void {
    canvas.width = cells.columns;
    canvas.height = cells.rows;
    const image = new ImageData(cells.columns, cells.rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = figure.palette[cells.levels[i] ?? 255] ?? 0;
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    const fine = cells.columns > cells.width || cells.rows > cells.height; // more cells than pixels: the browser averages
    Object.assign(canvas.style, {
      imageRendering: fine ? "auto" : "pixelated",
      left: percent(cells.x, figure.width), top: percent(cells.y, figure.height),
      width: percent(cells.width, figure.width), height: percent(cells.height, figure.height),
    });
  }

  private tabulate(): void {
    if (this.figure && this.numbers.open) fill(this.table, ...numbersTable(this.app, this.figure));
  }
}
