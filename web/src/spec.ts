// SPDX-License-Identifier: MIT
//
// A spec as the form sees it: encodings, each with its keys. The tool takes a text apart (`posenc show SPEC --list --json`)
// and says whether it is right; the form only puts one together.

import { specArgs, type App } from "./app";

export interface Part {
  name: string;
  keys: Map<string, string>; // those that are not as by default
}

/** A part as the tool's JSON has it. */
export interface SaidPart {
  name: string;
  keys: Record<string, string>;
}

export function partsOf(said: readonly SaidPart[]): Part[] {
  return said.map(({ name, keys }) => ({ name, keys: new Map(Object.entries(keys)) }));
}

/** The parts of a spec that needs no shape to be read, such as an example of the registry. */
export function readSpec(app: App, spec: string): Part[] {
  const ran = app.run(specArgs("show", [spec], ["--list", "--json"]));
  return ran.code ? [] : partsOf((JSON.parse(ran.text) as { specs: { parts: SaidPart[] }[] }).specs[0]?.parts ?? []);
}

export function writeSpec(parts: readonly Part[]): string {
  return parts.map(({ name, keys }) => {
    const pairs = [...keys].map(([key, value]) => `${key}=${value}`);
    return pairs.length ? `${name}:${pairs.join(",")}` : name;
  }).join("+");
}
