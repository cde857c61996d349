// SPDX-License-Identifier: MIT
//
// A model's own file: `posenc explain` says what it does, `posenc extend` what a longer context would take.

import { sentence, type App, type Ran, type State } from "./app";
import { fill, h, newId } from "./dom";
import { whenQuiet } from "./frame";
import { examples } from "./example";
import { explainedPart, shapeOf, type Explained } from "./explained";
import { extendTable } from "./extend";
import { words } from "./words";

const most = 2 ** 20; // bytes of a file
const echoed = 2 ** 16; // characters that the field shows; a longer file is read and not shown
const longest = 2 ** 24; // positions to serve

/** The file at hand: it stays where the panel is made anew, in another language or by a link. */
let kept = "";
let panel: ModelPanel | null = null; // the one on the page

export class ModelPanel {
  private text = "";
  private readonly result = h("div", { class: "model-result", "aria-live": "polite" });
  private readonly longer = h("div", {});
  private readonly area: HTMLTextAreaElement;
  private readonly box: HTMLElement;
  private readonly lenient = h("input", { type: "checkbox", id: newId("lenient"), onchange: () => this.read(this.text) });
  private target = 0;
  private shape: Partial<State> = {};

  constructor(root: HTMLElement, private readonly app: App) {
    const id = newId("config");
    this.area = h("textarea", { id, rows: "6", spellcheck: "false", placeholder: '{ "model_type": "llama", … }' });
    this.area.addEventListener("input", whenQuiet(() => this.read(this.area.value), 250));
    const file = h("input", { type: "file", id: `${id}-file`, accept: ".json,application/json", class: "hidden" });
    file.addEventListener("change", () => { const f = file.files?.[0]; if (f) void this.take(f); });
    this.box = h("div", { class: "drop" },
      h("label", { class: "button", for: `${id}-file` }, app.t(words.choose)), file, " ",
      this.examples(),
      h("label", { for: id, class: "quiet" }, app.t(words.paste)), this.area,
      h("div", { class: "look check" }, this.lenient, " ", h("label", { for: this.lenient.id }, app.t(words.lenient))));
    fill(root, h("h2", {}, app.t(words.modelTitle)), h("p", {}, app.t(words.modelAbout)), this.box, this.result, this.longer);
    panel = this;
    if (kept) this.give(kept);
  }

  private examples(): HTMLElement {
    const label = this.app.t(words.tryOne);
    const select = h("select", { class: "examples", "aria-label": label }, h("option", { value: "" }, label + " …"));
    for (const e of examples) select.append(h("option", { value: e.name }, e.name));
    select.addEventListener("change", () => {
      const chosen = examples.find((e) => e.name === select.value);
      if (chosen) this.give(JSON.stringify(chosen.config, null, 2));
    });
    return select;
  }

  /** One command on the file at hand. */
  private run(verb: string, ...options: string[]): Ran {
    const lenient = this.lenient.checked ? ["--lenient"] : [];
    return this.app.run([verb, "config.json", "--json", ...options, ...lenient], { "config.json": this.text });
  }

  /** A file is over the page, or no longer. */
  over(on: boolean): void {
    this.box.classList.toggle("over", on);
  }

  async take(file: File): Promise<void> {
    this.area.value = kept = "";
    if (file.size > most) return this.fail(this.app.t(words.tooLarge));
    const text = await file.text();
    if (!text.trim()) return this.fail(this.app.t(words.emptyFile));
    this.give(text);
  }

  private give(text: string): void {
    this.area.value = text.length > echoed ? "" : text;
    this.read(text);
  }

  private fail(sentence: string): void {
    fill(this.result, h("p", { class: "error" }, sentence));
    fill(this.longer);
  }

  read(text: string): void {
    this.text = kept = text;
    if (text.length > most) return this.fail(this.app.t(words.tooLarge));
    if (!text.trim()) { fill(this.result); fill(this.longer); return; }
    const ran = this.run("explain");
    if (ran.code) return this.fail(sentence(ran));
    const said = JSON.parse(ran.text) as Explained;
    fill(this.result, ...said.parts.map((p) => explainedPart(this.app, p)),
      ...said.notes.map((n) => h("p", { class: `note ${n.level}` }, n.text)),
      ...said.engines.map((q) => h("p", { class: "note warning" }, h("strong", {}, q.engine), " ", q.text)));
    const { trained = null, served = null, groups = [] } = said.parts[0] ?? {}, group = groups[0];
    this.shape = group ? shapeOf(group) : {};
    fill(this.longer);
    if (trained === null) return; // a file that says no length has none to make longer
    this.target = Math.min((served ?? trained) * 4, longest);
    this.extendForm(trained);
  }

  private extendForm(trained: number): void {
    const out = h("div", {});
    const draw = (): void => {
      const ran = this.run("extend", "--to", `${this.target}`);
      fill(out, ran.code > 1 ? h("p", { class: "error" }, sentence(ran)) : extendTable(this.app, ran.text, this.shape));
    };
    fill(this.longer, h("h3", {}, this.app.t(words.extension)));
    this.app.slider(this.longer, {
      label: this.app.t(words.target), value: this.target, min: Math.min(trained, longest - 1), max: longest, log: true,
    }, (v) => { this.target = v; draw(); });
    this.longer.append(out);
    draw();
  }
}

/** A file dropped anywhere on the page is the model's, not the browser's to open. */
export function takeDrops(app: App): void {
  const ofFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  const over = (on: boolean) => (event: DragEvent): void => {
    if (!ofFiles(event)) return;
    event.preventDefault();
    panel?.over(on);
  };
  addEventListener("dragover", over(true));
  addEventListener("dragleave", over(false));
  addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    over(false)(event);
    if (!file) return;
    app.setState({ tab: "model" });
    void panel?.take(file);
  });
}
