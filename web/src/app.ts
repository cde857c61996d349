// SPDX-License-Identifier: MIT
//
// What the parts of the page have in common. A part is a function that fills an element: render(root, app). It asks the
// tool (app.run) for every number and draws with app.picture; it keeps no mathematics of its own.

export type Lang = "en" | "zh";

/** A sentence in the languages of the page, side by side, so that none is changed and the other forgotten. */
export interface Words {
  en: string;
  zh: string;
}

/** What one command of the tool gave back. */
export interface Ran {
  code: number; // 0: done
  out: Uint8Array; // stdout
  readonly text: string; // stdout as text
  err: string; // stderr: a sentence where code is not 0
  ms?: number; // how long it took, where it ran beside the page
}

/** A picture of `posenc show`. */
export interface Wanted {
  spec: string;
  view: string; // "table"
  options?: string[]; // more of the command line: ["-n", "64", "--head-dim", "32"]
  alone?: boolean; // without its numbers and downloads
  only?: number[]; // which of the view's figures; else all
  pairs?: boolean; // two of its figures stand side by side where there is room
}

export interface SliderWanted {
  label: string;
  value: number; // NaN: none yet
  min: number;
  max: number;
  most?: number; // the field takes up to this, where the slider ends before
  step?: number; // 1
  log?: boolean; // equal ratios, not equal steps; the field beside it takes any number
  help?: string;
  side?: string; // A or B, said before the label to those who hear it
  free?: boolean; // the field takes any number: who is told judges it
  none?: string; // what stands in the field where there is no value: "auto"
}

export interface Slider {
  root: HTMLElement;
  get(): number;
  set(value: number): void; // without calling back
}

/** All that a link carries. "" means none. */
export interface State {
  tab: string; // one of `tabs` in state.ts
  a: string; // a spec
  b: string; // a spec; "": A alone
  view: string; // of `posenc show`; "all"
  n: number; // positions; 0: as many as suit the view
  start: number; // the first of them
  dim: number; // width of a head
  heads: number;
  model: number; // width of the embedding
  at: number; // the position that looks around; -1: as the view likes it
  head: number; // the head looked at
  axis: number; // the coordinate that runs, of several
  pairs: string; // which pairs or dimensions: "0,8,16"
  causal: boolean;
  log: boolean; // distances on a logarithmic axis
  text: string; // the sentence
  walk: string; // the steps: "": folded; "5,3,8": the query's position, the key's, the width
  step: string; // the scene of the story
  demo: string; // what the reader has set in it: "bits.0.n=64&1.spec=2", the scene, then by demo and control
  term: string; // of the glossary
  lang: Lang;
  theme: string; // "": as the system says; light, dark
  figure: number; // of that scene; 0: none in particular
  embed: boolean; // one figure alone, for a frame in another page
}

export interface App {
  readonly lang: Lang;
  /** The words in the reader's language. */
  t(words: Words): string;
  /** A text of the registry (a summary, a key's help), which is English, in the reader's language. */
  about(english: string): string;
  /** One command of the tool, without its name: run(["table", "rope", "-n", "4", "--json"]). Files it may read are
   *  handed in: run(["explain", "config.json"], { "config.json": text }). */
  run(args: readonly string[], files?: Readonly<Record<string, string>>): Ran;
  /** The same beside the page, for what may take seconds; owner: whose it is. live: for what is in sight now, which does not
   *  wait for the rest. files: what the command may read. */
  later(args: readonly string[], owner: object, done: (ran: Ran) => void, live?: boolean, files?: ReadonlyMap<string, Uint8Array>): void;
  /** The newest command of owner: at once where that is quick, else beside the page, and then true comes back. */
  newest(args: readonly string[], owner: object, done: (ran: Ran) => void): boolean;
  /** Takes back what owner asked for later and has not got. */
  forget(owner: object): void;
  /** Draws into el, replacing what is there; an error becomes the tool's sentence. Call again to redraw. */
  picture(el: HTMLElement, wanted: Wanted): void;
  /** Appends a labelled slider with its number field; onChange comes at most once a frame, with NaN where the
   *  field of a slider with `none` is cleared. */
  slider(el: HTMLElement, wanted: SliderWanted, onChange: (value: number) => void): Slider;
  /** What a part keeps while it is made anew (another language, a link followed), by a name of its own. */
  readonly kept: Map<string, unknown>;
  readonly state: Readonly<State>;
  /** Changes the state, the link, and all that shows it. place: one to come back to with the browser's Back, as another
   *  tab or view is in any case. */
  setState(change: Partial<State>, place?: boolean): void;
  /** A link to the page in another state. */
  link(change: Partial<State>): string;
  /** Makes a lead there from whatever the state is when it is followed: only what is named changes. */
  leads(a: HTMLAnchorElement, change: () => Partial<State>): HTMLAnchorElement;
}

/** The sentence of a command that failed, without the tool's name before it. */
export function sentence(ran: Ran): string {
  return ran.err.trim().replace(/^posenc( \w+)?: /, "") || `exit ${ran.code}`;
}

/** A command with its specs last, after "--": what begins with '-' is a spec that the tool refuses, never an option. */
export function specArgs(verb: string, specs: readonly string[], options: readonly string[]): string[] {
  return [verb, ...options, "--", ...specs];
}
