// SPDX-License-Identifier: MIT
//
// Places to begin: pictures worth seeing, as links into the explorer, each from the first state.

import type { App, State, Words } from "./app";
import { fill, h } from "./dom";
import { words } from "./words";

const starts: [Words, Partial<State>][] = [
  [{ en: "sinusoids", zh: "正弦编码" }, { a: "sinusoidal", view: "table" }],
  [{ en: "RoPE's dials", zh: "RoPE 的时钟" }, { a: "rope", view: "turns" }],
  [{ en: "does RoPE decay?", zh: "RoPE 会衰减吗？" }, { a: "rope", b: "xpos", view: "decay" }],
  [{ en: "ALiBi and what T5 learned", zh: "ALiBi 与 T5 学到的" }, { tab: "story", step: "terms", figure: 3 }],
  [{ en: "what YaRN changes", zh: "YaRN 改了什么" }, { a: "rope", b: "rope:scaling=yarn,factor=8,trained=2048", view: "wavelengths" }],
  [{ en: "two dogs", zh: "两只狗" }, { a: "rope", view: "attention" }],
  [{ en: "binary code", zh: "二进制编码" }, { a: "binary:join=concat,width=12", b: "sinusoidal:join=concat,width=12", view: "table" }],
  [{ en: "position one million", zh: "百万位置之外" }, { a: "rope", view: "curves", start: 1048576 }],
];

export function renderStarts(root: HTMLElement, app: App, first: Readonly<State>): void {
  fill(root, h("span", { class: "faint" }, app.t(words.tryThese) + ": "), ...starts.map(([name, state]) =>
    app.leads(h("a", {}, app.t(name)), () => ({ ...first, lang: app.lang, theme: app.state.theme, ...state }))));
}
