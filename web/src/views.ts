// SPDX-License-Identifier: MIT
//
// `posenc show`: which views an encoding has, and the command line of one.

import { sentence, specArgs, type Ran, type State } from "./app";
import type { SaidPart } from "./spec";

export interface View {
  name: string;
  place: number; // in the tool's order
  title: string;
  about: string;
  asks: string[]; // what it looks at besides the shape, by option: "length", "start", "sentence"
}

export interface Subject {
  views: View[];
  spec: string; // as the tool writes it
  axes: number;
  hooks: string[];
  causal: boolean; // always seen through a causal mask
  parts: SaidPart[];
  error: string;
  waits?: boolean; // the tool is still at it
}

export function shapeArgs(s: Readonly<State>): string[] {
  return ["--heads", `${s.heads}`, "--head-dim", `${s.dim}`, "--model-dim", `${s.model}`];
}

/** The command that says what a spec is. */
export function subjectArgs(spec: string, state: Readonly<State>): string[] {
  return specArgs("show", [spec], ["--list", "--json", "--lang", state.lang, ...shapeArgs(state)]);
}

/** What the spec is, or why it is none, by what that command said. */
export function subjectOf(spec: string, ran: Ran): Subject {
  if (ran.code) return { views: [], spec, axes: 1, hooks: [], causal: false, parts: [], error: sentence(ran) };
  const said = JSON.parse(ran.text) as {
    specs: { spec: string; axes: number; hooks: string[]; causal: boolean; parts: SaidPart[] }[];
    views: (Omit<View, "place"> & { fits: string[] })[];
  };
  const { axes = 1, hooks = [], causal = false, parts = [], spec: canonical = spec } = said.specs[0] ?? {};
  const views = said.views.map((v, place) => ({ ...v, place })).filter((v) => v.fits.length > 0);
  return { views, spec: canonical, axes, hooks, causal, parts, error: "" };
}

export function showArgs(view: View, s: Readonly<State>, lang: string): string[] {
  const said: Record<string, string | true | null> = {
    length: s.n ? `${s.n}` : null, start: s.start ? `${s.start}` : null, at: s.at >= 0 ? `${s.at}` : null,
    head: s.head ? `${s.head}` : null, axis: s.axis ? `${s.axis}` : null, pairs: s.pairs || null,
    sentence: s.text || null, causal: s.causal || null, log: s.log || null,
  };
  const options = view.asks.flatMap((ask) => {
    const value = said[ask] ?? null;
    return value === null ? [] : value === true ? [`--${ask}`] : [`--${ask}`, value];
  });
  return ["--view", view.name, ...(lang ? ["--lang", lang] : []), ...shapeArgs(s), ...options];
}
