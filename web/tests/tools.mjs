// SPDX-License-Identifier: MIT
//
// The tool twice: native, and in WebAssembly (a .wasm, or a page with one inside) under node's WASI; and what both can do.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";
import { gunzipSync } from "node:zlib";

/** The module in a .wasm, or inside a page. */
export function moduleOf(file) {
  const bytes = readFileSync(file);
  if (!file.endsWith(".html")) return bytes;
  const inside = /<script type="application\/octet-stream" id="posenc-posenc.wasm">([^<]*)</.exec(bytes.toString("latin1"));
  if (!inside) throw new Error(`${file}: no module inside`);
  return gunzipSync(Buffer.from(inside[1], "base64"));
}

/** The tool inside a .wasm or a page; its files lie in the folder `work`. */
export function wasmTool(file, work) {
  const wasi = new WASI({ version: "preview1", preopens: { ".": work }, env: { LANG: "en_US.UTF-8" } });
  let memory, pieces = [[], [], []];
  const fd_write = (fd, iovs, count, sum) => {
    const view = new DataView(memory.buffer);
    let all = 0;
    for (let i = iovs; i < iovs + 8 * count; i += 8) {
      const size = view.getUint32(i + 4, true);
      pieces[fd].push(Buffer.from(new Uint8Array(memory.buffer, view.getUint32(i, true), size)));
      all += size;
    }
    view.setUint32(sum, all, true);
    return 0;
  };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(moduleOf(file)), { wasi_snapshot_preview1: { ...wasi.wasiImport, fd_write } });
  wasi.initialize(instance);
  const { page_run, page_malloc, page_free } = instance.exports;
  memory = instance.exports.memory;
  const put = (words) => {
    const texts = words.map((w) => Buffer.from(w + "\0"));
    const block = page_malloc(texts.reduce((n, t) => n + t.length, 4 * words.length + 4));
    let at = block + 4 * words.length + 4;
    new DataView(memory.buffer).setUint32(block + 4 * words.length, 0, true);
    texts.forEach((t, i) => {
      new DataView(memory.buffer).setUint32(block + 4 * i, at, true);
      new Uint8Array(memory.buffer, at).set(t);
      at += t.length;
    });
    return block;
  };
  return {
    memory,
    run(args) {
      pieces = [[], [], []];
      const argv = put(["posenc", ...args]);
      const code = page_run(args.length + 1, argv);
      page_free(argv);
      return { code, out: Buffer.concat(pieces[1]), err: Buffer.concat(pieces[2]).toString() };
    },
  };
}

/** The native tool, which answers a command once. */
export function nativeTool(posenc, work) {
  const seen = new Map();
  return {
    run(args) {
      const key = args.join("\0");
      if (!seen.has(key)) {
        const ran = spawnSync(posenc, args, { cwd: work, maxBuffer: 1 << 28, env: { ...process.env, LANG: "en_US.UTF-8", LC_ALL: "" } });
        seen.set(key, { code: ran.status, out: ran.stdout, err: ran.stderr.toString() });
      }
      return seen.get(key);
    },
  };
}

/** Rows whose codes and rotations are the same bits everywhere: they take nothing from libm. */
export const sameBits = new Set(["none", "integer", "normalised", "binary", "sinusoidal", "learned", "hierarchical", "rope"]);

/** The registry of the native tool less the rows that the other tool lacks, which are told: a page may be older than a row.
 *  A row that only the other tool has is a mistake. */
export function sharedRegistry(other, native, file) {
  const list = (tool) => JSON.parse(tool.run(["list", "--json"]).out.toString());
  const mine = list(native), has = new Set(list(other).encodings.map((r) => r.name));
  const encodings = mine.encodings.filter((r) => has.delete(r.name));
  const lacking = mine.encodings.filter((r) => !encodings.includes(r)).map((r) => r.name);
  for (const name of lacking) console.log(`note: ${file} lacks the row ${name}: make page`);
  return { ...mine, encodings, lacking, gone: [...has] };
}
