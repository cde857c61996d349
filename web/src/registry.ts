// SPDX-License-Identifier: MIT
//
// `posenc list --json`: the only list of encodings the page has.

import type { Ran } from "./app";

export interface Key {
  name: string;
  kind: "int" | "real" | "choice" | "list";
  default: string | null; // null: follows from the shape or other keys
  min: number | null;
  max: number | null;
  choices: string[];
  when: string | null; // "scaling=yarn|ntk": only then has it a meaning
  help: string;
  required: boolean;
}

export interface Row {
  name: string;
  idea: string;
  summary: string;
  formula: string;
  paper: string;
  arxiv: string | null;
  models: string[];
  hooks: string[];
  claims: string[];
  tensors: { name: string; shape: number[] }[]; // that are learned, with 8 heads of 64
  keys: Key[];
  examples: string[];
}

export interface Registry {
  version: string;
  hooks: string[];
  claims: string[];
  encodings: Row[];
  ideas: { idea: string; advice: string }[];
}

export function readRegistry(run: (args: string[]) => Ran): Registry {
  const ran = run(["list", "--json"]);
  if (ran.code) throw new Error(ran.err);
  return JSON.parse(ran.text) as Registry;
}

export function rowOf(registry: Registry, name: string): Row | undefined {
  return registry.encodings.find((e) => e.name === name);
}

/** Has the key a meaning beside these values? A key that is not given has its default. */
export function applies(row: Row, key: Key, given: ReadonlyMap<string, string>): boolean {
  if (!key.when) return true;
  const [other = "", values = ""] = key.when.split("=");
  const asked = row.keys.find((k) => k.name === other);
  return values.split("|").includes(given.get(other) ?? asked?.default ?? "") && (!asked || applies(row, asked, given));
}
