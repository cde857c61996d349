// SPDX-License-Identifier: MIT
//
// What some views ask for besides the shape: a position that can be played through, a head, a sentence, a mask.

import type { App, Slider, State } from "./app";
import { fill, h, newId } from "./dom";
import { moves } from "./theme";
import { bounds } from "./state";
import { words } from "./words";

const stepMs = 90;

export class Looks {
  private readonly at: Slider;
  private readonly head: Slider;
  private readonly text: HTMLInputElement;
  private readonly causal: HTMLInputElement;
  private readonly play: HTMLButtonElement;
  private readonly boxes: Record<string, HTMLElement>;
  private playing = 0;
  private before = 0;

  constructor(root: HTMLElement, private readonly app: App) {
    const position = h("div", { class: "look" }), head = h("div", { class: "look" });
    this.play = h("button", { type: "button", class: "quiet play", onclick: () => this.toggle() }, app.t(words.play));
    position.append(this.play);
    this.at = app.slider(position, { label: app.t(words.position), value: app.state.at, min: 0, max: 4095 },
      (at) => app.setState({ at }));
    this.head = app.slider(head, { label: app.t(words.head), value: app.state.head, min: 0, max: bounds.head[1] },
      (v) => app.setState({ head: v }));
    const id = newId("look");
    this.text = h("input", { type: "text", id, placeholder: app.t(words.sentenceFirst), maxlength: "400",
      oninput: () => app.setState({ text: this.text.value }) });
    this.causal = h("input", { type: "checkbox", id: `${id}-causal`, onchange: () => app.setState({ causal: this.causal.checked }) });
    const sentence = h("div", { class: "look sentence" }, h("label", { for: id }, app.t(words.sentence)), this.text);
    const causal = h("div", { class: "look" }, this.causal, " ", h("label", { for: `${id}-causal` }, app.t(words.causal)));
    this.boxes = { position, head, sentence, causal };
    fill(root, sentence, position, head, causal);
  }

  update(asked: ReadonlySet<string>, state: Readonly<State>): void {
    for (const [name, box] of Object.entries(this.boxes)) box.hidden = !asked.has(name);
    if (!asked.has("position")) this.stop();
    this.at.set(state.at);
    this.head.set(state.head);
    if (document.activeElement !== this.text) this.text.value = state.text;
    this.causal.checked = state.causal;
  }

  private toggle(): void {
    if (this.playing) return this.stop();
    if (!moves()) return this.app.setState({ at: this.next() }); // one step at a time, where motion is not wanted
    this.play.textContent = this.app.t(words.pause);
    this.play.setAttribute("aria-pressed", "true");
    this.playing = requestAnimationFrame((now) => this.tick(now));
  }

  private next(): number {
    const { at, start, n } = this.app.state;
    return at + 1 < start + n ? at + 1 : start;
  }

  private tick(now: number): void {
    this.playing = requestAnimationFrame((t) => this.tick(t));
    if (now - this.before < stepMs) return;
    this.before = now;
    this.app.setState({ at: this.next() });
  }

  stop(): void {
    if (!this.playing) return;
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.play.textContent = this.app.t(words.play);
    this.play.setAttribute("aria-pressed", "false");
  }
}
