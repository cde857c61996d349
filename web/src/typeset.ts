// SPDX-License-Identifier: MIT
//
// A formula of the registry, which is plain ASCII ("theta^(-2i/d)", "q_i . k_j"), as people set it: Greek letters, indices,
// exponents, letters in italics, words upright.

import { h } from "./dom";

const signs: Record<string, string> = {
  alpha: "α", beta: "β", phi: "φ", psi: "ψ", tau: "τ", theta: "θ", zeta: "ζ", sum: "∑", sqrt: "√",
  "->": "→", "<=": "≤", "..": "…", ".": "·", "-": "−",
};

const pieces = /([_^])(-?)|->|<=|\.\.|([A-Za-z][A-Za-z0-9]*)|[^]/y;

/** The end of the group that opens at `from`, past its last parenthesis. */
function groupEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "(") depth++;
    if (text[at] === ")" && --depth === 0) return at + 1;
  }
  return text.length;
}

/** What an index or exponent holds: a group without its parentheses, or a word or number. */
function held(text: string, from: number): { inside: string; end: number } {
  if (text[from] === "(") {
    const end = groupEnd(text, from);
    return { inside: text.slice(from + 1, end - 1), end };
  }
  const end = from + (/^[A-Za-z0-9]+/.exec(text.slice(from))?.[0].length ?? 1);
  return { inside: text.slice(from, end), end };
}

function word(text: string): (Node | string)[] {
  const numbered = /^([A-Za-z])(\d+)$/.exec(text); // r1
  if (numbered) return [h("i", {}, numbered[1] ?? ""), h("sub", {}, numbered[2] ?? "")];
  return [signs[text] ?? (text.length === 1 ? h("i", {}, text) : text)];
}

export function typeset(formula: string): (Node | string)[] {
  const out: (Node | string)[] = [];
  for (let at = 0; at < formula.length;) {
    pieces.lastIndex = at;
    const [all = "", script, minus, name] = pieces.exec(formula) ?? [];
    at += all.length;
    if (script) {
      const { inside, end } = held(formula, at), letters = script === "_" && /^[a-z]+$/.test(inside) ? [...inside] : [inside];
      out.push(h(script === "_" ? "sub" : "sup", {}, minus ? "−" : "", ...letters.flatMap(typeset)));
      at = end;
    } else if (name) out.push(...word(name));
    else out.push(signs[all] ?? all);
  }
  return out;
}
