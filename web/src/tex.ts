// SPDX-License-Identifier: MIT
//
// Formulas: tex`\theta_i` stands for its MathML, as text. The build puts it there (web/build.mjs); nothing of TeX is left
// in the page.

function unbuilt(parts: TemplateStringsArray): string {
  throw new Error(`a formula that the build did not see: ${parts.raw.join("")}`);
}

export const tex: (parts: TemplateStringsArray) => string = unbuilt;
