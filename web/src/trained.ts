// SPDX-License-Identifier: MIT
//
// The trained models that the page carries: which there are, and `read`, which runs them beside the page. A file is unpacked
// when a model is first asked for.

import type { App, Ran, Words } from "./app";
import { asset } from "./asset";
import { pending } from "./frame";

const names: Record<string, Words> = {
  alibi: { en: "ALiBi", zh: "ALiBi" },
  concat: { en: "joined sinusoids", zh: "拼接的正弦" },
  learned: { en: "learned table", zh: "可学习表" },
  none: { en: "none", zh: "无" },
  rope: { en: "RoPE", zh: "RoPE" },
  sinusoidal: { en: "sinusoids", zh: "正弦" },
  t5: { en: "T5", zh: "T5" },
};

export interface Trained {
  file: string; // "rope-1.safetensors"
  spec: string;
  trained: number; // length
  layers: number;
  heads: number;
}

let list: Promise<Trained[]> | null = null;
const files = new Map<string, Promise<Uint8Array>>();

/** "rope" of "rope-1.safetensors": what links call a model. */
export function keyOf(m: Trained): string {
  return m.file.replace(/-\d+\.safetensors$/, "");
}

export function nameOf(m: Trained, app: App): string {
  const name = names[keyOf(m)];
  return name ? app.t(name) : m.spec;
}

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
