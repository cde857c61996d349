// SPDX-License-Identifier: MIT
//
// Commands that may take seconds, in a worker beside the page: one at a time, in order; what is no longer wanted is
// dropped, or stopped where it has begun. The worker runs the script of the page itself, which sees that it has no document.

import type { Ran } from "./app";
import { pending } from "./frame";
import { toolOf, type Tool } from "./tool";
import type { Files } from "./wasi";

interface Job {
  args: readonly string[];
  files: Files | undefined;
  owner: object; // who asked: forget(owner) takes back all of theirs
  done(ran: Ran): void;
  end(): void; // no longer pending
}

/** The page's script: its text where it stands in the page, its address where it is a file. Read while it loads. */
const script = typeof document === "undefined" ? null : (document.currentScript as HTMLScriptElement | null);

function newWorker(): Worker {
  if (script?.src) return new Worker(script.src);
  const url = URL.createObjectURL(new Blob([script?.textContent ?? ""], { type: "text/javascript" }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  return worker;
}

export class Background {
  private worker: Worker | null = null;
  private waiting: Job[] = [];
  private running: Job | null = null;

  constructor(private readonly module: WebAssembly.Module, private readonly kind: "drawing" | "waiting") {}

  run(args: readonly string[], owner: object, done: (ran: Ran) => void, files?: Files): void {
    this.waiting.push({ args, files, owner, done, end: pending(this.kind) });
    this.next();
  }

  /** Takes back all that anyone asked for. */
  clear(): void {
    for (const owner of new Set([...this.waiting, ...(this.running ? [this.running] : [])].map((j) => j.owner))) this.forget(owner);
  }

  forget(owner: object): void {
    for (const job of this.waiting) if (job.owner === owner) job.end();
    this.waiting = this.waiting.filter((j) => j.owner !== owner);
    if (this.running?.owner !== owner) return;
    this.running.end();
    this.worker?.terminate();
    this.worker = this.running = null;
    this.next();
  }

  private next(): void {
    if (this.running) return;
    const job = this.waiting.shift();
    if (!job) return;
    this.running = job;
    this.worker ??= this.start();
    this.worker.postMessage({ args: job.args, files: job.files });
  }

  private start(): Worker {
    const worker = newWorker();
    worker.onmessage = (event: MessageEvent<Ran>) => this.finish(event.data);
    worker.onerror = (event) => this.finish({ code: 4, out: new Uint8Array(0), text: "", err: event.message });
    worker.postMessage(this.module);
    return worker;
  }

  private finish(ran: Ran): void {
    const job = this.running;
    this.running = null;
    job?.end();
    job?.done(ran);
    this.next();
  }
}

/** The worker's side. */
export function serve(): void {
  let tool: Tool | null = null;
  onmessage = (event: MessageEvent<WebAssembly.Module | { args: string[]; files?: Files }>) => {
    if (event.data instanceof WebAssembly.Module) {
      tool = toolOf(event.data);
      return;
    }
    const start = performance.now();
    const { code, out, text, err } = tool?.run(event.data.args, undefined, event.data.files) ?? { code: 4, out: new Uint8Array(0), text: "", err: "no tool" };
    postMessage({ code, out, text, err, ms: performance.now() - start });
  };
}
