// SPDX-License-Identifier: MIT
//
// The numbers of a figure as a table, for readers who would rather read, and for those who cannot see.

import type { App } from "./app";
import { h } from "./dom";
import type { Figure, Matrix } from "./figure";
import { words } from "./words";

const mostRows = 128, mostColumns = 64;

export function shown(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "" : String(Number(value.toPrecision(6)));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  return h("table", { class: "values" },
    h("thead", {}, h("tr", {}, ...head.map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, ...rows.map(([first = "", ...rest]) =>
      h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((t) => h("td", {}, t))))));
}

function ofCells(f: Figure, cells: Matrix): HTMLElement {
  const columns = Math.min(cells.columns, mostColumns), rows = Math.min(cells.rows, mostRows);
  return table([`${f.yLabel} \\ ${f.xLabel}`, ...Array.from({ length: columns }, (_, c) => cells.columnName(c))],
    Array.from({ length: rows }, (_, r) => [cells.rowName(r),
      ...Array.from({ length: columns }, (_, c) => shown(cells.values[r * cells.columns + c]))]));
}

/** Lines that share their x, side by side; others below each other. */
function ofLines(f: Figure): HTMLElement[] {
  const first = f.lines[0];
  if (!first) return [];
  if (f.kind === "dials") return f.lines.map((l) => table([l.name, "cos", "sin"], l.x.slice(0, mostRows).map((x, i) => [`${i + 1}`, shown(x), shown(l.y[i])])));
  const shared = f.lines.every((l) => l.x.length === first.x.length && l.x.every((x, i) => x === first.x[i]));
  const groups = shared ? [f.lines] : f.lines.map((l) => [l]);
  return groups.map((lines) => table([f.xLabel, ...lines.map((l) => l.name)],
    (lines[0]?.x ?? []).slice(0, mostRows).map((x, i) => [shown(x), ...lines.map((l) => shown(l.y[i]))])));
}

export function numbersTable(app: App, f: Figure): HTMLElement[] {
  const cut = f.matrix
    ? f.matrix.rows > mostRows || f.matrix.columns > mostColumns
    : f.lines.some((l) => l.x.length > mostRows);
  return [...(f.matrix ? [ofCells(f, f.matrix)] : ofLines(f)), ...(cut ? [h("p", { class: "faint" }, app.t(words.numbersCut))] : [])];
}
