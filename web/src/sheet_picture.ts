// SPDX-License-Identifier: MIT
//
// Which view is the picture of an encoding: the first of these that fits it.

import type { App } from "./app";
import { subjectArgs, subjectOf } from "./views";

const order = ["table", "heads", "bias", "decay", "attention"];

export function pictureOf(app: App, spec: string): string {
  const fits = subjectOf(spec, app.run(subjectArgs(spec, app.state))).views.map((v) => v.name);
  return order.find((name) => fits.includes(name)) ?? fits[0] ?? "";
}
