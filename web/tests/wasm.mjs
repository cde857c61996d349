// SPDX-License-Identifier: MIT
//
// node wasm.mjs POSENC WORK MODULE...: the tool in WebAssembly (a .wasm, or a page with one inside) beside the native tool, on
// every row and every example of the registry. WASI here is node's: another one than the page's own.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { moduleOf, nativeTool, sameBits, sharedRegistry, wasmTool } from "./tools.mjs";

const [posenc, work, ...modules] = process.argv.slice(2);

/** Codes and rotations are the same bits; biases, and rotations of xpos, take exp, log or pow from libm, whose last bit is
 *  each libm's own. A float64 that is such a value times another may be one more off. Of other rows, which may put such a
 *  number into another function, the numbers are close. */
const lastBit = new Set(["xpos", "alibi", "t5", "kerple", "fire", "sandwich", "window"]);
const ulps = (type) => (type.includes("f64") ? 2 : 1);
const CLOSE = -1; // in place of so many ulp: within 1e-6

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

/** The largest difference of two arrays of floats, against 1 or the number where that is larger. */
function apart(a, b) {
  const numbers = (bytes) => {
    const start = bytes.byteOffset + 10 + bytes.readUInt16LE(8), data = bytes.buffer.slice(start, bytes.byteOffset + bytes.length);
    return bytes.toString("latin1", 10, 10 + bytes.readUInt16LE(8)).includes("<f8") ? new Float64Array(data) : new Float32Array(data);
  };
  const x = numbers(a), y = numbers(b);
  return x.length === y.length ? x.reduce((most, n, i) => Math.max(most, Math.abs(n - y[i]) / Math.max(1, Math.abs(y[i]))), 0) : Infinity;
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
  if (allowed === CLOSE) {
    const off = apart(a.out, b.out);
    return off > 1e-6 ? fail(`${line}: differs by ${off}`) : void passed++;
  }
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
    const allowed = (type) => (verb !== "bias" && sameBits.has(row.name) ? 0 : lastBit.has(row.name) ? ulps(type) : CLOSE);
    const at = positionsOf(wasm, verb, spec, more);
    if (!at) return;
    for (const type of types) note(same(wasm, native, [verb, spec, "--pos", at, ...more, ...type, "-o", "-"], allowed(type)));
    if (at === "at1.npy" && verb !== "apply") note(same(wasm, native, [verb, spec, "-n", "9", ...more, "-o", "-"], allowed([])));
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

function compareTexts(wasm, native, registry) {
  for (const args of texts.filter(([verb, name]) => verb !== "list" || name === "rope" || !registry.lacking.length)) same(wasm, native, args);
  for (const { name } of registry.encodings) same(wasm, native, ["list", name]), same(wasm, native, ["list", name, "--json"]);
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
function compareVerdicts(wasm, native, registry) {
  const numbers = (said) => ({ ...said, claims: said.claims.map((c) => ({ ...c, numbers: c.numbers.map((n) => ({ ...n, text: "", spread: n.spread && "" })) })) });
  /** Trained models are not in the module, which then has to say that it needs them. */
  const lacksModels = (args) => {
    const { code, out } = wasm.run(args);
    return code === 2 && out.length > 0 && /--models/.test(JSON.parse(out).claims[0].cannot);
  };
  const { groups } = JSON.parse(native.run(["prove", "--list", "--json"]).out);
  for (const { name, claims } of groups)
    for (const claim of claims.filter((c) => !c.timed && !(c.every_row && registry.lacking.length))) {
      const args = ["prove", claim.name, "--json", "--lang", "zh"];
      if (name === "trained" && lacksModels(args)) passed++;
      else close(wasm, native, args, 1e-6, 1e-6, numbers);
    }
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
const native = nativeTool(posenc, work);
const judged = new Set();
for (const file of modules) {
  const bytes = moduleOf(file).toString("base64");
  if (judged.has(bytes)) {
    console.log(`${file.replace(/.*\//, "")}: the same bytes`);
    continue;
  }
  judged.add(bytes);
  const wasm = wasmTool(file, work), worst = new Map();
  const registry = sharedRegistry(wasm, native, file);
  for (const name of file.endsWith(".html") ? registry.gone : [...registry.lacking, ...registry.gone]) fail(`${file}: the row ${name} is not in both`);
  compareTexts(wasm, native, registry);
  for (const row of registry.encodings)
    for (const spec of new Set([row.name, ...row.examples])) compareSpec(wasm, native, row, spec, worst);
  comparePictures(wasm, native, registry);
  compareVerdicts(wasm, native, registry);
  staysSmall(wasm);
  const libm = [...worst].map(([name, far]) => `${name} by ${far} ulp`).join(", ");
  console.log(`${file.replace(/.*\//, "")}: ${registry.encodings.length} rows; differing: ${libm || "none"}`);
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed ? 1 : 0;
