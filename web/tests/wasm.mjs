// SPDX-License-Identifier: MIT
//
// node wasm.mjs POSENC WORK MODULE...: the tool in WebAssembly (a .wasm, or a page with one inside) beside the native tool, on
// every row and every example of the registry. WASI here is node's: another one than the page's own.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WASI } from "node:wasi";
import { gunzipSync } from "node:zlib";

const [posenc, work, ...modules] = process.argv.slice(2);

/** Codes and rotations are the same bits; biases, and rotations of this row, take exp, log or pow from libm, whose last bit is
 *  each libm's own. A float64 that is such a value times another may be one more off. */
const throughLibm = new Set(["xpos"]);
const ulps = (type) => (type.includes("f64") ? 2 : 1);

// ---------------------------------------------------------------- the two tools

export function moduleOf(file) {
  const bytes = readFileSync(file);
  if (!file.endsWith(".html")) return bytes;
  const inside = /<script type="application\/wasm" id="posenc-wasm">([^<]*)</.exec(bytes.toString("latin1"));
  if (!inside) throw new Error(`${file}: no module inside`);
  return gunzipSync(Buffer.from(inside[1], "base64"));
}

function wasmTool(file) {
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

function nativeTool() {
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

// ---------------------------------------------------------------- arrays

function npy(type, shape, data) {
  const size = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  let header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${size}), }`;
  header += " ".repeat(63 - ((10 + header.length) % 64)) + "\n";
  const head = Buffer.from("\x93NUMPY\x01\0\0\0" + header, "latin1");
  head.writeUInt16LE(header.length, 8);
  return Buffer.concat([head, Buffer.from(data.buffer)]);
}

/** The numbers of an .npy as integers in the order of the floats, so that neighbours differ by one. */
function ordered(bytes) {
  const header = bytes.toString("latin1", 10, 10 + bytes.readUInt16LE(8));
  const data = bytes.buffer.slice(bytes.byteOffset + 10 + bytes.readUInt16LE(8), bytes.byteOffset + bytes.length);
  if (header.includes("<f8")) return Array.from(new BigInt64Array(data), (n) => (n < 0n ? -(n & 0x7fffffffffffffffn) : n));
  return Array.from(new Int32Array(data), (n) => BigInt(n < 0 ? -(n & 0x7fffffff) : n));
}

function distance(a, b) {
  if (a.equals(b)) return 0;
  const x = ordered(a), y = ordered(b);
  if (x.length !== y.length) return Infinity;
  let most = 0n;
  for (let i = 0; i < x.length; i++) {
    const d = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
    if (d > most) most = d;
  }
  return Number(most);
}

function makeFiles() {
  const n = 24;
  for (let axes = 1; axes <= 4; axes++) {
    const at = new BigInt64Array(n * axes);
    for (let i = 0; i < at.length; i++) at[i] = BigInt(axes === 1 ? (i * 7) % 13 : (i * 7) % (i % axes ? 4 : 2)); // inside small windows
    writeFileSync(join(work, `at${axes}.npy`), npy("<i8", axes === 1 ? [n] : [n, axes], at));
  }
  const x = new Float32Array(n * 8 * 64);
  for (let i = 0, s = 1; i < x.length; i++) x[i] = ((s = (s * 48271) % 2147483647) / 1073741823.5) - 1;
  writeFileSync(join(work, "q.npy"), npy("<f4", [n, 8, 64], x));
  writeFileSync(join(work, "x.npy"), npy("<f4", [n, 512], x));
}

// ---------------------------------------------------------------- what is compared

let passed = 0, failed = 0;
function fail(text) {
  failed++;
  console.log(`FAILED: ${text}`);
}

/** Both tools, the same command: the same code, messages and bytes. */
function same(wasm, native, args, allowed = 0) {
  const a = wasm.run(args), b = native.run(args), line = args.join(" ");
  if (a.code !== b.code || a.err !== b.err) return fail(`${line}: ${a.code} ${a.err.trim()} | native: ${b.code} ${b.err.trim()}`);
  const far = a.out.subarray(1, 6).toString() === "NUMPY" ? distance(a.out, b.out) : a.out.equals(b.out) ? 0 : Infinity;
  if (far > allowed) return fail(`${line}: differs${far < Infinity ? ` by ${far} ulp; may by ${allowed}` : ""}`);
  passed++;
  return far;
}

/** The positions this spec takes: its number of axes. */
function positionsOf(wasm, verb, spec, more) {
  for (let axes = 1; axes <= 4; axes++)
    if (wasm.run([verb, spec, "--pos", `at${axes}.npy`, ...more, "-o", "-"]).code === 0) return `at${axes}.npy`;
  return fail(`${verb} ${spec}: ${wasm.run([verb, spec, "--pos", "at1.npy", ...more, "-o", "-"]).err}`);
}

function compareSpec(wasm, native, row, spec, worst) {
  const note = (far) => far && worst.set(row.name, Math.max(far, worst.get(row.name) ?? 0));
  const all = (verb, more, types) => {
    const libm = verb === "bias" || throughLibm.has(row.name);
    const at = positionsOf(wasm, verb, spec, more);
    if (!at) return;
    for (const type of types) note(same(wasm, native, [verb, spec, "--pos", at, ...more, ...type, "-o", "-"], libm ? ulps(type) : 0));
    if (at === "at1.npy" && verb !== "apply") note(same(wasm, native, [verb, spec, "-n", "9", ...more, "-o", "-"], libm ? ulps([]) : 0));
  };
  const types = [[], ["--dtype", "f64"]];
  for (const hook of row.hooks) {
    if (hook === "embed") all("table", [], types), all("apply", ["--in", "x.npy"], [[]]);
    if (hook === "rotate") {
      for (const side of ["query", "key"]) all("table", ["--side", side], types), all("apply", ["--in", "q.npy", "--side", side], [[], ["--inverse"]]);
    }
    if (hook === "bias") all("bias", [], types);
  }
}

/** Commands whose output is text: the same text. */
const texts = [
  ["list"], ["list", "--json"], ["list", "rope"], ["--version"], ["nonsense"], ["table"], ["table", "rope:thta=1", "-n", "3"],
  ["table", "rope", "-n", "4", "--start", "1000000", "--json"], ["bias", "alibi", "-n", "5", "--heads", "2", "--json"],
  ["table", "learned:rows=4", "-n", "9"],
];
const configs = ["config.json", "qwen.json", "opt.json", "broken.json", "absent.json"];

function compareTexts(wasm, native) {
  for (const args of texts) same(wasm, native, args);
  for (const config of configs) {
    for (const more of [[], ["--json"], ["--for", "vllm"]]) same(wasm, native, ["explain", config, ...more]);
    for (const more of [["--to", "64k"], ["--to", "1M", "--json"]]) same(wasm, native, ["extend", config, ...more]);
  }
}

// ---------------------------------------------------------------- pictures, steps, verdicts: JSON whose numbers are close

/** Where two JSON values differ: "figures.0.values.3: 1 | 2". Numbers may by a share of their size, or where both are noise. */
function difference(a, b, share, noise, path = "") {
  if (typeof a === "number" && typeof b === "number")
    return Math.abs(a - b) <= Math.max(share * Math.max(Math.abs(a), Math.abs(b)), noise) ? "" : `${path}: ${a} | native ${b}`;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object")
    return a === b ? "" : `${path}: ${JSON.stringify(a)} | native ${JSON.stringify(b)}`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(a[key], b[key], share, noise, `${path}.${key}`);
    if (found) return found;
  }
  return "";
}

function close(wasm, native, args, share, noise, tidy = (x) => x) {
  const a = wasm.run(args), b = native.run(args), line = args.join(" ");
  if (a.code !== b.code || a.err !== b.err) return fail(`${line}: ${a.code} ${a.err.trim()} | native: ${b.code} ${b.err.trim()}`);
  if (a.code > 1) return passed++;
  const found = difference(tidy(JSON.parse(a.out)), tidy(JSON.parse(b.out)), share, noise);
  if (found) return fail(`${line}: ${found}`);
  return passed++;
}

const shape = ["--heads", "4", "--head-dim", "16", "--model-dim", "32"];

function comparePictures(wasm, native, registry) {
  for (const { name } of registry.encodings) {
    const list = ["show", name, "--list", "--json", ...shape];
    same(wasm, native, list);
    for (const view of JSON.parse(native.run(list).out).views.filter((v) => v.fits.length))
      close(wasm, native, ["show", name, "--view", view.name, "--as", "json", ...shape], 1e-12, 1e-14);
    for (const lang of ["en", "zh"])
      close(wasm, native, ["walk", name, "--pos", "5", "--dim", "8", "--json", "--lang", lang], 1e-12, 1e-14);
  }
}

/** Evidence may be rounding itself (the largest difference of two equal things): below 1e-6 it is noise. Times are none. */
function compareVerdicts(wasm, native) {
  const numbers = (said) => ({ ...said, claims: said.claims.map((c) => ({ ...c, numbers: c.numbers.map((n) => ({ ...n, text: "" })) })) });
  const { groups } = JSON.parse(native.run(["prove", "--list", "--json"]).out);
  for (const claim of groups.flatMap((g) => g.claims).filter((c) => !c.timed))
    close(wasm, native, ["prove", claim.name, "--json", "--lang", "zh"], 1e-6, 1e-6, numbers);
}

/** A thousand commands leave the memory as large as it was after the first few. */
function staysSmall(wasm) {
  const once = () => [["table", "rope", "-n", "64", "-o", "-"], ["list", "--json"], ["table", "rope:x=1"], ["bias", "alibi", "-n", "9"]].forEach((a) => wasm.run(a));
  once();
  const before = wasm.memory.buffer.byteLength;
  for (let i = 0; i < 250; i++) once();
  if (wasm.memory.buffer.byteLength !== before) fail(`memory grew from ${before} to ${wasm.memory.buffer.byteLength} bytes over 1000 commands`);
  else passed++;
}

makeFiles();
const native = nativeTool();
const judged = new Set();
for (const file of modules) {
  const bytes = moduleOf(file).toString("base64");
  if (judged.has(bytes)) {
    console.log(`${file.replace(/.*\//, "")}: the same bytes`);
    continue;
  }
  judged.add(bytes);
  const wasm = wasmTool(file), worst = new Map();
  const registry = JSON.parse(native.run(["list", "--json"]).out.toString());
  compareTexts(wasm, native);
  for (const row of registry.encodings)
    for (const spec of new Set([row.name, ...row.examples])) compareSpec(wasm, native, row, spec, worst);
  comparePictures(wasm, native, registry);
  compareVerdicts(wasm, native);
  staysSmall(wasm);
  const libm = [...worst].map(([name, far]) => `${name} by ${far} ulp`).join(", ");
  console.log(`${file.replace(/.*\//, "")}: ${registry.encodings.length} rows; differing: ${libm || "none"}`);
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed ? 1 : 0;
