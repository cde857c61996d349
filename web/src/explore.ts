// SPDX-License-Identifier: MIT
//
// The explorer: the forms of A and B on one side; the pictures with their controls, the live check, the steps and the code
// on the other.

import type { App, State } from "./app";
import { CodePanel } from "./code";
import { fill, h } from "./dom";
import { SideForm } from "./form";
import { PropertiesPanel } from "./properties";
import type { Registry } from "./registry";
import { Stage } from "./stage";
import { renderStarts } from "./starts";
import { Strip } from "./strip";
import { shapeArgs, showArgs, subjectArgs, subjectOf, type Subject } from "./views";
import { WalkPanel } from "./walk";
import { words } from "./words";

function section(name: string): HTMLElement {
  return h("section", { class: name });
}

export class Explore {
  private readonly formA: SideForm;
  private readonly formB: SideForm;
  private readonly boxB: HTMLElement;
  private readonly names = { a: h("span", { class: "hidden" }), b: h("span", { class: "hidden" }) }; // in the headings, to hear
  private readonly compare: HTMLButtonElement;
  private readonly stage: Stage;
  private readonly strip: Strip;
  private readonly properties: PropertiesPanel;
  private readonly walk: WalkPanel;
  private readonly code: CodePanel;
  private readonly stageBox = h("div", { class: "stage nothing" });
  private readonly unread = h("section", { class: "panel unread", hidden: true }); // what stands where there is no picture yet
  private shown = false;
  private readonly subjects = new Map<string, Subject>();
  private readonly asked = new Map<object, string>(); // what a side waits for

  constructor(root: HTMLElement, private readonly app: App, registry: Registry, first: Readonly<State>) {
    this.formA = new SideForm(app, registry, "A", (a, place) => app.setState({ a }, place));
    this.formB = new SideForm(app, registry, "B", (b, place) => app.setState({ b }, place));
    this.compare = h("button", { type: "button", class: "quiet", id: "compare", onclick: () => this.toggle() });
    this.boxB = h("section", { class: "panel side-b", "aria-label": "B" }, h("h2", { class: "letter b" }, "B", this.names.b), this.formB.root,
      h("button", { type: "button", class: "plain", onclick: () => this.swap() }, "⇅ " + app.t(words.swap)));
    const pictures = section("pictures-box"), strip = section("strip shape");
    const starts = h("p", { class: "starts" }), properties = section("panel"), walk = section("panel"), code = section("panel");
    fill(root,
      h("div", { class: "controls" },
        h("section", { class: "panel side-a", "aria-label": "A" }, h("h2", { class: "letter a" }, "A", this.names.a), this.formA.root),
        this.compare, this.boxB),
      this.stageBox);
    fill(this.stageBox, starts, this.unread, pictures, properties, walk, code);
    renderStarts(starts, app, first);
    this.stage = new Stage(pictures, app, strip);
    this.strip = new Strip(strip, app, first);
    this.properties = new PropertiesPanel(properties, app);
    this.walk = new WalkPanel(walk, app);
    this.code = new CodePanel(code, app);
  }

  /** Nothing moves while the explorer is out of sight. */
  rest(): void {
    this.strip.stop();
  }

  stop(): void {
    this.rest();
    this.stage.stop();
  }

  private toggle(): void {
    const { a, b } = this.app.state;
    this.app.setState({ b: b ? "" : a }, true);
  }

  private swap(): void {
    const { a, b } = this.app.state;
    this.app.setState({ a: b, b: a }, true);
  }

  /** What the spec of a side is; where that takes long, that it is being found out. */
  private subject(side: object, spec: string, state: Readonly<State>): Subject {
    const args = subjectArgs(spec, state), key = args.join(" ");
    const known = this.subjects.get(key);
    if (known) return known;
    if (this.subjects.size > 500) this.subjects.clear();
    this.subjects.delete(this.asked.get(side) ?? ""); // no longer waited for
    this.asked.delete(side);
    const slow = this.app.newest(args, side, (ran) => {
      const waited = this.asked.delete(side);
      this.subjects.set(key, subjectOf(spec, ran));
      if (waited) this.app.setState({});
    });
    if (slow) this.asked.set(side, key);
    if (slow) this.subjects.set(key, { views: [], spec, axes: 1, hooks: [], causal: false, parts: [], error: this.app.t(words.measuring), waits: true });
    return this.subjects.get(key) as Subject;
  }

  /** Shows the state. What the tool refuses is said beside its form; the last good picture stays. */
  update(state: Readonly<State>): void {
    const a = this.subject(this.formA, state.a, state), b = state.b ? this.subject(this.formB, state.b, state) : null;
    this.formA.update(state.a, a, state.dim);
    if (b) this.formB.update(state.b, b, state.dim);
    this.names.a.textContent = `: ${a.parts.map((p) => p.name).join(" + ") || state.a}`;
    this.names.b.textContent = `: ${b?.parts.map((p) => p.name).join(" + ") || state.b}`;
    this.boxB.hidden = !b;
    this.compare.textContent = this.app.t(b ? words.stopCompare : words.compare);
    const good = [a, b].filter((s): s is Subject => s !== null && s.error === "");
    this.shown = this.shown || good.length > 0;
    this.stageBox.classList.toggle("nothing", !this.shown);
    this.unread.hidden = this.shown || a.waits === true;
    fill(this.unread, h("p", { class: "error" }, a.error), h("p", {}, this.app.t(words.unread)));
    if (good.length) this.show(good, state);
  }

  private show(subjects: Subject[], state: Readonly<State>): void {
    const specs = subjects.map((s) => s.spec), hooks = subjects.map((s) => s.hooks);
    const views = subjects.flatMap((s) => s.views).filter((v, i, all) => all.findIndex((w) => w.name === v.name) === i)
      .sort((v, w) => v.place - w.place);
    const shared = views.find((v) => subjects.every((s) => s.views.some((w) => w.name === v.name)));
    const asked = state.view === "all" || views.some((v) => v.name === state.view);
    const chosen = asked ? state.view : (shared ?? views[0])?.name ?? "";
    const inSight = views.filter((v) => chosen === "all" || v.name === chosen);
    this.strip.update(new Set(inSight.flatMap((v) => v.asks)), new Set(hooks.flat()), Math.max(...subjects.map((s) => s.axes)),
      subjects.filter((s) => s.causal).map((s) => s.spec), state);
    this.stage.update(specs, views, chosen, state);
    this.properties.update(specs, shapeArgs(state));
    this.walk.update(specs[0] ?? "", state.walk);
    const first = inSight[0];
    this.code.update(state, subjects, first ? showArgs(first, state, "") : []);
  }
}
