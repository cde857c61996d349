// SPDX-License-Identifier: MIT
//
// The controls above the pictures: what the views in sight ask for (by the tool's own option names), and the shape, as far
// as the encodings at hand have a use for it.

import type { App, Slider, State } from "./app";
import { fill, h, newId } from "./dom";
import { bounds } from "./state";
import { moves } from "./theme";
import { words } from "./words";

type Numbered = keyof typeof bounds;

interface Wish {
  name: Numbered;
  label: keyof typeof words;
  help: keyof typeof words;
  ask?: string; // a view's
  hooks?: string[]; // or an encoding's
  none?: number; // the value that stands for "the view's own choice"
  range?: [number, number]; // of the slider, where the field goes further
  step?: number; // of the slider; the field takes any whole number
}

const wishes: Wish[] = [
  { name: "n", label: "length", help: "lengthHelp", ask: "length", none: 0, range: [2, 2048] },
  { name: "start", label: "start", help: "startHelp", ask: "start", range: [0, 4096] },
  { name: "at", label: "at", help: "atHelp", ask: "at", none: -1, range: [0, 255] },
  { name: "head", label: "head", help: "headHelp", ask: "head", range: [0, 31] },
  { name: "axis", label: "axis", help: "axisHelp", ask: "axis" },
  { name: "dim", label: "headDim", help: "headDimHelp", hooks: ["rotate", "content", "value"], step: 2 },
  { name: "model", label: "modelDim", help: "modelDimHelp", hooks: ["embed"], range: [2, 1024], step: 2 },
  { name: "heads", label: "heads", help: "headsHelp", hooks: ["content", "bias", "value"] },
];

const stepMs = 90;

export class Strip {
  private readonly sliders = new Map<Numbered, { slider: Slider; box: HTMLElement; wish: Wish; reset: HTMLButtonElement }>();
  private readonly text: HTMLInputElement;
  private readonly pairs: HTMLInputElement;
  private readonly checks = new Map<"causal" | "log", HTMLInputElement>();
  private readonly boxes = new Map<string, HTMLElement>();
  private readonly why = h("span", { class: "faint" });
  private readonly play: HTMLButtonElement;
  private playing = 0;
  private before = 0;

  constructor(private readonly root: HTMLElement, private readonly app: App, private readonly first: Readonly<State>) {
    this.play = h("button", { type: "button", class: "quiet small play", title: app.t(words.playHelp), "aria-label": app.t(words.play), onclick: () => this.toggle() }, "▶");
    this.text = this.field("sentence", words.sentence, words.sentenceFirst, (text) => ({ text }));
    this.pairs = this.field("pairs", words.pairs, words.pairsFirst, (pairs) => ({ pairs }));
    this.check("causal");
    this.check("log");
    fill(root, this.boxes.get("sentence"));
    for (const wish of wishes) this.slider(wish);
    root.append(...["pairs", "causal", "log"].map((n) => this.boxes.get(n) as HTMLElement));
  }

  private field(name: string, label: typeof words.sentence, first: typeof words.sentence, change: (v: string) => Partial<State>): HTMLInputElement {
    const id = newId("look");
    const field = h("input", { type: "text", id, placeholder: this.app.t(first), maxlength: "400", spellcheck: "false" });
    field.addEventListener("input", () => this.app.setState(change(field.value)));
    this.boxes.set(name, h("div", { class: `look ${name}` }, h("label", { for: id }, this.app.t(label)), field));
    return field;
  }

  private check(name: "causal" | "log"): void {
    const id = newId("look");
    const box = h("input", { type: "checkbox", id, onchange: () => this.app.setState({ [name]: box.checked }) });
    this.checks.set(name, box);
    this.boxes.set(name, h("div", { class: "look check" }, box, " ", h("label", { for: id }, this.app.t(words[name]), name === "causal" && this.why)));
  }

  private slider(wish: Wish): void {
    const { app } = this;
    const [min, max] = bounds[wish.name], [low, high] = wish.range ?? [min, max];
    const box = h("div", { class: "look" });
    const slider = app.slider(box, {
      label: app.t(words[wish.label]), help: app.t(words[wish.help]), value: NaN, min: low, max: high, most: max, step: wish.step ?? 1,
      log: low > 0 && high > 200, none: app.t(words.auto),
    }, (v) => app.setState({ [wish.name]: Number.isNaN(v) ? this.first[wish.name] : v }));
    const reset = h("button", {
      type: "button", class: "plain reset", title: app.t(words.reset), "aria-label": `${app.t(words[wish.label])}: ${app.t(words.reset)}`,
      onclick: () => app.setState({ [wish.name]: this.first[wish.name] }),
    }, "↺");
    slider.root.prepend(reset);
    if (wish.name === "start") slider.root.prepend(this.play);
    this.sliders.set(wish.name, { slider, box, wish, reset });
    this.root.append(box);
  }

  update(asked: ReadonlySet<string>, hooks: ReadonlySet<string>, axes: number, causal: readonly string[], state: Readonly<State>): void {
    for (const [name, { slider, box, wish, reset }] of this.sliders) {
      const wanted = wish.ask ? asked.has(wish.ask) : (wish.hooks ?? []).some((k) => hooks.has(k));
      box.hidden = !wanted || (name === "axis" && axes < 2);
      slider.set(state[name] === wish.none ? NaN : state[name]);
      reset.hidden = state[name] === this.first[name];
    }
    for (const [name, box] of this.boxes) box.hidden = !asked.has(name);
    if (!asked.has("start")) this.stop();
    if (document.activeElement !== this.text) this.text.value = state.text;
    if (document.activeElement !== this.pairs) this.pairs.value = state.pairs;
    for (const [name, box] of this.checks) {
      const forced = name === "causal" && causal.length > 0;
      box.checked = state[name] || forced;
      box.disabled = forced;
    }
    this.why.textContent = causal.length ? this.app.t(words.causalAlways).replace("SPEC", causal[0] ?? "") : "";
  }

  private toggle(): void {
    if (this.playing) return this.stop();
    if (!moves()) return this.step(); // one step at a time, where motion is not wanted
    this.label("❚❚", this.app.t(words.pause));
    this.playing = requestAnimationFrame((now) => this.tick(now));
  }

  private step(): void {
    this.app.setState({ start: (this.app.state.start + 1) % (bounds.start[1] + 1) });
  }

  private tick(now: number): void {
    this.playing = requestAnimationFrame((t) => this.tick(t));
    if (now - this.before < stepMs) return;
    this.before = now;
    this.step();
  }

  stop(): void {
    if (!this.playing) return;
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.label("▶", this.app.t(words.play));
  }

  private label(sign: string, name: string): void {
    this.play.textContent = sign;
    this.play.setAttribute("aria-label", name);
  }
}
