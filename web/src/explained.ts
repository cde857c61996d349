// SPDX-License-Identifier: MIT
//
// `posenc explain --json` on the page: the parts of a model, its groups of layers, what their pairs saw in training.

import type { App, State } from "./app";
import { h } from "./dom";
import { bounds } from "./state";
import { words } from "./words";

export interface Group {
  spec: string;
  layers: number[];
  heads: number;
  head_dim: number;
  model_dim: number;
  rotation?: { pairs_without_a_turn: number; extrapolates_from: number | null; pairs: unknown[] };
}

export interface Part {
  name: string;
  type: string;
  trained: number | null;
  served: number | null;
  groups: Group[];
}

export interface Explained {
  parts: Part[];
  notes: { level: string; text: string }[];
  engines: { engine: string; kind: string; text: string }[];
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
export function shapeOf(g: Group): Partial<State> {
  return { dim: Math.min(g.head_dim, bounds.dim[1]), heads: Math.min(g.heads, bounds.heads[1]), model: Math.min(g.model_dim, bounds.model[1]) };
}

function saw(app: App, g: Group): string {
  const r = g.rotation;
  if (!r) return "";
  const rest = r.pairs_without_a_turn ? `, ${r.pairs_without_a_turn} ${app.t(words.noTurn)}` : "";
  const from = r.extrapolates_from !== null && r.pairs_without_a_turn ? `; ${app.t(words.newAngles)} ${r.extrapolates_from}` : "";
  return `${r.pairs.length} ${app.t(words.pairsOf)}${rest}${from}`;
}

/** Where the page has no room for the model's own: what it is shown with. */
function cut(app: App, g: Group): HTMLElement | null {
  const { dim = 0, model = 0, heads = 0 } = shapeOf(g);
  if (dim === g.head_dim && model === g.model_dim && heads === g.heads) return null;
  return h("div", { class: "faint" }, app.t(words.cutShape).replace("MODEL", `${model}`).replace("DIM", `${dim}`));
}

function groupRow(app: App, g: Group): HTMLElement {
  const show = (): void => app.setState({ ...shapeOf(g), tab: "explore", a: g.spec, n: 0 });
  return h("tr", {},
    h("td", { class: "spec-cell" }, h("code", {}, g.spec)), h("td", {}, ranges(g.layers)), h("td", {}, `${g.heads} × ${g.head_dim}`),
    h("td", {}, saw(app, g)),
    h("td", {}, h("button", { type: "button", class: "quiet small", onclick: show }, app.t(words.asA)), cut(app, g)));
}

/** The wavelengths of a group that turns, against the length it was trained at. */
function waves(app: App, p: Part, g: Group | undefined): HTMLElement | null {
  if (!g?.rotation?.pairs.length || p.trained === null) return null;
  const el = h("div", { class: "model-picture" });
  requestAnimationFrame(() => app.picture(el, {
    spec: g.spec, view: "wavelengths", options: ["-n", `${p.trained}`, "--heads", `${g.heads}`, "--head-dim", `${g.head_dim}`, "--model-dim", `${g.model_dim}`],
  }));
  return el;
}

export function explainedPart(app: App, p: Part): HTMLElement {
  const head = ["", app.t(words.layers), app.t(words.headsOf), app.t(words.rotation), ""].map((t) => h("th", { scope: "col" }, t));
  return h("section", {},
    h("h3", {}, [p.name, p.type].filter(Boolean).join(" · ")),
    p.trained !== null && h("p", {}, `${app.t(words.trained)}: ${p.trained} · ${app.t(words.served)}: ${p.served ?? p.trained}`),
    h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, ...head)),
      h("tbody", {}, ...p.groups.map((g) => groupRow(app, g))))),
    waves(app, p, p.groups.find((g) => g.rotation)));
}
