// SPDX-License-Identifier: MIT
//
// A demo of the story: its controls, and what the tool answers to their values. Whatever changes, only the outputs that
// hold its {name} are asked again.

import type { App, Slider, State } from "./app";
import { fill, h, newId } from "./dom";
import { WhileSeen } from "./frame";
import { claimOutput } from "./story_claim";
import { clockOutput } from "./story_clock";
import { modelsOutput } from "./story_models";
import { Player } from "./story_play";
import { rowsOutput } from "./story_rows";
import { rulersOutput } from "./story_rulers";
import { wordsField } from "./story_words";
import type { ChoiceControl, Control, Demo, Option, Output, TextControl } from "./story_scene";
import { marked, paragraph, type Formulas } from "./marked";
import { walkOutput } from "./walk_steps";

const words = {
  open: { en: "Open it in the lab", zh: "在实验台打开" },
};

export type Values = Map<string, string>; // by the control's id

/** Puts values where {name} stands; a value may hold a {name} itself. */
export function filled(template: string, values: Values): string {
  const once = (text: string): string => text.replace(/\{([a-z]+)\}/g, (all, id: string) => values.get(id) ?? all);
  return once(once(template));
}

/** Words of a command line; what is empty once filled is left out. */
export function command(templates: readonly string[], values: Values): string[] {
  return templates.map((t) => filled(t, values)).filter((word) => word !== "");
}

function firstValue(c: Control, app: App): string {
  if (c.kind === "slider") return String(c.value);
  if (c.kind === "kept") return c.value;
  return c.kind === "choice" ? (c.options[0]?.value ?? "") : app.t(c.value);
}

/** A control's value as a link has it: of a choice, which one. */
function said(c: Control, value: string): string {
  return c.kind === "choice" ? String(c.options.findIndex((o) => o.value === value)) : value;
}

/** What a link says of a control; undefined: nothing that it could be. */
function heard(c: Control, text: string | null): string | undefined {
  if (text === null || text === "") return undefined;
  if (c.kind === "choice") return c.options[Number(text)]?.value;
  if (c.kind !== "slider") return text.slice(0, 400);
  const value = Number(text);
  return value >= c.min && value <= c.max ? String(value) : undefined;
}

/** The values of each demo, from the link's "0.n=64&1.spec=2". */
export function readDemos(text: string, demos: readonly Demo[], app: App): Values[] {
  const link = new URLSearchParams(text);
  return demos.map((d, n) => new Map(d.controls.map((c) => [c.id, heard(c, link.get(`${n}.${c.id}`)) ?? firstValue(c, app)])));
}

/** That text: only what has been changed. */
export function writeDemos(values: readonly Values[], demos: readonly Demo[], app: App): string {
  const link = new URLSearchParams();
  demos.forEach((d, n) => d.controls.forEach((c) => {
    const value = values[n]?.get(c.id) ?? "";
    if (value !== firstValue(c, app)) link.set(`${n}.${c.id}`, said(c, value));
  }));
  return link.toString();
}

function textField(c: TextControl, values: Values, changed: (id: string) => void, app: App): HTMLElement {
  const id = newId("words");
  const field = h("input", { type: "text", id, value: values.get(c.id) ?? "", autocomplete: "off", spellcheck: "false" });
  field.addEventListener("input", () => {
    values.set(c.id, field.value.trim() || app.t(c.value));
    changed(c.id);
  });
  return h("div", { class: "field" }, h("label", { for: id }, app.t(c.label)), field);
}

function choiceButtons(c: ChoiceControl, formulas: Formulas, values: Values, changed: (id: string) => void, app: App): HTMLElement {
  const note = h("div", { class: "chosen", role: "status" });
  const explain = (o: Option | undefined): void =>
    fill(note, o?.formula ? paragraph(`{${o.formula}}`, app, formulas) : null, o?.note ? h("p", {}, ...marked(app.t(o.note), app, formulas)) : null);
  const name = newId("choice");
  const buttons = c.options.map((o, n) => {
    const radio = h("input", { type: "radio", name, id: `${name}-${n}`, checked: o.value === values.get(c.id) });
    radio.addEventListener("change", () => {
      values.set(c.id, o.value);
      explain(o);
      changed(c.id);
    });
    return h("span", { class: "choice" }, radio, h("label", { for: `${name}-${n}` }, app.t(o.label)));
  });
  explain(c.options.find((o) => o.value === values.get(c.id)));
  const label = h("legend", {}, app.t(c.label));
  return h("div", {}, h("fieldset", { class: "choices" }, label, ...buttons), note);
}

function addControl(to: HTMLElement, c: Control, formulas: Formulas, values: Values, changed: (id: string) => void, app: App): Slider | null {
  if (c.kind === "kept") return null;
  if (c.kind === "words") to.append(wordsField(app.t(c.label), values.get(c.id) ?? "", app, (text) => { values.set(c.id, text); changed(c.id); }));
  else if (c.kind === "text") to.append(textField(c, values, changed, app));
  else if (c.kind === "choice") to.append(choiceButtons(c, formulas, values, changed, app));
  else {
    const { min, max, step = 1, log = false } = c;
    return app.slider(to, { label: app.t(c.label), value: Number(values.get(c.id)), min, max, step, log }, (value) => {
      values.set(c.id, String(value));
      changed(c.id);
    });
  }
  return null;
}

