// SPDX-License-Identifier: MIT
//
// What a scene of the story is made of. A scene is data: text, formulas, and demos whose commands hold {name} where a
// control's value belongs. story.ts lays it out, story_demo.ts runs it; the tool computes.

import type { State, Words } from "./app";
import type { Formulas } from "./marked";

export interface SliderControl {
  kind: "slider";
  id: string;
  label: Words;
  value: number;
  min: number;
  max: number;
  step?: number;
  log?: boolean;
  play?: number; // it runs by itself when asked: milliseconds per step
  begins?: boolean; // and once unasked, when it comes into sight, where motion is welcome
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

/** A sentence whose words are dragged. */
export interface WordsControl {
  kind: "words";
  id: string;
  label: Words;
  value: Words;
}

/** A setting whose control is a figure's own; links carry it as those of the others. */
export interface KeptControl {
  kind: "kept";
  id: string;
  value: string;
}

export type Control = SliderControl | ChoiceControl | TextControl | WordsControl | KeptControl;

export type Output =
  | { kind: "picture"; spec: string; view: string; options?: string[]; narrow?: boolean; pairs?: boolean; only?: Record<string, number[]> } // only: of a view, which of its figures
  | { kind: "walk"; spec: string; options?: string[] }
  | { kind: "rulers"; lengths: string[]; at: string } // texts of these lengths, their positions divided by the length
  | { kind: "claim"; claim: string }
  | { kind: "rows"; spec: string; options: string[] } // of attention, of the words that occur twice
  | { kind: "models"; what: "attention" | "length" | "terms" | "bias" } // trained ones, with controls of their own
  | Clock;

/** One position of a table, as something that moves. */
export interface Clock {
  kind: "clock";
  look: "bar" | "lamps" | "dials" | "arrows";
  command: string[]; // a table from position 0 on
  at: string; // "{t}"
  other?: string; // of arrows: the key's position
  both?: string; // by how much both are moved
  hands?: [number, number][]; // of dials: which elements of a code are x and y; none: cos and sin of a rotation
}

export interface Demo {
  title: Words;
  insight: Words; // the one thing to see in it
  controls: Control[];
  outputs: Output[];
  folded?: boolean; // for who wants to see every number
}

export interface Scene {
  id: string; // of its link
  title: Words; // what it is about
  lead: Words; // one paragraph
  shown?: string; // which of its formulas stands below that
  formulas: Formulas;
  text: { en: string[]; zh: string[] }; // the whole argument, folded; each language on its own
  demos: Demo[];
  tries?: Words; // "try this"
  next?: { label: Words; to: Partial<State> }[]; // where a reader goes on
}
