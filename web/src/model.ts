// SPDX-License-Identifier: MIT
//
// A model's own file: `posenc explain` says what it does, `posenc extend` what a longer context would take.

import { sentence, type App, type Ran, type State } from "./app";
import { fill, h, newId } from "./dom";
import { pending, whenQuiet } from "./frame";
import { examples } from "./example";
import { explainedPart, shapeOf, type Explained } from "./explained";
import { extendTable } from "./extend";
import { words } from "./words";

const most = 2 ** 20; // bytes of a file
const echoed = 2 ** 16; // characters that the field shows; a longer file is read and not shown
const longest = 2 ** 24; // positions to serve

let panel: ModelPanel | null = null; // the one on the page

/** What the reader gave: it stays where the panel is made anew. What the file leaves open may be said beside it. */
interface Given {
  text: string;
  lenient: boolean;
  type: string; // model_type
  pairs: string; // half, adjacent
  trained: string; // a length
}

export class ModelPanel {
  private readonly given: Given;
  private readonly result = h("div", { class: "model-result", "aria-live": "polite" });
  private readonly longer = h("div", {});
  private readonly area: HTMLTextAreaElement;
  private readonly box: HTMLElement;
  private target = 0;
  private shape: Partial<State> = {};

  constructor(root: HTMLElement, private readonly app: App) {
    this.given = (app.kept.get("model") as Given | undefined) ?? { text: "", lenient: false, type: "", pairs: "", trained: "" };
    app.kept.set("model", this.given);
    const id = newId("config");
    this.area = h("textarea", { id, rows: "6", spellcheck: "false", placeholder: '{ "model_type": "llama", … }' });
    this.area.addEventListener("input", whenQuiet(() => this.read(this.area.value), 250));
    const file = h("input", { type: "file", id: `${id}-file`, accept: ".json,application/json", class: "hidden" });
    file.addEventListener("change", () => { const f = file.files?.[0]; if (f) void this.take(f); });
    this.box = h("div", { class: "drop" },
      h("label", { class: "button", for: `${id}-file` }, app.t(words.choose)), file, " ",
      this.examples(),
      h("label", { for: id, class: "quiet" }, app.t(words.paste)), this.area,
      this.said());
    fill(root, h("h2", {}, app.t(words.modelTitle)), h("p", {}, app.t(words.modelAbout)), this.box, this.result, this.longer);
    panel = this;
    if (this.given.text) this.give(this.given.text);
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

  /** What the file may leave open, to be said here: the options of the tool that its sentences name. */
  private said(): HTMLElement {
    const { app, given } = this, changed = (): void => this.read(given.text);
    const field = (label: string, control: HTMLInputElement | HTMLSelectElement): HTMLElement => {
      control.id = newId("given");
      return h("span", { class: "check" }, h("label", { for: control.id }, label), " ", control);
    };
    const lenient = h("input", { type: "checkbox", onchange: () => { given.lenient = lenient.checked; changed(); } });
    lenient.checked = given.lenient;
    const type = h("input", { type: "text", size: "10", spellcheck: "false", placeholder: "llama", onchange: () => { given.type = type.value.trim(); changed(); } });
    type.value = given.type;
    const pairs = h("select", { onchange: () => { given.pairs = pairs.value; changed(); } },
      h("option", { value: "" }, app.t(words.asFile)), h("option", { value: "half" }, "half"), h("option", { value: "adjacent" }, "adjacent"));
    pairs.value = given.pairs;
    const trained = h("input", { type: "number", min: "1", max: `${longest}`, step: "1", onchange: () => { given.trained = trained.value; changed(); } });
    trained.value = given.trained;
    return h("div", { class: "look" }, field("model_type", type), " ", field(app.t(words.pairLayout), pairs), " ", field(app.t(words.trained), trained),
      " ", field(app.t(words.lenient), lenient));
  }

  /** One command on the file at hand. */
  private run(verb: string, ...options: string[]): Ran {
    const { text, lenient, type, pairs, trained } = this.given;
    const more = [...(lenient ? ["--lenient"] : []), ...(type ? ["--type", type] : []), ...(pairs ? ["--pairs", pairs] : []),
      ...(trained ? ["--trained", trained] : [])];
    return this.app.run([verb, "config.json", "--json", ...options, ...more], { "config.json": text });
  }

  /** What the tool refuses, in its words; the options they name are the fields above. */
  private refused(ran: Ran): HTMLElement[] {
    const text = sentence(ran);
    const fields = /--(pairs|type|lenient|trained)\b/.test(text) ? [h("p", { class: "faint" }, this.app.t(words.sayAbove))] : [];
    return [h("p", { class: "error", lang: "en" }, text), ...fields];
  }

  /** A file is over the page, or no longer. */
  over(on: boolean): void {
    this.box.classList.toggle("over", on);
  }

  async take(file: File): Promise<void> {
    this.area.value = this.given.text = "";
    if (file.size > most) return this.fail(this.app.t(words.tooLarge));
    const done = pending("drawing"), text = await file.text().finally(done);
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
    this.given.text = text;
    if (text.length > most) return this.fail(this.app.t(words.tooLarge));
    if (!text.trim()) { fill(this.result); fill(this.longer); return; }
    const ran = this.run("explain");
    if (ran.code) { fill(this.result, ...this.refused(ran)); fill(this.longer); return; }
    const said = JSON.parse(ran.text) as Explained;
    fill(this.result, ...said.parts.map((p) => explainedPart(this.app, p)),
      ...said.notes.map((n) => h("p", { class: `note ${n.level}`, lang: "en" }, n.text)),
      ...said.engines.map((q) => h("p", { class: "note warning", lang: "en" }, h("strong", {}, q.engine), " ", q.text)));
    const { trained = null, served = null, groups = [] } = said.parts[0] ?? {}, group = groups[0];
    this.shape = group ? shapeOf(group) : {};
    fill(this.longer, h("h3", {}, this.app.t(words.extension)), trained === null && h("p", {}, this.app.t(words.noLength)));
    if (trained === null) return;
    this.target = Math.min((served ?? trained) * 4, longest);
    this.extendForm(trained);
  }

  private extendForm(trained: number): void {
    const out = h("div", {});
    const draw = (): void => {
      const ran = this.run("extend", "--to", `${this.target}`);
      fill(out, ...(ran.code > 1 ? this.refused(ran) : [extendTable(this.app, ran.text, this.shape)]));
    };
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
