// SPDX-License-Identifier: MIT
//
// When things are drawn: a change asks, a frame answers, once, with the newest state.

const open = { drawing: 0, waiting: 0 };

/** Counts a piece of work until the returned function is called: <html data-drawing="1" data-waiting="2">. drawing: a picture is
 *  due. waiting: a timer or a measurement in a worker is under way. An attribute is absent while its count is 0: tests wait for that. */
export function pending(kind: keyof typeof open): () => void {
  let done = false;
  const count = (by: number): void => {
    open[kind] += by;
    if (open[kind]) document.documentElement.dataset[kind] = String(open[kind]);
    else delete document.documentElement.dataset[kind];
  };
  count(1);
  return () => {
    if (!done) count(-1);
    done = true;
  };
}

/** Runs f in the next frame, however often it is asked for until then. */
export function eachFrame(f: () => void): () => void {
  let waiting = 0;
  return () => {
    if (waiting) return;
    const done = pending("drawing");
    waiting = requestAnimationFrame(() => {
      waiting = 0;
      done();
      f();
    });
  };
}

/** Runs f when nothing has asked for it for so many milliseconds. */
export function whenQuiet(f: () => void, ms: number): () => void {
  let timer = 0, done = (): void => {};
  return () => {
    clearTimeout(timer);
    done();
    done = pending("waiting");
    timer = window.setTimeout(() => { done(); f(); }, ms);
  };
}

/** Runs f at once, then at most once in so many milliseconds, the last time after the last call. */
export class AtMost {
  private timer = 0;
  private done = (): void => {};
  private last = -Infinity;
  constructor(private readonly f: () => void, private readonly ms: number) {}
  ask(): void {
    if (this.timer) return;
    const wait = this.last + this.ms - performance.now();
    if (wait <= 0) return this.now();
    this.done = pending("waiting");
    this.timer = window.setTimeout(() => this.now(), wait);
  }
  now(): void {
    this.cancel();
    this.last = performance.now();
    this.f();
  }
  cancel(): void {
    clearTimeout(this.timer);
    this.done();
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
