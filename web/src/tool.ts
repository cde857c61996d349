// SPDX-License-Identifier: MIT
//
// The tool itself, compiled to WebAssembly: run(["table", "rope", "-n", "4"]) is what `posenc table rope -n 4` is in a
// terminal, on the WASI of wasi.ts.

import { asset } from "./asset";
import { noted } from "./frame";
import { Exit, nosys, System, type Files } from "./wasi";

/** What one command gave back. */
export interface Answer {
  code: number; // 0: done; see cli_exit
  out: Uint8Array; // stdout
  readonly text: string; // stdout as text
  err: string; // stderr
}

/** Never throws: where the module traps, code is 4 and the next command finds a new instance. */
export interface Tool {
  run(args: readonly string[], stdin?: Uint8Array, files?: Files): Answer;
}

const system = 4; // CLI_SYSTEM
const nothing = new Uint8Array(0);

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  page_run(argc: number, argv: number): number;
  page_malloc(size: number): number;
  page_free(at: number): void;
}

class Module implements Tool {
  private readonly system = new System();
  private instance: Exports | null = null;

  constructor(private readonly module: WebAssembly.Module) {}

  private start(): Exports {
    const imports: Record<string, WebAssembly.ImportValue> = {};
    for (const { name } of WebAssembly.Module.imports(this.module)) imports[name] = this.system.calls[name] ?? (() => nosys);
    const instance = new WebAssembly.Instance(this.module, { wasi_snapshot_preview1: imports });
    const exports = instance.exports as unknown as Exports;
    this.system.memory = exports.memory;
    exports._initialize();
    return exports;
  }

  /** argv as C has it, in one block: pointers, then texts. Returns its address. */
  private static arguments(to: Exports, args: readonly string[]): number {
    const texts = args.map((arg) => new TextEncoder().encode(arg + "\0"));
    const list = 4 * (texts.length + 1);
    const block = to.page_malloc(texts.reduce((sum, text) => sum + text.length, list));
    if (!block) throw new Exit(system);
    const view = new DataView(to.memory.buffer);
    let at = block + list;
    for (const [i, text] of texts.entries()) {
      view.setUint32(block + 4 * i, at, true);
      new Uint8Array(to.memory.buffer, at, text.length).set(text);
      at += text.length;
    }
    view.setUint32(block + 4 * texts.length, 0, true);
    return block;
  }

  private call(args: readonly string[]): number {
    try {
      const tool = (this.instance ??= this.start());
      const argv = Module.arguments(tool, ["posenc", ...args]);
      const code = tool.page_run(args.length + 1, argv);
      tool.page_free(argv);
      return code;
    } catch (stopped) {
      this.instance = null;
      if (stopped instanceof Exit) return stopped.code;
      this.system.stderr.add(new TextEncoder().encode(`posenc: the tool crashed (${String(stopped)}); the page has restarted it\n`));
      return system;
    }
  }

  run(args: readonly string[], stdin: Uint8Array = nothing, files: Files = new Map()): Answer {
    this.system.start(stdin, files);
    const start = performance.now(), code = this.call(args);
    const out = this.system.stdout.take();
    noted("command", start, { args, code, bytes: out.length });
    const err = new TextDecoder().decode(this.system.stderr.take());
    let text: string | null = null;
    return { code, out, err, get text() { return (text ??= new TextDecoder().decode(out)); } };
  }
}

export function toolOf(module: WebAssembly.Module): Tool {
  return new Module(module);
}

export async function loadModule(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await asset("posenc.wasm"));
}
