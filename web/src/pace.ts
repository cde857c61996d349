// SPDX-License-Identifier: MIT
//
// Which commands would hold the page up: those whose kind took long the last time, and those with a large number in them.

import type { Registry } from "./registry";

const patience = 200; // milliseconds
const large = 8192;

export class Pace {
  private readonly last = new Map<string, number>(); // milliseconds, by kind
  private readonly counts: ReadonlySet<string>; // the keys that hold whole numbers: sizes, most of them

  constructor(registry: Registry) {
    this.counts = new Set(registry.encodings.flatMap((r) => r.keys.filter((k) => k.kind === "int").map((k) => k.name)));
  }

  isSlow(args: readonly string[]): boolean {
    return (this.last.get(this.kind(args)) ?? 0) > patience || this.isLarge(args);
  }

  took(args: readonly string[], ms: number): void {
    this.last.set(this.kind(args), ms);
  }

  /** The verb, and what is drawn of what. */
  private kind(args: readonly string[]): string {
    const view = args[args.indexOf("--view") + 1];
    const specs = args.includes("--") ? args.slice(args.indexOf("--") + 1) : [];
    return [args[0], args.includes("--view") ? view : "", ...specs.map((s) => s.split(":")[0])].join(" ");
  }

  private isLarge(args: readonly string[]): boolean {
    const length = args.includes("--length") ? Number(args[args.indexOf("--length") + 1]) : 0;
    const given = args.join(" ").matchAll(/([a-z_]+)=(\d+)([kMG]?)/g);
    return length > large || [...given].some(([, key = "", digits, unit]) =>
      this.counts.has(key) && (unit !== "" || Number(digits) > large));
  }
}
