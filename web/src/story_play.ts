// SPDX-License-Identifier: MIT
//
// A slider that runs by itself: a button beside it starts and stops it. One that begins runs once for a while when it comes into
// sight, until the reader touches its figure. Where motion is not wanted, nothing begins and a press is one step.

import type { App, Slider } from "./app";
import { h } from "./dom";
import { moves } from "./theme";
import { words } from "./words";

export interface Pacing {
  ms: number; // of a step
  min: number;
  max: number;
  begins: boolean;
}

const longest = 12_000; // milliseconds that it runs unasked

/** Calls f once, when el is well in sight. */
function onceSeen(el: Element, f: () => void): void {
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some((e) => e.isIntersecting)) return;
    watch.disconnect();
    f();
  }, { rootMargin: "0px 0px -25% 0px" });
  watch.observe(el);
}

export class Player {
  private running = 0;
  private last = 0;
  private until = Infinity; // of a run that nobody asked for
  private readonly button: HTMLButtonElement;
  private readonly touched = (event: Event): void => {
    if (this.slider.root.closest(".demo")?.contains(event.target as Node) && event.target !== this.button) this.stop();
  };

  constructor(private readonly slider: Slider, private readonly pacing: Pacing, private readonly set: (value: number, unasked: boolean) => void,
              private readonly app: App) {
    this.button = h("button", { type: "button", class: "quiet small play", onclick: () => this.toggle() });
    this.label();
    slider.root.prepend(this.button);
    new IntersectionObserver((seen) => { if (!seen.some((e) => e.isIntersecting)) this.stop(); }).observe(slider.root);
    if (pacing.begins) onceSeen(slider.root, () => this.begin());
  }

  private label(): void {
    this.button.textContent = this.running ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", this.app.t(this.running ? words.pause : words.play));
  }

  private step(): void {
    const next = this.slider.get() + 1, { min, max } = this.pacing;
    this.set(next > max ? min : next, this.until < Infinity);
  }

  private toggle(): void {
    if (this.running) return this.stop();
    if (!moves()) return this.step();
    this.run();
  }

  private begin(): void {
    if (this.running || !moves()) return;
    this.until = performance.now() + longest;
    for (const touch of ["pointerdown", "keydown"]) addEventListener(touch, this.touched, { capture: true });
    this.run();
  }

  private run(): void {
    this.running = requestAnimationFrame((now) => this.tick(now));
    this.label();
  }

  private tick(now: number): void {
    if (!this.button.isConnected || document.hidden || now > this.until) return this.stop();
    this.running = requestAnimationFrame((t) => this.tick(t));
    if (now - this.last < this.pacing.ms) return;
    this.last = now;
    this.step();
  }

  private stop(): void {
    cancelAnimationFrame(this.running);
    this.running = 0;
    this.until = Infinity;
    for (const touch of ["pointerdown", "keydown"]) removeEventListener(touch, this.touched, { capture: true });
    this.label();
  }
}
