// SPDX-License-Identifier: MIT
//
// The rows of attention of a word that occurs twice, one below the other: equal, or not.

import { sentence, specArgs, type App } from "./app";
import { fill, h } from "./dom";

interface Said {
  figures: { caption: string; mark: string | null; row_names: string[]; values: number[][] }[];
}

const words = {
  row: { en: "what “WORD”, place N, attends to", zh: "“WORD”（第 N 个）关注什么" },
  none: { en: "No word occurs twice.", zh: "没有重复的词。" },
  equal: { en: "equal", zh: "相等" },
  apart: { en: "different", zh: "不同" },
};

/** The places of the last word that has a second place. */
function twice(names: readonly string[]): number[] {
  const word = [...names].reverse().find((n) => names.indexOf(n) !== names.lastIndexOf(n));
  return names.flatMap((n, at) => (n === word ? [at] : []));
}

function row(names: readonly string[], weights: readonly number[], at: number, app: App): HTMLElement {
  const most = Math.max(...weights);
  const cells = weights.map((w, key) => {
    const bar = h("span", { class: "weight-bar" });
    bar.style.height = `${(100 * w) / most}%`;
    return h("td", {}, h("span", { class: "weight" }, bar), h("span", { class: "weight-number" }, w.toFixed(3)), h("span", { class: "weight-word" }, names[key] ?? ""));
  });
  const label = app.t(words.row).replace("WORD", names[at] ?? "").replace("N", `${at + 1}`);
  return h("tr", {}, h("th", { scope: "row" }, label), ...cells);
}

export function rowsOutput(el: HTMLElement, spec: string, options: readonly string[], app: App): void {
  const ran = app.run(specArgs("show", [spec], ["--view", "attention", "--as", "json", "--lang", app.lang, ...options]));
  if (ran.code) return fill(el, h("p", { class: "error", role: "alert" }, sentence(ran)));
  const figure = (JSON.parse(ran.text) as Said).figures.at(-1);
  const names = figure?.row_names ?? [], places = twice(names).slice(0, 2), rows = places.map((at) => figure?.values[at] ?? []);
  const same = rows.length === 2 && rows[0]?.every((w, k) => w.toFixed(6) === rows[1]?.[k]?.toFixed(6));
  fill(el, places.length < 2 ? h("p", {}, app.t(words.none)) : h("figure", { class: same ? "twins same" : "twins" },
    h("table", { class: "weights" }, h("tbody", {}, ...places.map((at, i) => row(names, rows[i] ?? [], at, app)))),
    h("p", { class: "sign", role: "status" }, h("strong", {}, same ? "=" : "≠"), " ", app.t(same ? words.equal : words.apart)),
    h("figcaption", {}, figure?.caption ?? "", figure?.mark ? ` (${figure.mark})` : "")));
}
