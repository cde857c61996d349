// SPDX-License-Identifier: MIT
//
// When things are drawn: a change asks, a frame answers, once, with the newest state.

/** Runs f in the next frame, however often it is asked for until then. */
export function eachFrame(f: () => void): () => void {
  let waiting = 0;
  return () => {
    if (waiting) return;
    waiting = requestAnimationFrame(() => {
      waiting = 0;
      f();
    });
  };
}

/** Runs f when nothing has asked for it for so many milliseconds. */
export function whenQuiet(f: () => void, ms: number): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(f, ms);
  };
}

/** Runs f at once, then at most once in so many milliseconds, the last time after the last call. */
export class AtMost {
  private timer = 0;
  private last = -Infinity;
  constructor(private readonly f: () => void, private readonly ms: number) {}
  ask(): void {
    if (this.timer) return;
    const wait = this.last + this.ms - performance.now();
    if (wait <= 0) this.now();
    else this.timer = window.setTimeout(() => this.now(), wait);
  }
  now(): void {
    this.cancel();
    this.last = performance.now();
    this.f();
  }
  cancel(): void {
    clearTimeout(this.timer);
    this.timer = 0;
  }
}

/** What took from start until now, as an entry of performance.getEntriesByName(name). Old ones are dropped. */
export function noted(name: string, start: number, detail?: unknown): void {
  if (performance.getEntriesByName(name).length > 200) performance.clearMeasures(name);
  performance.measure(name, { start, end: performance.now(), detail });
}

/** The time f takes, noted. */
export function measured<T>(name: string, f: () => T): T {
  const start = performance.now();
  try {
    return f();
  } finally {
    noted(name, start);
  }
}

/** Calls f when el comes into sight, and again whenever it asks while el is in sight; else f waits until it is. */
export class WhileSeen {
  private seen = false;
  private due = true;
  private readonly watch: IntersectionObserver;
  constructor(el: Element, private readonly f: () => void) {
    this.watch = new IntersectionObserver((entries) => {
      this.seen = entries.some((e) => e.isIntersecting);
      if (this.seen && this.due) this.now();
    }, { rootMargin: "200px" });
    this.watch.observe(el);
  }
  ask(): void {
    this.due = true;
    if (this.seen) this.now();
  }
  stop(): void {
    this.watch.disconnect();
  }
  private now(): void {
    this.due = false;
    this.f();
  }
}
