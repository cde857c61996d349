// SPDX-License-Identifier: MIT
//
// `posenc show --as parts`: drawings without their cells, the cells as levels and values, and where points lie.

/** A rectangle of cells in a drawing, in its pixels. */
export interface Cells {
  x: number;
  y: number;
  width: number;
  height: number;
  rows: number;
  columns: number;
  levels: Uint8Array; // (rows, columns): which of the colours
}

/** The cells that are the picture, with their numbers. */
export interface Matrix extends Cells {
  readonly values: Float32Array; // (rows, columns)
  rowName(row: number): string;
  columnName(column: number): string;
  readonly namesAlone: boolean; // a column's name says all: without the axis's label
}

export interface Line {
  name: string;
  x: (number | null)[];
  y: (number | null)[];
  px: (number | null)[]; // where the points lie in the drawing; null: outside
  py: (number | null)[];
}

export interface Figure {
  kind: "lines" | "cells" | "dials";
  group: string; // the spec it is of
  title: string;
  caption: string;
  mark: string; // "untrained, seed 0"
  description: string;
  xLabel: string;
  yLabel: string;
  svg: string;
  width: number;
  height: number;
  cells: Cells[]; // the matrix, and its scale
  matrix: Matrix | null;
  lines: Line[];
  palette: Uint32Array; // the colours of the levels as pixels of a canvas; past the last: a cell with nothing in it
}

interface SaidCells extends Omit<Cells, "levels"> {
  heat: string;
  values?: string;
  first_row?: number;
  first_column?: number;
  row_names?: string[];
  column_names?: string[];
  names_alone?: boolean;
}

interface SaidFigure {
  kind: Figure["kind"];
  title: string | null;
  group: string | null;
  caption: string | null;
  mark: string | null;
  description: string | null;
  x_label: string | null;
  y_label: string | null;
  width: number;
  height: number;
  svg: string;
  cells: SaidCells[];
  points: Line[];
  palette?: string[];
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

function matrix(said: SaidCells, cells: Cells): Matrix {
  const { row_names, column_names, first_row = 0, first_column = 0 } = said;
  let values: Float32Array | null = null; // read when they are asked for: a slider that moves does not
  return {
    ...cells,
    get values() { return (values ??= new Float32Array(bytes(said.values ?? "").buffer)); },
    rowName: (r) => row_names?.[r] ?? String(first_row + r),
    columnName: (c) => column_names?.[c] ?? String(first_column + c),
    namesAlone: said.names_alone ?? false,
  };
}

function figure(said: SaidFigure): Figure {
  const cells = said.cells.map((c) => ({ ...c, levels: bytes(c.heat) }));
  const first = said.cells[0], painted = cells[0];
  return {
    kind: said.kind, svg: said.svg, width: said.width, height: said.height, lines: said.points,
    group: said.group ?? "", title: said.title ?? "", caption: said.caption ?? "", mark: said.mark ?? "", description: said.description ?? "",
    xLabel: said.x_label ?? "", yLabel: said.y_label ?? "",
    cells, matrix: first?.values && painted ? matrix(first, painted) : null, palette: paletteOf(said.palette ?? []),
  };
}

/** "#rrggbbaa" as the four bytes r, g, b, a of a little-endian word. */
function pixel(colour: string): number {
  const [r = 0, g = 0, b = 0, a = 0] = (colour.match(/[0-9a-f]{2}/g) ?? []).map((byte) => parseInt(byte, 16));
  return ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

const palettes = new Map<string, Uint32Array>();

function paletteOf(colours: readonly string[]): Uint32Array {
  const key = colours.join("");
  let palette = palettes.get(key);
  if (!palette) palettes.set(key, (palette = new Uint32Array(256).map((_, i) => (colours[i] ? pixel(colours[i]) : 0))));
  return palette;
}

export function readFigures(json: string): Figure[] {
  return (JSON.parse(json) as { figures: SaidFigure[] }).figures.map(figure);
}
