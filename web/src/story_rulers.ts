// SPDX-License-Identifier: MIT
//
// Texts of different lengths on rulers from 0 to 1: where a position lies once it is divided by the length, and how far the
// next one is. The numbers are the tool's.

import { sentence, type App } from "./app";
import { fill, h } from "./dom";

const words = {
  text: { en: "N words: position T has the code CODE, one step is STEP", zh: "N 个词：位置 T 的编码是 CODE，一步是 STEP" },
  sentence: { en: "the dog chased the other dog", zh: "那条 狗 一直 追着 另一条 狗" },
};

const short = 3; // digits
const codes = new Map<number, number[]>(); // by length

/** The codes of the positions of a text; a sentence: why there are none. */
function codesOf(length: number, app: App): number[] | string {
  const known = codes.get(length);
  if (known) return known;
  const ran = app.run(["table", `normalised:length=${length}`, "-n", `${length}`, "--model-dim", "1", "--json"]);
  if (ran.code) return sentence(ran);
  const read = (JSON.parse(ran.text) as { data: number[][] }).data.map(([code = 0]) => code);
  codes.set(length, read);
  return read;
}

function placed(el: HTMLElement, from: number, to = from): HTMLElement {
  el.style.left = `${100 * from}%`;
  if (to > from) el.style.width = `${100 * (to - from)}%`;
  return el;
}

function ruler(at: number, all: readonly number[], app: App): HTMLElement {
  const code = all[at] ?? 0, next = all[at + 1] ?? code, said = app.t(words.sentence).split(" ");
  const told = { N: `${all.length}`, T: `${at}`, CODE: code.toFixed(short), STEP: (next - code).toFixed(short) };
  const named = (i: number): string => (i === at || all.length <= said.length ? (said[i] ?? "") : "");
  return h("div", { class: "ruler" }, h("p", {}, app.t(words.text).replace(/\b(?:N|T|CODE|STEP)\b/g, (name) => told[name as keyof typeof told])),
    h("div", { class: "ruler-line" }, placed(h("span", { class: "ruler-step" }), code, next),
      ...all.map((c, i) => placed(h("span", { class: i === at ? "ruler-place now" : "ruler-place" }, h("span", { class: "ruler-word" }, named(i))), c))),
    h("p", { class: "ruler-ends" }, h("span", {}, "0"), h("span", {}, "1")));
}

export function rulersOutput(el: HTMLElement, lengths: readonly number[], at: number, app: App): void {
  const all = lengths.map((n) => codesOf(n, app)), wrong = all.find((c) => typeof c === "string");
  if (wrong) return fill(el, h("p", { class: "error", role: "alert" }, wrong as string));
  fill(el, ...(all as number[][]).map((c) => ruler(at, c, app)));
}
