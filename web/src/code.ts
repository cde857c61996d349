// SPDX-License-Identifier: MIT
//
// "Copy as": the encoding at hand as a command, a C program and a Python script that give the same numbers.

import type { App, State } from "./app";
import { cProgram } from "./code_c";
import { fill, h } from "./dom";
import { whenQuiet } from "./frame";
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

/** What is shown: the state, the encodings, and the command line of the picture. */
interface Shown {
  state: Readonly<State>;
  subjects: readonly Subject[];
  show: readonly string[];
}

/** Numbers of an encoding by one command: of the second of two positions, which every row serves. */
interface Numbers {
  what: string; // "cos"
  args: string[];
  where: (printed: string) => string; // in what --json prints, as Python has it
}

/** By table and bias; coordinates, which these would take from a file, by the picture that has the same numbers. */
function numbersOf({ spec, hooks, axes }: Subject, s: Readonly<State>): Numbers[] {
  const start = s.start ? ["--start", `${s.start}`] : [], two = ["-n", "2", ...start, ...shapeArgs(s)];
  const picture = (view: string): string[] => ["show", spec, "--view", view, "--axis", `${Math.min(s.axis, axes - 1)}`, ...two];
  const codes = hooks.filter((hook) => hook === "embed" || hook === "rotate");
  const table = codes.map((hook, i): Numbers => {
    const what = hook === "embed" ? "code" : "cos";
    if (axes > 1) return { what, args: picture("table"), where: (x) => `${x}["figures"][${i}]["values"][1]` };
    const args = ["table", spec, "--hook", hook, ...two];
    return { what, args, where: (x) => (hook === "embed" ? `${x}["data"][1]` : `first_head(${x}["data"][0])[1]`) };
  });
  if (!hooks.includes("bias")) return table;
  const args = axes > 1 ? picture("bias") : ["bias", spec, ...two];
  return [...table, { what: "bias", args, where: (x) => x + (axes > 1 ? '["figures"][0]["values"][1]' : '["data"][0][1]') }];
}

/** The file of all of them, as long as the picture. */
function fileOf(args: readonly string[], n: number, name: string): string[] {
  return [...args.map((a, i) => (args[i - 1] === "-n" ? `${n}` : a)), "-o", name];
}

function cli({ state: s, subjects, show }: Shown): string {
  const specs = subjects.map((x) => x.spec);
  const lines = [command(["show", ...specs, ...show]), command(["prove", ...specs])];
  subjects.forEach((x, i) => {
    for (const { what, args } of numbersOf(x, s))
      lines.push(command(args[0] === "show" ? [...args, "--json"] : args),
        ...(args[0] === "show" || !s.n ? [] : [command(fileOf(args, s.n, `${"ab"[i]}-${what}.npy`))]));
  });
  return lines.join("\n") + "\n";
}

function python(subject: Subject, { state: s, show }: Shown): string {
  const words = (list: readonly string[]): string => list.map((a) => JSON.stringify(a)).join(", ");
  const some = numbersOf(subject, s).map(({ what, args, where }) => `print("${what}", *("%.6g" % x for x in ${where(`posenc(${words(args)})`)}[:4]))`);
  const oneHead = some.some((line) => line.includes("first_head(")) ? `
def first_head(table):
    """Some encodings have a table for each head."""
    return table[0] if isinstance(table[0][0], list) else table
` : "";
  const pictured = `for figure in posenc("show", ${words([subject.spec, ...show])})["figures"]:
    print(figure["title"], figure.get("values") or figure["series"])`;
  return `import json, subprocess

def posenc(*args):
    """What the posenc tool says, which must be on the PATH. For numpy.load: -o FILE.npy instead of --json."""
    made = subprocess.run(["posenc", *args, "--json"], check=True, capture_output=True)
    return json.loads(made.stdout)
${oneHead}
${some.length ? some.join("\n") : pictured}
`;
}

export class CodePanel {
  private readonly tabs: Tabs;
  private readonly pre = h("pre", { tabindex: "0", id: "code", role: "tabpanel" });
  private chosen = "cli";
  private texts: Record<string, string> = {};
  private shown: Shown | null = null;
  private readonly soon = whenQuiet(() => this.check(), 200);

  constructor(root: HTMLElement, private readonly app: App) {
    const list = h("div", { class: "tabs small" });
    this.tabs = new Tabs(list, app.t(words.copyAs), (name) => { this.chosen = name; this.show(); });
    fill(root, h("div", { class: "code-head" }, list, copyButton(app, app.t(words.copy), () => this.texts[this.chosen] ?? "")),
      this.pre);
  }

  update(state: Readonly<State>, subjects: readonly Subject[], show: readonly string[]): void {
    this.shown = { state, subjects, show };
    this.write();
    if (state.n) this.soon();
  }

  /** A length that the encoding does not serve is not offered: the picture says so, the code does without it. */
  private check(): void {
    const asked = this.shown;
    if (!asked?.state.n) return;
    this.app.forget(this);
    this.app.later(["show", ...asked.subjects.map((x) => x.spec), ...asked.show, "--as", "csv"], this, (ran) => {
      if (ran.code < 2 || this.shown !== asked) return;
      this.shown = { ...asked, state: { ...asked.state, n: 0 }, show: asked.show.filter((a, i) => a !== "--length" && asked.show[i - 1] !== "--length") };
      this.write();
    });
  }

  private write(): void {
    const shown = this.shown, first = shown?.subjects[0];
    if (!shown || !first) return;
    this.texts = { cli: cli(shown), c: cProgram(shown.state, first), python: python(first, shown) };
    this.show();
  }

  private show(): void {
    this.tabs.show([["cli", "CLI"], ["c", "C"], ["python", "Python"]].map(([name = "", title = ""]) => ({ name, title, panel: "code" })), this.chosen);
    this.pre.setAttribute("aria-labelledby", `tab-${this.chosen}`);
    this.pre.textContent = this.texts[this.chosen] ?? "";
  }
}
