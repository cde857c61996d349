// SPDX-License-Identifier: MIT
//
// What a step of the tour is made of. A step is data: text, formulas, and demos whose commands hold {name} where a
// control's value belongs. tour.ts lays it out, tour_demo.ts runs it; the tool computes.

import type { Words } from "./app";
import type { Formulas } from "./tour_text";

export interface SliderControl {
  kind: "slider";
  id: string;
  label: Words;
  value: number;
  min: number;
  max: number;
  step?: number;
  log?: boolean;
}

export interface Option {
  value: string; // may hold the {name} of another control
  label: Words;
  formula?: string; // of the step's formulas: shown while it is chosen,
  note?: Words; // with this
}

export interface ChoiceControl {
  kind: "choice";
  id: string;
  label: Words;
  options: Option[]; // the first is chosen first
}

export interface TextControl {
  kind: "text";
  id: string;
  label: Words;
  value: Words;
}

export type Control = SliderControl | ChoiceControl | TextControl;

export type Output =
  | { kind: "picture"; spec: string; view: string; beside?: string; options?: string[]; narrow?: boolean } // beside: a second spec
  | { kind: "walk"; spec: string; options?: string[] }
  | { kind: "data"; command: string[]; caption: Words } // the rows of "data" of its JSON
  | { kind: "claim"; claim: string };

export interface Demo {
  title: Words;
  controls: Control[];
  outputs: Output[];
}

/** Measured numbers of a document, in the order of its columns. */
export interface Table {
  caption: Words;
  columns: Words[]; // the first is that of the names
  rows: { name: Words; row: string; values: string[] }[]; // row: its name in the document
}

export interface Step {
  id: string; // of its link
  title: Words;
  formulas: Formulas;
  text: { en: string[]; zh: string[] }; // paragraphs, each language on its own
  table?: Table; // after the text
  demos: Demo[];
  tries: Words; // "try this"
}
