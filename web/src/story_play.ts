// SPDX-License-Identifier: MIT
//
// A slider that runs by itself: a button beside it starts and stops it. Where motion is not wanted, a press is one step.

import type { App, Slider } from "./app";
import { h } from "./dom";
import { moves } from "./theme";
import { words } from "./words";

export class Player {
  private running = 0;
  private last = 0;
  private readonly button: HTMLButtonElement;

  constructor(private readonly slider: Slider, private readonly ms: number, private readonly min: number, private readonly max: number,
              private readonly set: (value: number) => void, private readonly app: App) {
    this.button = h("button", { type: "button", class: "quiet small play", onclick: () => this.toggle() });
    this.label();
    slider.root.prepend(this.button);
    new IntersectionObserver((seen) => { if (!seen.some((e) => e.isIntersecting)) this.stop(); }).observe(slider.root);
  }

  private label(): void {
    this.button.textContent = this.running ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", this.app.t(this.running ? words.pause : words.play));
  }

  private step(): void {
    const next = this.slider.get() + 1;
    this.set(next > this.max ? this.min : next);
  }

  private toggle(): void {
    if (this.running) return this.stop();
    if (!moves()) return this.step();
    this.running = requestAnimationFrame((now) => this.tick(now));
    this.label();
  }

  private tick(now: number): void {
    if (!this.button.isConnected || document.hidden) return this.stop();
    this.running = requestAnimationFrame((t) => this.tick(t));
    if (now - this.last < this.ms) return;
    this.last = now;
    this.step();
  }

  private stop(): void {
    cancelAnimationFrame(this.running);
    this.running = 0;
    this.label();
  }
}
