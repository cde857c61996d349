// SPDX-License-Identifier: MIT
//
// The control of one key of an encoding, by what the registry says of it: a choice, a slider with its field, a text.

import type { App } from "./app";
import { h, newId } from "./dom";
import type { Key } from "./registry";
import { words } from "./words";

export interface KeyControl {
  root: HTMLElement;
  /** undefined: not given, so that the default holds. */
  set(value: string | undefined): void;
}

type Change = (value: string | undefined) => void;

/** A slider serves where its range can be walked through: in steps, or in ratios where it is wide. */
function walkable(key: Key): "steps" | "ratios" | null {
  const { min, max } = key;
  if (key.kind === "list" || key.kind === "choice" || min === null || max === null) return null;
  if (min > 0 && max / min > 500) return "ratios";
  if (max - min <= 4096) return "steps";
  return min === 0 ? "ratios" : null;
}

function choice(app: App, side: string, key: Key, change: Change): KeyControl {
  const id = newId("key");
  const select = h("select", { id, "data-key": key.name, "aria-describedby": `${id}-help` });
  for (const c of key.choices) select.append(h("option", { value: c }, c));
  const first = key.default ?? key.choices[0] ?? "";
  select.addEventListener("change", () => change(select.value === first ? undefined : select.value));
  const root = h("div", { class: "key" },
    h("label", { for: id }, h("span", { class: "hidden" }, `${side}: `), key.name), select, h("p", { class: "help", id: `${id}-help` }, app.about(key.help)));
  return { root, set: (v) => { select.value = v ?? first; } };
}

function typed(app: App, side: string, key: Key, change: Change): KeyControl {
  const id = newId("key");
  const field = h("input", {
    type: "text", id, "data-key": key.name, placeholder: key.default ?? app.t(words.auto), spellcheck: "false",
    autocomplete: "off", "aria-describedby": `${id}-help`,
  });
  field.addEventListener("input", () => change(field.value.trim() || undefined));
  const root = h("div", { class: "key" },
    h("label", { for: id }, h("span", { class: "hidden" }, `${side}: `), key.name), field, h("p", { class: "help", id: `${id}-help` }, app.about(key.help)));
  return {
    root,
    set: (v) => { if (document.activeElement !== field) field.value = v ?? ""; },
  };
}

function slid(app: App, side: string, key: Key, ratios: boolean, change: Change): KeyControl {
  const fallback = key.default === null ? NaN : Number(key.default);
  const root = h("div", { class: "key" });
  const reset = h("button", {
    type: "button", class: "plain reset", hidden: true, title: app.t(words.reset),
    "aria-label": `${side}: ${key.name}: ${app.t(words.reset)}`,
    onclick: () => { control.set(fallback); reset.hidden = true; change(undefined); },
  }, "↺");
  const whole = key.kind === "int";
  const control = app.slider(root, {
    label: key.name, side, free: true, value: fallback, min: key.min ?? 0, max: key.max ?? 0, log: ratios, none: app.t(words.auto),
    step: whole ? 1 : 0.01, help: app.about(key.help),
  }, (v) => { reset.hidden = Number.isNaN(v); change(Number.isNaN(v) ? undefined : String(v)); });
  control.root.dataset.key = key.name;
  control.root.prepend(reset);
  return {
    root,
    set: (v) => { reset.hidden = v === undefined; control.set(v === undefined ? fallback : Number(v)); },
  };
}

/** side: A or B, for those who hear the label. */
export function keyControl(app: App, side: string, key: Key, change: Change): KeyControl {
  if (key.kind === "choice") return choice(app, side, key, change);
  const way = walkable(key);
  return way ? slid(app, side, key, way === "ratios", change) : typed(app, side, key, change);
}
