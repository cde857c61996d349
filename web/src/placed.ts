// SPDX-License-Identifier: MIT
//
// Pictures that other parts of the page place where they like: app.picture(el, { spec, view }).

import { sentence, type App, type Wanted } from "./app";
import { fill, h } from "./dom";
import { readFigures } from "./figure";
import { measured } from "./frame";
import { Picture } from "./picture";
import { link } from "./readout";
import { saveFile } from "./save";

export class Placed {
  private readonly pictures = new WeakMap<HTMLElement, Picture[]>();

  constructor(private readonly app: App) {}

  draw(el: HTMLElement, wanted: Wanted): void {
    measured("picture", () => {
      const command = ["show", wanted.spec, "--view", wanted.view, "--lang", this.app.lang, ...(wanted.options ?? [])];
      const room = el.clientWidth || 640, halved = wanted.pairs && room >= 600; // as .pairs in story.css
      const width = Math.floor(Math.max(280, Math.min(halved ? room / 2 - 8 : room, 900)));
      const ran = this.app.run([...command, "--as", "parts", "--width", `${width}`]);
      if (ran.code) {
        this.pictures.delete(el);
        fill(el, h("p", { class: "error" }, sentence(ran)));
        return;
      }
      const all = readFigures(ran.text), figures = all.filter((_, i) => wanted.only?.includes(i) ?? true);
      let pictures = this.pictures.get(el);
      if (pictures?.length !== figures.length || pictures.some((p) => p.root.parentElement !== el)) {
        const save = { name: "SVG", save: () => saveFile(`posenc-${wanted.view}.svg`, this.app.run([...command, "--as", "svg"]).out, "image/svg+xml") };
        pictures = figures.map(() => new Picture(this.app, [save], wanted.alone ?? false));
        this.pictures.set(el, pictures);
        fill(el, ...pictures.map((p) => p.root));
      }
      figures.forEach((f, i) => pictures[i]?.draw(f));
      link(pictures.map((p) => p.readout));
    });
  }
}
