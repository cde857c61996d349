// SPDX-License-Identifier: MIT
//
// The trained models that the page carries: which there are, and `read`, which runs them beside the page. A file is unpacked
// when a model is first asked for.

import type { App, Ran } from "./app";
import { asset } from "./asset";
import { pending } from "./frame";

export interface Trained {
  file: string; // "rope-1.safetensors"
  spec: string;
  trained: number; // length
  layers: number;
  heads: number;
}

let list: Promise<Trained[]> | null = null;
const files = new Map<string, Promise<Uint8Array>>();

export function trainedModels(): Promise<Trained[]> {
  return (list ??= asset("models.json").then((bytes) => JSON.parse(new TextDecoder().decode(bytes)) as Trained[]));
}

function file(name: string): Promise<Uint8Array> {
  const known = files.get(name) ?? asset(name).then((bytes) => new Uint8Array(bytes));
  files.set(name, known);
  return known;
}

/** Runs `read` on models (a file, or FILE=SPEC) and a text: "": the book that the page carries. */
export async function read(app: App, owner: object, models: readonly string[], text: string, options: readonly string[], done: (ran: Ran) => void): Promise<void> {
  const end = pending("waiting");
  const given = new Map<string, Uint8Array>();
  try {
    for (const m of models) given.set(m.split("=")[0] ?? m, await file(m.split("=")[0] ?? m));
    given.set("text.txt", text ? new TextEncoder().encode(text) : await file("text.txt"));
  } finally {
    end();
  }
  app.forget(owner);
  app.later(["read", ...models, "--text", "text.txt", "--lang", app.lang, ...options], owner, done, true, given);
}
