// SPDX-License-Identifier: MIT
//
// `posenc show --as parts`: a drawing without its cells, the cells as levels and values, and where points lie.

import type { App, Ran, Wanted } from "./app";

export interface Cells {
  x: number; // of the plot in the drawing, in its pixels
  y: number;
  width: number;
  height: number;
  rows: number;
  columns: number;
  levels: Uint8Array; // (rows, columns): which of the colours
  values: Float32Array; // (rows, columns)
}

export interface Line {
  name: string;
  x: number[];
  y: (number | null)[];
  px: number[]; // where the points lie in the drawing
  py: (number | null)[];
}

export interface Figure {
  kind: "lines" | "cells" | "dials";
  title: string;
  caption: string;
  description: string;
  xLabel: string;
  yLabel: string;
  svg: string;
  width: number;
  height: number;
  cells: Cells | null;
  lines: Line[];
  rowNames: string[]; // of cells: what each row and column is
  columnNames: string[];
}

export type Drawn = { figures: Figure[]; error: "" } | { figures: []; error: string };

function bytes(base64: string): Uint8Array {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}
