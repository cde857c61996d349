// SPDX-License-Identifier: MIT
//
// "Copy as": the encoding at hand as a command, a C program and a Python script that give the same numbers.

import type { App, State } from "./app";
import { fill, h } from "./dom";
import { copyButton } from "./save";
import { Tabs } from "./tabs";
import { words } from "./words";

/** As a word of a shell. */
function quoted(text: string): string {
  return /^[\w:=.,+/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function command(args: readonly string[]): string {
  return ["posenc", ...args].map(quoted).join(" ");
}

function cText(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replace(/[^\x20-\x7e]/g, "?")}"`;
}

/** The verb that prints the numbers of a row with these hooks: positions get a table, pairs of them a bias. */
function numbersOf(hooks: readonly string[]): "table" | "bias" | null {
  if (hooks.includes("embed") || hooks.includes("rotate")) return "table";
  return hooks.includes("bias") ? "bias" : null;
}

function shapeArgs(s: Readonly<State>): string[] {
  return ["--heads", `${s.heads}`, "--head-dim", `${s.dim}`, "--model-dim", `${s.model}`];
}

function cli(s: Readonly<State>, hooks: readonly string[], show: readonly string[]): string {
  const verb = numbersOf(hooks);
  const start = s.start ? ["--start", `${s.start}`] : [];
  const lines = [command(show), command(["prove", s.a])];
  if (verb) lines.push(command([verb, s.a, "-n", `${s.n}`, ...start, ...shapeArgs(s), "-o", "numbers.npy"]));
  return lines.join("\n") + "\n";
}

function c(s: Readonly<State>): string {
  return `/* cc try.c $(pkg-config --cflags --libs posenc) && ./a.out */
#include <posenc.h>
#include <stdio.h>

int main(void)
{
    pe_encoding *e;
    pe_error err;
    pe_shape shape = { .heads = ${s.heads}, .head_dim = ${s.dim}, .model_dim = ${s.model} };
    if (pe_encoding_new(&e, ${cText(s.a)}, shape, &err)) {
        fprintf(stderr, "%s\\n", err.text);
        return 1;
    }
    printf("%s\\n", pe_encoding_spec(e));
    printf("softmax scale %g, %d learned tensors\\n", pe_encoding_scale(e), pe_encoding_tensor_count(e));
    pe_encoding_free(e);
    return 0;
}
`;
}

function python(s: Readonly<State>, hooks: readonly string[]): string {
  const verb = numbersOf(hooks);
  if (!verb) return `import json, subprocess

spec = ${JSON.stringify(s.a)}
print(json.loads(subprocess.run(["posenc", "list", spec.split(":")[0], "--json"],
                                check=True, capture_output=True).stdout))
`;
  const args = [...(s.start ? ["--start", `${s.start}`] : []), ...shapeArgs(s)].map((a) => JSON.stringify(a));
  return `import io, subprocess
import numpy as np

def ${verb}(spec, n):
    """The numbers of the posenc tool, which must be on the PATH."""
    made = subprocess.run(["posenc", "${verb}", spec, "-n", str(n), "-o", "-",
                           ${args.join(", ")}],
                          check=True, capture_output=True)
    return np.load(io.BytesIO(made.stdout))

print(${verb}(${JSON.stringify(s.a)}, ${s.n}).shape)
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

  update(state: Readonly<State>, hooks: readonly string[], show: readonly string[]): void {
    this.texts = { cli: cli(state, hooks, show), c: c(state), python: python(state, hooks) };
    this.show();
  }

  private show(): void {
    this.tabs.show([{ name: "cli", title: "CLI" }, { name: "c", title: "C" }, { name: "python", title: "Python" }], this.chosen);
    this.pre.textContent = this.texts[this.chosen] ?? "";
  }
}
