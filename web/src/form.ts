// SPDX-License-Identifier: MIT
//
// One side of the comparison as a form: the text of its spec, and for each encoding in it the keys that have a meaning.
// The form writes the spec; the tool judges it.

import type { App } from "./app";
import { fill, h, newId } from "./dom";
import { keyControl, type KeyControl } from "./key";
import { applies, rowOf, type Key, type Registry, type Row } from "./registry";
import { partsOf, readSpec, writeSpec, type Part } from "./spec";
import type { Subject } from "./views";
import { typeset } from "./typeset";
import { words } from "./words";

const wide = "(min-width: 901px)"; // beside the pictures; where the form stands above them, keys begin folded
const straight = 4; // so many keys of a row stand in the open, and those that others hang on; the rest are folded

/** Counts dimensions of a head: there are no more than it has. */
function ofWidth(key: Key): boolean {
  return key.name === "dims";
}

export class SideForm {
  readonly root: HTMLElement;
  private readonly text: HTMLInputElement;
  private readonly error: HTMLElement;
  private readonly body: HTMLElement;
  private controls = new Map<string, KeyControl>();
  private built = "";
  private parts: Part[] = [{ name: "", keys: new Map() }]; // of the last spec that was one, and what the form made of them
  private next = ""; // the data-key that is to have the focus once the form is built
  private dim = 0; // the width of a head
  private readonly folds = new Map<string, boolean>(); // open or not, where the reader chose

  constructor(private readonly app: App, private readonly registry: Registry, private readonly name: string,
              private readonly change: (spec: string, place?: boolean) => void) {
    const id = newId("spec");
    this.text = h("input", {
      type: "text", id, class: "spec", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
      "aria-describedby": `${id}-error`, oninput: () => this.change(this.text.value.trim()),
    });
    this.error = h("p", { class: "error", id: `${id}-error`, role: "status", "aria-live": "polite" });
    this.body = h("div", { class: "parts" });
    this.root = h("div", { class: "side-form" },
      h("label", { class: "quiet", for: id }, `${app.t(words.spec)} ${name}`), this.text, this.error, this.body);
  }

  /** Shows the spec, and the tool's sentence where it is wrong: then the form stays as it is. */
  update(spec: string, { error, parts, waits = false }: Subject, dim: number): void {
    if (this.text.value.trim() !== spec) this.text.value = spec;
    this.text.setAttribute("aria-invalid", String(error !== "" && !waits));
    this.error.className = waits ? "faint" : "error";
    this.error.textContent = error;
    if (!error) this.parts = partsOf(parts);
    this.dim = dim;
    const shape = this.shape();
    if (shape !== this.built) this.build(shape);
    this.parts.forEach((part, i) => {
      for (const key of rowOf(this.registry, part.name)?.keys ?? [])
        this.controls.get(`${i}.${key.name}`)?.set(part.keys.get(key.name));
    });
  }

  /** What the look of the form depends on: names, and the choices that other keys hang on. */
  private shape(): string {
    return this.parts.map((part) => {
      const row = rowOf(this.registry, part.name);
      const keys = row?.keys.filter((k) => applies(row, k, part.keys)) ?? [];
      return row ? `${row.name}(${keys.map((k) => (ofWidth(k) ? `${k.name}<=${this.dim}` : k.name))})` : "?";
    }).join("+");
  }

  private build(shape: string): void {
    const focused = (document.activeElement as HTMLElement | null)?.closest<HTMLElement>("[data-key]")?.dataset.key;
    const within = this.body.contains(document.activeElement);
    this.built = shape;
    this.controls = new Map();
    fill(this.body, ...this.parts.map((part, i) => this.part(part, i)), this.adder());
    const key = this.next || (within && focused);
    this.next = "";
    if (key) this.body.querySelector<HTMLElement>(`select[data-key="${key}"], [data-key="${key}"] input`)?.focus();
  }

  private part(part: Part, i: number): HTMLElement {
    const row = rowOf(this.registry, part.name);
    const box = h("div", { class: "part" }, this.chooser(part, i));
    if (!row) return box;
    box.append(h("p", { class: "summary" }, this.app.about(row.summary)), this.source(row));
    const shown = row.keys.filter((k) => applies(row, k, part.keys));
    const open = shown.filter((k) => this.isOpen(row, k));
    const folded = shown.filter((k) => !open.includes(k));
    const keys = this.fold("keys", this.app.t(words.keys), shown.length, matchMedia(wide).matches);
    keys.append(...open.map((k) => this.key(k, i)));
    if (folded.length) {
      const more = this.fold("more", this.app.t(words.moreKeys), folded.length, folded.some((k) => part.keys.has(k.name)));
      more.append(...folded.map((k) => this.key(k, i)));
      keys.append(more);
    }
    if (shown.length) box.append(keys);
    return box;
  }

