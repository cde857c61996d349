// SPDX-License-Identifier: MIT
//
// The colours of the page are those of the tool's drawings: a drawing that stands alone carries their CSS.

import { sentence, type App } from "./app";

export function inks(app: App): void {
  const ran = app.run(["show", "none", "--view", "attention", "--as", "svg"]);
  const css = /<style>([^<]*)<\/style>/.exec(ran.text)?.[1];
  if (ran.code || !css) throw new Error(ran.code ? sentence(ran) : "the tool's drawing has no style");
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [sheet];
}
