// SPDX-License-Identifier: MIT
//
// `posenc show`: which views an encoding has, and the command line of one.

import { sentence, type App, type State } from "./app";

export interface View {
  name: string;
  title: string;
  about: string;
  asks: string[]; // what it looks at besides the shape: "length", "start", "position", "head", "sentence", "causal"
}

export interface Subject {
  views: View[];
  hooks: string[];
  error: string;
}

export function shapeArgs(s: Readonly<State>): string[] {
  return ["--heads", `${s.heads}`, "--head-dim", `${s.dim}`, "--model-dim", `${s.model}`];
}

/** What the spec is, or why it is none. */
export function subjectOf(app: App, spec: string, state: Readonly<State>): Subject {
  const ran = app.run(["show", spec, "--list", "--json", "--lang", app.lang, ...shapeArgs(state)]);
  if (ran.code) return { views: [], hooks: [], error: sentence(ran) };
  const said = JSON.parse(ran.text) as { hooks?: string[]; views: (Omit<View, "asks"> & { asks?: string[] })[] };
  return { views: said.views.map((v) => ({ ...v, asks: v.asks ?? [] })), hooks: said.hooks ?? [], error: "" };
}

export function showArgs(view: View, s: Readonly<State>, lang: string): string[] {
  const args = ["--view", view.name, "--lang", lang, ...shapeArgs(s)];
  const asks = (what: string): boolean => view.asks.includes(what);
  if (asks("length")) args.push("-n", `${s.n}`);
  if (asks("start")) args.push("--start", `${s.start}`);
  if (asks("position")) args.push("--at", `${s.at}`);
  if (asks("head")) args.push("--head", `${Math.min(s.head, s.heads - 1)}`);
  if (asks("sentence") && s.text) args.push("--text", s.text);
  if (asks("causal") && s.causal) args.push("--causal");
  return args;
}