  /** A fold that stays as the reader left it when the form is built anew. */
  private fold(name: string, title: string, count: number, open: boolean): HTMLDetailsElement {
    const el = h("details", { class: name, open: this.folds.get(name) ?? open }, h("summary", {
      onclick: () => this.folds.set(name, !el.open),
    }, `${title} (${count})`));
    return el;
  }

  private isOpen(row: Row, key: Key): boolean {
    return row.keys.indexOf(key) < straight || row.keys.length <= straight + 2 || key.when !== null ||
      row.keys.some((k) => k.when?.startsWith(`${key.name}=`));
  }

  private source(row: Row): HTMLElement {
    return h("p", { class: "source" }, h("span", { class: "typeset" }, ...typeset(row.formula)), " ",
      row.arxiv
        ? h("a", { href: `https://arxiv.org/abs/${row.arxiv}`, rel: "noreferrer", target: "_blank" }, row.paper)
        : row.paper);
  }

  private key(key: Key, i: number): HTMLElement {
    const control = keyControl(this.app, this.name, ofWidth(key) ? { ...key, max: this.dim } : key, (value) => this.set(i, key, value));
    this.controls.set(`${i}.${key.name}`, control);
    return control.root;
  }

  private set(i: number, key: Key, value: string | undefined): void {
    const part = this.parts[i];
    const row = part && rowOf(this.registry, part.name);
    if (!part || !row) return;
    if (value === undefined) part.keys.delete(key.name);
    else part.keys.set(key.name, value);
    for (const k of row.keys) if (!applies(row, k, part.keys)) part.keys.delete(k.name);
    this.complete(row, part, key);
    this.change(writeSpec(this.parts));
  }

  /** A choice that other keys hang on takes theirs from the registry's first example of it. */
  private complete(row: Row, part: Part, key: Key): void {
    const chosen = part.keys.get(key.name);
    if (key.kind !== "choice" || chosen === undefined) return;
    const example = row.examples.map((e) => readSpec(this.app, e)[0]?.keys).find((keys) => keys?.get(key.name) === chosen);
    for (const k of row.keys) {
      const value = example?.get(k.name);
      if (value !== undefined && k.when?.startsWith(`${key.name}=`) && !part.keys.has(k.name)) part.keys.set(k.name, value);
    }
  }

  private chooser(part: Part, i: number): HTMLElement {
    const { app, registry } = this;
    const id = newId("encoding");
    const select = h("select", { id, "data-key": `encoding-${i}` });
    if (!rowOf(registry, part.name)) select.append(h("option", { value: "", selected: true }, "?"));
    for (const row of registry.encodings)
      select.append(h("option", { value: row.name, selected: row.name === part.name }, row.name));
    select.addEventListener("change", () => {
      this.parts[i] = { name: select.value, keys: new Map() };
      this.change(writeSpec(this.parts), true);
    });
    const remove = this.parts.length > 1 && h("button", {
      type: "button", class: "plain", "aria-label": `${app.t(words.remove)} ${part.name}`, title: app.t(words.remove),
      onclick: () => this.remove(i),
    }, "×");
    return h("div", { class: "chooser" }, h("label", { class: "hidden", for: id }, `${this.name}: ${app.t(words.encoding)}`), select,
      this.examples(part), remove);
  }

  private examples(part: Part): HTMLElement | null {
    const row = rowOf(this.registry, part.name);
    if (!row || row.examples.length < 2 || this.parts.length > 1) return null;
    const label = this.app.t(words.examples);
    const select = h("select", { class: "examples", "aria-label": `${this.name}: ${label}`, "data-key": "examples" },
      h("option", { value: "" }, label + " …"));
    for (const e of row.examples) select.append(h("option", { value: e }, e.length > 60 ? e.slice(0, 57) + "…" : e));
    select.addEventListener("change", () => { const spec = select.value; select.value = ""; if (spec) this.change(spec, true); });
    return select;
  }

  /** The first encoding that does what those at hand do not. */
  private another(): string {
    const used = this.parts.flatMap((p) => rowOf(this.registry, p.name)?.hooks ?? []);
    return this.registry.encodings.find((r) => r.hooks.length > 0 && !r.hooks.some((k) => used.includes(k)))?.name ?? "none";
  }

  private adder(): HTMLElement {
    return h("button", {
      type: "button", class: "plain add", title: this.app.t(words.addHelp),
      onclick: () => this.append(),
    }, "+ " + this.app.t(words.add));
  }

  private append(): void {
    this.next = `encoding-${this.parts.length}`;
    this.change(writeSpec([...this.parts, { name: this.another(), keys: new Map() }]), true);
  }

  private remove(i: number): void {
    this.next = `encoding-${Math.max(0, i - 1)}`;
    this.change(writeSpec(this.parts.filter((_, n) => n !== i)), true);
  }
}
