// SPDX-License-Identifier: MIT
//
// The state and its link: #a=rope%3Atheta%3D500000&n=64. What has its first value is left out; what a link spells wrong
// is taken as not said.

import type { Lang, State } from "./app";

export const tabs = ["story", "explore", "sheet", "model", "claims", "glossary"] as const;

export function firstState(lang: Lang): State {
  return {
    tab: "explore", a: "rope", b: "", view: "", n: 0, start: 0, dim: 64, heads: 8, model: 128, at: -1, head: 0,
    axis: 0, pairs: "", causal: false, log: false, text: "", walk: "", step: "", demo: "", figure: 0, term: "", lang, theme: "", embed: false,
  };
}

/** Bounds of what is a number: far enough for any question, near enough for a page. */
export const bounds: Record<"n" | "start" | "dim" | "heads" | "model" | "at" | "head" | "axis" | "figure", [number, number]> = {
  n: [0, 2 ** 30], start: [0, 2 ** 36 - 4096], dim: [2, 512], heads: [1, 128], model: [2, 4096], at: [-1, 2 ** 36 - 1],
  head: [0, 127], axis: [0, 7], figure: [0, 9],
};

function number(name: keyof typeof bounds, text: string, fallback: number): number {
  const value = Number(text);
  const [low, high] = bounds[name];
  return text !== "" && Number.isInteger(value) && value >= low && value <= high ? value : fallback;
}

/** Whether a hash is a link of ours: an anchor such as #main says nothing of the state. */
export function isLink(hash: string): boolean {
  return hash.length < 2 || hash.includes("=");
}

/** A '+' is a '+', as in a=rope+alibi typed by hand: links of ours write a space as %20. */
export function readLink(hash: string, first: State): State {
  const said = new URLSearchParams(hash.replace(/^#/, "").replaceAll("+", "%2B"));
  const state: State = { ...first };
  for (const name of Object.keys(bounds) as (keyof typeof bounds)[])
    state[name] = number(name, said.get(name) ?? "", first[name]);
  for (const name of ["a", "b", "view", "text", "pairs", "walk", "step", "demo", "term"] as const) state[name] = said.get(name) ?? first[name];
  const tab = said.get("tab") ?? "", lang = said.get("lang") ?? "", theme = said.get("theme") ?? "";
  if ((tabs as readonly string[]).includes(tab)) state.tab = tab;
  if (lang === "en" || lang === "zh") state.lang = lang;
  if (theme === "light" || theme === "dark") state.theme = theme;
  for (const name of ["causal", "log", "embed"] as const) state[name] = said.get(name) === "1";
  if (!state.a) state.a = first.a;
  if (!tab && !said.has("a") && !said.has("view")) state.tab = "story"; // a link of the lab names an encoding
  return state;
}

export function writeLink(state: Readonly<State>, first: Readonly<State>): string {
  const said = new URLSearchParams();
  for (const name of Object.keys(first) as (keyof State)[]) {
    const value = state[name];
    if (value !== first[name] || name === "a") said.set(name, value === true ? "1" : value === false ? "0" : String(value));
  }
  return "#" + said.toString().replaceAll("+", "%20");
}
