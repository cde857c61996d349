// SPDX-License-Identifier: MIT
//
// The little mark-up of the story and the glossary, read into elements: `code`, *weight*, [words](term) for a link into
// the glossary, {name} for a formula. No HTML is read; formulas are MathML made by the build.

import type { App } from "./app";
import { h } from "./dom";

const pieces = /`([^`]+)`|\*([^*]+)\*|\[([^\]]+)\]\(([a-z0-9-]+)\)|\{([a-z0-9]+)\}/g;

export type Formulas = Readonly<Record<string, string>>;

/** MathML of the build as an element; display: on a line of its own. */
export function formula(mathml: string, display: boolean): Element {
  const parsed = new DOMParser().parseFromString(mathml, "text/html").querySelector("math");
  const math = parsed ? document.importNode(parsed, true) : h("code", {}, mathml);
  if (parsed && display) math.setAttribute("display", "block");
  return math;
}

function piece(match: RegExpExecArray, app: App, formulas: Formulas): Node {
  const [, code, strong, words, term, name] = match;
  if (code) return h("code", {}, code);
  if (strong) return h("strong", {}, strong);
  if (words && term) return app.leads(h("a", { class: "term" }, ...marked(words, app, formulas)), () => ({ tab: "glossary", term }));
  return formula(formulas[name ?? ""] ?? `{${name}}`, false);
}

/** A sentence or paragraph as nodes. */
export function marked(text: string, app: App, formulas: Formulas = {}): (Node | string)[] {
  const out: (Node | string)[] = [];
  let from = 0;
  for (const match of text.matchAll(pieces)) {
    out.push(text.slice(from, match.index), piece(match, app, formulas));
    from = match.index + match[0].length;
  }
  out.push(text.slice(from));
  return out;
}

/** A paragraph; one that is nothing but {name} is that formula on its own line. */
export function paragraph(text: string, app: App, formulas: Formulas = {}): HTMLElement {
  const alone = /^\{([a-z0-9]+)\}$/.exec(text)?.[1];
  if (alone && formulas[alone]) return h("div", { class: "formula" }, formula(formulas[alone], true));
  return h("p", {}, ...marked(text, app, formulas));
}