/** Everything an output says of its command, to see which controls it listens to. */
function mentions(o: Output): string {
  if (o.kind === "claim") return o.claim;
  if (o.kind === "models") return "";
  if (o.kind === "rulers") return [...o.lengths, o.at].join(" ");
  if (o.kind === "clock") return [...o.command, o.at, o.other ?? "", o.both ?? ""].join(" ");
  return [o.spec, ...(o.kind === "picture" ? [o.view] : []), ...(o.options ?? [])].join(" ");
}

function show(el: HTMLElement, o: Output, alone: boolean, values: Values, set: (id: string, value: number) => void, keep: () => void, app: App): void {
  if (o.kind === "claim") claimOutput(el, filled(o.claim, values), alone, app);
  else if (o.kind === "models") modelsOutput(el, o.what, values, keep, app);
  else if (o.kind === "rulers") rulersOutput(el, o.lengths.map((n) => Number(filled(n, values))), Number(filled(o.at, values)), app);
  else if (o.kind === "rows") rowsOutput(el, filled(o.spec, values), command(o.options, values), app);
  else if (o.kind === "clock") {
    const both = Number(filled(o.both ?? "0", values));
    clockOutput(el, o, command(o.command, values), Number(filled(o.at, values)) + both, Number(filled(o.other ?? "0", values)) + both, app,
      (which, t) => set((which === "at" ? o.at : o.other ?? "").slice(1, -1), Math.max(0, t - both)));
  }
  else {
    const spec = filled(o.spec, values), options = command(o.options ?? [], values);
    if (o.kind === "walk") walkOutput(el, spec, options, app);
    else {
      const view = filled(o.view, values), only = o.only?.[view];
      app.picture(el, { spec, view, options, alone: true, pairs: o.pairs ?? false, ...(only && { only }) });
    }
  }
}

/** The same picture in the explorer, with what it can take over from the demo. */
function explorer(o: Output & { kind: "picture" }, values: Values): Partial<State> {
  const state: Partial<State> = { tab: "explore", a: filled(o.spec, values), b: "", view: filled(o.view, values) };
  if (values.has("n")) state.n = Number(values.get("n"));
  if (values.has("words")) state.text = values.get("words") ?? "";
  return state;
}

/** The ids whose change an output must follow: those it names, and those that the values of these name. */
function listens(o: Output, values: Values): Set<string> {
  const named = (text: string): string[] => [...text.matchAll(/\{([a-z]+)\}/g)].map((m) => m[1] ?? "");
  const direct = named(mentions(o));
  return new Set([...direct, ...direct.flatMap((id) => named(values.get(id) ?? ""))]);
}

/** An output's place on the page, and how it is filled. alone: its figure has no other. */
function output(o: Output, alone: boolean, values: Values, set: (id: string, value: number) => void, keep: () => void, app: App): { o: Output; box: HTMLElement; draw: () => void } {
  const scrolls = o.kind === "walk" ? { tabindex: 0, role: "region", "aria-label": filled(o.spec, values) } : {};
  const el = h("div", { class: `output ${o.kind}${o.kind === "picture" && o.pairs ? " pairs" : ""}`, ...scrolls });
  const seen = new WhileSeen(el, () => show(el, o, alone, values, set, keep, app)), draw = (): void => seen.ask();
  if (o.kind !== "picture") return { o, box: el, draw };
  const link = app.leads(h("a", { class: "open" }, app.t(words.open)), () => explorer(o, values));
  return { o, box: h("div", { class: o.narrow ? "narrow" : null }, el, link), draw };
}

export function renderDemo(demo: Demo, formulas: Formulas, values: Values, keep: () => void, app: App): HTMLElement {
  const sliders = new Map<string, Slider>();
  const set = (id: string, value: number, unasked = false): void => {
    sliders.get(id)?.set(value);
    values.set(id, String(value));
    draw(id);
    if (!unasked) keep();
  };
  const outputs = demo.outputs.map((o) => output(o, demo.outputs.length === 1, values, set, keep, app));
  const draw = (id: string): void => {
    for (const o of outputs) if (listens(o.o, values).has(id)) o.draw();
  };
  const changed = (id: string): void => {
    draw(id);
    keep();
  };
  const controls = h("div", { class: "demo-controls" });
  for (const c of demo.controls) {
    const slider = addControl(controls, c, formulas, values, changed, app);
    if (slider) sliders.set(c.id, slider);
    if (slider && c.kind === "slider" && c.play) new Player(slider, { ms: c.play, min: c.min, max: c.max, begins: c.begins ?? false }, (value, unasked) => set(c.id, value, unasked), app);
  }
  const [first, ...rest] = outputs.map(({ box }) => box);
  const title = h("h3", { class: demo.folded ? null : "hidden" }, app.t(demo.title)), insight = h("p", { class: "insight" }, ...marked(app.t(demo.insight), app, formulas));
  return h(demo.folded ? "details" : "section", { class: "demo", "aria-label": app.t(demo.title) },
    demo.folded ? h("summary", {}, title) : title, insight, controls, first, ...rest);
}
