// SPDX-License-Identifier: MIT
//
// A model's own file: `posenc explain` says what it does, `posenc extend` what a longer context would take.

import { sentence, type App, type Ran, type State } from "./app";
import { fill, h, newId } from "./dom";
import { whenQuiet } from "./frame";
import { examples } from "./example";
import { extendTable } from "./extend";
import { bounds } from "./state";
import { words } from "./words";

const most = 64 * 2 ** 20; // bytes of a file
const longest = 2 ** 24; // positions to serve

interface Group {
  spec: string;
  layers: number[];
  heads: number;
  kv_heads: number;
  head_dim: number;
  model_dim: number;
  rotation?: { magnitude: number; scaled: boolean; pairs_without_a_turn: number; extrapolates_from: number | null; pairs: unknown[] };
}

interface Explained {
  format: string;
  parts: { name: string; type: string; trained: number | null; served: number | null; groups: Group[] }[];
  notes: { level: string; text: string }[];
}

/** 0, 1, 2, 5 as "0–2, 5". */
function ranges(numbers: readonly number[]): string {
  const out: string[] = [];
  for (let i = 0; i < numbers.length; i++) {
    const first = i;
    while (i + 1 < numbers.length && (numbers[i + 1] ?? 0) === (numbers[i] ?? 0) + 1) i++;
    out.push(first === i ? `${numbers[i]}` : `${numbers[first]}–${numbers[i]}`);
  }
  return out.join(", ");
}

/** As much of the model's shape as the page shows. */
function shapeOf(g: Group): Partial<State> {
  return { dim: Math.min(g.head_dim, bounds.dim[1]), heads: Math.min(g.heads, bounds.heads[1]), model: Math.min(g.model_dim, 1024) };
}

export class ModelPanel {
  private text = "";
  private readonly result = h("div", { class: "model-result", "aria-live": "polite" });
  private readonly longer = h("div", {});
  private readonly area: HTMLTextAreaElement;
  private readonly lenient = h("input", { type: "checkbox", id: newId("lenient"), onchange: () => this.read(this.text) });
  private target = 0;
  private shape: Partial<State> = {};

  constructor(root: HTMLElement, private readonly app: App) {
    const id = newId("config");
    this.area = h("textarea", { id, rows: "6", spellcheck: "false", placeholder: '{ "model_type": "llama", … }' });
    this.area.addEventListener("input", whenQuiet(() => this.read(this.area.value), 250));
    const file = h("input", { type: "file", id: `${id}-file`, accept: ".json,application/json", class: "hidden" });
    file.addEventListener("change", () => { const f = file.files?.[0]; if (f) void this.take(f); });
    const drop = h("div", { class: "drop" },
      h("label", { class: "button", for: `${id}-file` }, app.t(words.choose)), file, " ",
      this.examples(),
      h("label", { for: id, class: "quiet" }, app.t(words.paste)), this.area,
      h("div", { class: "look check" }, this.lenient, " ", h("label", { for: this.lenient.id }, app.t(words.lenient))));
    this.droppable(drop);
    fill(root, h("h2", {}, app.t(words.modelTitle)), h("p", {}, app.t(words.modelAbout)), drop, this.result, this.longer);
  }

  private examples(): HTMLElement {
    const label = this.app.t(words.tryOne);
    const select = h("select", { class: "examples", "aria-label": label }, h("option", { value: "" }, label + " …"));
    for (const e of examples) select.append(h("option", { value: e.name }, e.name));
    select.addEventListener("change", () => {
      const chosen = examples.find((e) => e.name === select.value);
      if (chosen) this.read((this.area.value = JSON.stringify(chosen.config, null, 2)));
    });
    return select;
  }

  /** One command on the file at hand. */
  private run(verb: string, ...options: string[]): Ran {
    const lenient = this.lenient.checked ? ["--lenient"] : [];
    return this.app.run([verb, "config.json", "--json", ...options, ...lenient], { "config.json": this.text });
  }

  private droppable(el: HTMLElement): void {
    const over = (on: boolean) => (event: DragEvent) => {
      event.preventDefault();
      el.classList.toggle("over", on);
    };
    el.addEventListener("dragover", over(true));
    el.addEventListener("dragleave", over(false));
    el.addEventListener("drop", (event) => {
      over(false)(event);
      const f = event.dataTransfer?.files[0];
      if (f) void this.take(f);
    });
  }

  async take(file: File): Promise<void> {
    if (file.size > most) return this.fail(this.app.t(words.tooLarge));
    const text = await file.text();
    this.area.value = text;
    this.read(text);
  }

  private fail(sentence: string): void {
    fill(this.result, h("p", { class: "error" }, sentence));
    fill(this.longer);
  }

  read(text: string): void {
    this.text = text;
    if (!text.trim()) { fill(this.result); fill(this.longer); return; }
    const ran = this.run("explain");
    if (ran.code) return this.fail(sentence(ran));
    const said = JSON.parse(ran.text) as Explained;
    fill(this.result, ...said.parts.map((p) => this.part(p)),
      ...said.notes.map((n) => h("p", { class: `note ${n.level}` }, n.text)));
    const { trained = null, served = null, groups = [] } = said.parts[0] ?? {}, group = groups[0];
    this.shape = group ? shapeOf(group) : {};
    fill(this.longer);
    if (trained === null) return; // a file that says no length has none to make longer
    this.target = Math.min((served ?? trained) * 4, longest);
    this.extendForm(trained);
  }

  private part(p: Explained["parts"][number]): HTMLElement {
    const { app } = this;
    const head = h("tr", {}, ...["", words.layers, words.headsOf, ""].map((w) =>
      h("th", { scope: "col" }, typeof w === "string" ? (w || null) : app.t(w))));
    const rows = p.groups.map((g) => h("tr", {},
      h("td", {}, h("code", {}, g.spec)), h("td", {}, ranges(g.layers)), h("td", {}, `${g.heads} × ${g.head_dim}`),
      h("td", {}, h("button", { type: "button", class: "quiet", onclick: () => this.load(g) }, app.t(words.asA)))));
    return h("section", {},
      h("h3", {}, [p.name, p.type].filter(Boolean).join(" · ")),
      p.trained !== null && h("p", {}, `${app.t(words.trained)}: ${p.trained} · ${app.t(words.served)}: ${p.served}`),
      h("div", { class: "wide" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))));
  }

  private load(g: Group): void {
    this.app.setState({ ...shapeOf(g), tab: "explore", a: g.spec, n: 0 });
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
