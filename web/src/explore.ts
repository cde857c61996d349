// SPDX-License-Identifier: MIT
//
// The explorer: the forms of A and B and the shape on one side, the pictures, the live check, the steps and the code on
// the other.

import type { App, Slider, State } from "./app";
import { CodePanel } from "./code";
import { fill, h } from "./dom";
import { SideForm } from "./form";
import { Looks } from "./looks";
import { PropertiesPanel } from "./properties";
import type { Registry } from "./registry";
import { Stage } from "./stage";
import { bounds } from "./state";
import { shapeArgs, showArgs, subjectOf, type Subject, type View } from "./views";
import { WalkPanel } from "./walk";
import { words } from "./words";

type Common = "n" | "start" | "dim" | "model" | "heads";

/** The sliders of the shape, and the hooks that ask for each; none: always. */
const common: [Common, keyof typeof words, keyof typeof words, string[]][] = [
  ["n", "length", "lengthHelp", []],
  ["start", "start", "startHelp", []],
  ["dim", "headDim", "headDimHelp", ["rotate", "content", "value"]],
  ["model", "modelDim", "modelDimHelp", ["embed"]],
  ["heads", "heads", "headsHelp", ["content", "bias", "value"]],
];

export class Explore {
  private readonly formA: SideForm;
  private readonly formB: SideForm;
  private readonly boxB: HTMLElement;
  private readonly compare: HTMLButtonElement;
  private readonly sliders = new Map<Common, Slider>();
  private readonly stage: Stage;
  private readonly looks: Looks;
  private readonly properties: PropertiesPanel;
  private readonly walk: WalkPanel;
  private readonly code: CodePanel;
  private readonly subjects = new Map<string, Subject>();

  constructor(root: HTMLElement, private readonly app: App, registry: Registry) {
    this.formA = new SideForm(app, registry, "A", (a) => app.setState({ a }));
    this.formB = new SideForm(app, registry, "B", (b) => app.setState({ b }));
    this.compare = h("button", { type: "button", class: "quiet", onclick: () => this.toggle() });
    this.boxB = h("section", { class: "panel side-b", "aria-label": "B" }, h("h2", { class: "letter b" }, "B"), this.formB.root,
      h("button", { type: "button", class: "quiet", onclick: () => this.swap() }, app.t(words.swap)));
    const shape = h("section", { class: "panel shape" }, h("h2", {}, app.t(words.shape)));
    for (const [name, label, help] of common) this.slider(shape, name, app.t(words[label]), app.t(words[help]));
    const [pictures, looks, properties, walk, code] = ["pictures-box", "looks", "panel", "panel", "panel"].map((c) =>
      h("section", { class: c })) as [HTMLElement, HTMLElement, HTMLElement, HTMLElement, HTMLElement];
    fill(root,
      h("div", { class: "controls" },
        h("section", { class: "panel side-a", "aria-label": "A" }, h("h2", { class: "letter a" }, "A"), this.formA.root),
        this.compare, this.boxB, shape),
      h("div", { class: "stage" }, pictures, properties, walk, code));
    this.stage = new Stage(pictures, app);
    pictures.insertBefore(looks, pictures.lastElementChild);
    this.looks = new Looks(looks, app);
    this.properties = new PropertiesPanel(properties, app);
    this.walk = new WalkPanel(walk, app);
    this.code = new CodePanel(code, app);
  }

  private slider(el: HTMLElement, name: Common, label: string, help: string): void {
    const [min, max] = bounds[name];
    this.sliders.set(name, this.app.slider(el, {
      label, help, min, max: name === "start" ? 2 ** 20 : max, log: min > 0, value: this.app.state[name],
    }, (v) => this.app.setState({ [name]: v })));
  }

  private toggle(): void {
    const { a, b } = this.app.state;
    this.app.setState({ b: b ? "" : a === "sinusoidal" ? "rope" : a });
    if (!b) this.formB.root.querySelector("select")?.focus();
  }

  private swap(): void {
    const { a, b } = this.app.state;
    this.app.setState({ a: b, b: a });
  }

  private subject(spec: string, state: Readonly<State>): Subject {
    const key = [spec, ...shapeArgs(state)].join(" ");
    let known = this.subjects.get(key);
    if (!known) {
      if (this.subjects.size > 500) this.subjects.clear();
      known = subjectOf(this.app, spec, state);
      this.subjects.set(key, known);
    }
    return known;
  }

  /** Shows the state. What the tool refuses is said beside its form; the last good picture stays. */
  update(state: Readonly<State>): void {
    const a = this.subject(state.a, state), b = state.b ? this.subject(state.b, state) : null;
    this.formA.update(state.a, a.error);
    if (b) this.formB.update(state.b, b.error);
    this.boxB.hidden = !b;
    this.compare.textContent = this.app.t(b ? words.stopCompare : words.compare);
    const good = [[state.a, a], [state.b, b]].filter((x): x is [string, Subject] => x[1] !== null && (x[1] as Subject).error === "");
    const hooks = good.flatMap(([, s]) => s.hooks);
    for (const [name, , , needs] of common) {
      const slider = this.sliders.get(name);
      slider?.set(state[name]);
      if (slider) slider.root.hidden = needs.length > 0 && !needs.some((n) => hooks.includes(n));
    }
    if (good.length) this.show(good.map(([spec]) => spec), good.map(([, s]) => s), state);
  }

  private show(specs: string[], subjects: Subject[], state: Readonly<State>): void {
    const views = subjects.flatMap((s) => s.views)
      .filter((v, i, all) => all.findIndex((w) => w.name === v.name) === i);
    const chosen = Stage.chosen(views, state.view);
    const asked: View[] = views.filter((v) => chosen === "all" || v.name === chosen);
    this.looks.update(new Set(asked.flatMap((v) => v.asks)), state);
    this.stage.update(specs, views, state);
    this.properties.update(specs, shapeArgs(state));
    this.walk.update(specs[0] ?? "", state);
    const first = asked[0];
    this.code.update({ ...state, a: specs[0] ?? state.a }, subjects[0]?.hooks ?? [],
      first ? ["show", ...specs, ...showArgs(first, state, state.lang).filter((x, i, all) => x !== "--lang" && all[i - 1] !== "--lang")] : ["show", ...specs]);
  }
}
