// SPDX-License-Identifier: MIT
//
// "Copy as": the encoding at hand as a command, a C program and a Python script that give the same numbers.

import type { App, State } from "./app";
import { cProgram } from "./code_c";
import { fill, h } from "./dom";
import { copyButton } from "./save";
import { Tabs } from "./tabs";
import { shapeArgs } from "./views";
import { words } from "./words";

/** As a word of a shell. */
function quoted(text: string): string {
  return /^[\w:=.,+/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function command(args: readonly string[]): string {
  return ["posenc", ...args].map(quoted).join(" ");
}

/** The verb that prints the numbers of a row with these hooks: positions get a table, pairs of them a bias. */
function numbersOf(hooks: readonly string[]): "table" | "bias" | null {
  if (hooks.includes("embed") || hooks.includes("rotate")) return "table";
  return hooks.includes("bias") ? "bias" : null;
}

/** What is shown: the state, the specs, their hooks, and the command line of the picture. */
interface Shown {
  state: Readonly<State>;
  specs: readonly string[];
  hooks: readonly (readonly string[])[];
  show: readonly string[];
}

function count(s: Readonly<State>): number {
  return s.n || 64;
}

function start(s: Readonly<State>): string[] {
  return s.start ? ["--start", `${s.start}`] : [];
}

function cli({ state: s, specs, hooks, show }: Shown): string {
  const lines = [command(["show", ...specs, ...show]), command(["prove", ...specs])];
  specs.forEach((spec, i) => {
    const verb = numbersOf(hooks[i] ?? []);
    if (verb) lines.push(command([verb, spec, "-n", `${count(s)}`, ...start(s), ...shapeArgs(s), "-o", `${"ab"[i]}.npy`]));
  });
  return lines.join("\n") + "\n";
}

function python({ state: s, specs, hooks }: Shown): string {
  const spec = JSON.stringify(specs[0] ?? "none"), verb = numbersOf(hooks[0] ?? []);
  if (!verb) return `import json, subprocess

spec = ${spec}
print(json.loads(subprocess.run(["posenc", "list", spec.split(":")[0], "--json"],
                                check=True, capture_output=True).stdout))
`;
  const args = [...start(s), ...shapeArgs(s)].map((a) => JSON.stringify(a));
  return `import io, subprocess
import numpy as np

def ${verb}(spec, n):
    """The numbers of the posenc tool, which must be on the PATH."""
    made = subprocess.run(["posenc", "${verb}", spec, "-n", str(n), "-o", "-",
                           ${args.join(", ")}],
                          check=True, capture_output=True)
    return np.load(io.BytesIO(made.stdout))

print(${verb}(${spec}, ${count(s)}).shape)
`;
}

export class CodePanel {
  private readonly tabs: Tabs;
  private readonly pre = h("pre", { tabindex: "0" });
  private chosen = "cli";
  private texts: Record<string, string> = {};

  constructor(root: HTMLElement, app: App) {
    const list = h("div", { class: "tabs small" });
    this.tabs = new Tabs(list, app.t(words.copyAs), (name) => { this.chosen = name; this.show(); });
    fill(root, h("div", { class: "code-head" }, list, copyButton(app, app.t(words.copy), () => this.texts[this.chosen] ?? "")),
      this.pre);
  }

  update(state: Readonly<State>, specs: readonly string[], hooks: readonly (readonly string[])[], show: readonly string[]): void {
    const shown = { state, specs, hooks, show };
    this.texts = { cli: cli(shown), c: cProgram(state, specs[0] ?? "none", hooks[0] ?? [], count(state)), python: python(shown) };
    this.show();
  }

  private show(): void {
    this.tabs.show([{ name: "cli", title: "CLI" }, { name: "c", title: "C" }, { name: "python", title: "Python" }], this.chosen);
    this.pre.textContent = this.texts[this.chosen] ?? "";
  }
}
