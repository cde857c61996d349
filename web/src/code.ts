// SPDX-License-Identifier: MIT
//
// "Copy as": the encoding at hand as a command, a C program and a Python script that give the same numbers.

import type { App, State } from "./app";
import { cProgram } from "./code_c";
import { fill, h } from "./dom";
import { copyButton } from "./save";
import { Tabs } from "./tabs";
import { shapeArgs, type Subject } from "./views";
import { words } from "./words";

/** As a word of a shell. */
function quoted(text: string): string {
  return /^[\w:=.,+/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function command(args: readonly string[]): string {
  return ["posenc", ...args].map(quoted).join(" ");
}

/** The verb that writes its numbers: positions get a table, pairs of them a bias. Coordinates would need a file. */
function numbersOf({ hooks, axes }: Subject): "table" | "bias" | null {
  if (axes > 1) return null;
  if (hooks.includes("embed") || hooks.includes("rotate")) return "table";
  return hooks.includes("bias") ? "bias" : null;
}

/** What is shown: the state, the encodings, and the command line of the picture. */
interface Shown {
  state: Readonly<State>;
  subjects: readonly Subject[];
  show: readonly string[];
}

function count(s: Readonly<State>): number {
  return s.n || 16;
}

function start(s: Readonly<State>): string[] {
  return s.start ? ["--start", `${s.start}`] : [];
}

function cli({ state: s, subjects, show }: Shown): string {
  const specs = subjects.map((x) => x.spec);
  const lines = [command(["show", ...specs, ...show]), command(["prove", ...specs])];
  subjects.forEach((x, i) => {
    const verb = numbersOf(x);
    if (verb) lines.push(command([verb, x.spec, "-n", `${count(s)}`, ...start(s), ...shapeArgs(s), "-o", `${"ab"[i]}.npy`]));
  });
  return lines.join("\n") + "\n";
}

function python(subject: Subject, { state: s, show }: Shown): string {
  const spec = JSON.stringify(subject.spec), verb = numbersOf(subject);
  const words = (list: readonly string[]): string => list.map((a) => JSON.stringify(a)).join(", ");
  if (!verb) return `import json, subprocess

# The numbers of the picture, by the posenc tool, which must be on the PATH.
made = subprocess.run(["posenc", "show", ${spec},
                       ${words(show)}, "--json"],
                      check=True, capture_output=True)
for figure in json.loads(made.stdout)["figures"]:
    print(figure["title"], figure.get("values") or figure["series"])
`;
  return `import io, subprocess
import numpy as np

def ${verb}(spec, n):
    """The numbers of the posenc tool, which must be on the PATH."""
    made = subprocess.run(["posenc", "${verb}", spec, "-n", str(n), "-o", "-",
                           ${words([...start(s), ...shapeArgs(s)])}],
                          check=True, capture_output=True)
    return np.load(io.BytesIO(made.stdout))

print(${verb}(${spec}, ${count(s)}).shape)
`;
}

export class CodePanel {
  private readonly tabs: Tabs;
  private readonly pre = h("pre", { tabindex: "0", id: "code", role: "tabpanel" });
  private chosen = "cli";
  private texts: Record<string, string> = {};

  constructor(root: HTMLElement, app: App) {
    const list = h("div", { class: "tabs small" });
    this.tabs = new Tabs(list, app.t(words.copyAs), (name) => { this.chosen = name; this.show(); });
    fill(root, h("div", { class: "code-head" }, list, copyButton(app, app.t(words.copy), () => this.texts[this.chosen] ?? "")),
      this.pre);
  }

  update(state: Readonly<State>, subjects: readonly Subject[], show: readonly string[]): void {
    const shown = { state, subjects, show }, [first] = subjects;
    if (!first) return;
    this.texts = { cli: cli(shown), c: cProgram(state, first.spec, first.hooks, first.axes > 1 ? Math.min(count(state), 4) : count(state)), python: python(first, shown) };
    this.show();
  }

  private show(): void {
    this.tabs.show([["cli", "CLI"], ["c", "C"], ["python", "Python"]].map(([name = "", title = ""]) => ({ name, title, panel: "code" })), this.chosen);
    this.pre.setAttribute("aria-labelledby", `tab-${this.chosen}`);
    this.pre.textContent = this.texts[this.chosen] ?? "";
  }
}
