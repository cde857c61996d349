// SPDX-License-Identifier: MIT
//
// A model's own file: `posenc explain` says what it does, `posenc extend` what a longer context would take.

import { sentence, type App, type State } from "./app";
import { fill, h, newId } from "./dom";
import { whenQuiet } from "./frame";
import { extendTable } from "./extend";
import { bounds } from "./state";
import { words } from "./words";

const most = 64 * 2 ** 20;

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
  parts: { name: string; type: string; trained: number; served: number; groups: Group[] }[];
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
  private target = 0;
  private shape: Partial<State> = {};

  constructor(root: HTMLElement, private readonly app: App, example: string) {
    const id = newId("config");
    this.area = h("textarea", { id, rows: "6", spellcheck: "false", placeholder: '{ "model_type": "llama", … }' });
    this.area.addEventListener("input", whenQuiet(() => this.read(this.area.value), 250));
    const file = h("input", { type: "file", id: `${id}-file`, accept: ".json,application/json", class: "hidden" });
    file.addEventListener("change", () => { const f = file.files?.[0]; if (f) void this.take(f); });
    const drop = h("div", { class: "drop" },
      h("label", { class: "button", for: `${id}-file` }, app.t(words.choose)), file, " ",
      h("button", { type: "button", class: "quiet", onclick: () => { this.area.value = example; this.read(example); } }, app.t(words.tryOne)),
      h("label", { for: id, class: "quiet" }, app.t(words.paste)), this.area);
    this.droppable(drop);
    fill(root, h("h2", {}, app.t(words.modelTitle)), h("p", {}, app.t(words.modelAbout)), drop, this.result, this.longer);
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
    const ran = this.app.run(["explain", "config.json", "--json"], { "config.json": text });
    if (ran.code) return this.fail(sentence(ran));
    const said = JSON.parse(ran.text) as Explained;
    fill(this.result, ...said.parts.map((p) => this.part(p)),
      ...said.notes.map((n) => h("p", { class: `note ${n.level}` }, n.text)));
    const trained = said.parts[0]?.trained ?? 0, group = said.parts[0]?.groups[0];
    this.shape = group ? shapeOf(group) : {};
    this.target = Math.min((said.parts[0]?.served ?? trained) * 4, 2 ** 24) || 32768;
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
      h("p", {}, `${app.t(words.trained)}: ${p.trained} · ${app.t(words.served)}: ${p.served}`),
      h("div", { class: "wide" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))));
  }

  private load(g: Group): void {
    this.app.setState({ ...shapeOf(g), tab: "explore", a: g.spec, n: 0 });
  }

  private extendForm(trained: number): void {
    const out = h("div", {});
    const draw = (): void => {
      const ran = this.app.run(["extend", "config.json", "--json", "--to", `${this.target}`], { "config.json": this.text });
      fill(out, ran.code ? h("p", { class: "error" }, sentence(ran)) : extendTable(this.app, ran.text, this.shape));
    };
    fill(this.longer, h("h3", {}, this.app.t(words.extension)));
    this.app.slider(this.longer, {
      label: this.app.t(words.target), value: this.target, min: Math.max(trained, 1), max: 2 ** 24, log: true,
    }, (v) => { this.target = v; draw(); });
    this.longer.append(out);
    draw();
  }
}
