// SPDX-License-Identifier: MIT
//
// `posenc walk --json` as a list of steps: the formula with letters, then line by line the same with numbers.

import { sentence, specArgs, type App } from "./app";
import { fill, h } from "./dom";
import { words } from "./words";

interface Line {
  name: string | null; // "q'[0]"
  text: string | null; // "0.2 · 0.9 - ...", or a sentence
  shown: string[]; // its value; several: a vector
}

interface Step {
  title: string;
  formula: string | null;
  lines: Line[];
  note: string | null;
}

function line(l: Line): HTMLElement {
  if (l.name === null) return h("tr", {}, h("td", { colspan: "3", class: "said" }, l.text ?? ""));
  const vector = l.shown.length > 1 || l.text === null;
  return h("tr", {}, h("th", { scope: "row" }, l.name),
    vector ? h("td", { colspan: "2", class: "vector" }, ...l.shown.map((v) => h("span", {}, v)))
      : h("td", {}, l.text ?? ""),
    !vector && h("td", { class: "result" }, l.shown[0] ?? ""));
}

function steps(json: string): HTMLElement {
  const { steps } = JSON.parse(json) as { steps: Step[] };
  return h("ol", { class: "steps" }, ...steps.map((s) => h("li", {},
    h("h3", {}, s.title), s.formula && h("code", { class: "formula" }, s.formula),
    h("div", { class: "wide" }, h("table", { class: "walk" }, h("tbody", {}, ...s.lines.map(line)))),
    s.note && h("p", { class: "faint note-below" }, s.note))));
}

export function walkOutput(el: HTMLElement, spec: string, options: readonly string[], app: App): void {
  const slow = app.newest(specArgs("walk", [spec], [...options, "--json", "--lang", app.lang]), el, (ran) =>
    fill(el, ran.code ? h("p", { class: "error", role: "alert" }, sentence(ran)) : steps(ran.text)));
  if (slow) fill(el, h("p", { class: "faint" }, app.t(words.measuring)));
}
