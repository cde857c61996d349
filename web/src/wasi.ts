// SPDX-License-Identifier: MIT
//
// Of WASI what the tool asks for: stdin, stdout, stderr, a clock, and files that are handed in to be read.

export type Files = ReadonlyMap<string, Uint8Array>;

export const nosys = 52; // the error of what is not here
const done = 0, badf = 8, noent = 44, rofs = 69, spipe = 70;
const directory = 3, regular = 4;
const folder = 3; // the descriptor of the one folder there is
const environment = ["LANG=en_US.UTF-8"];

export class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

/** Bytes that come piece by piece. */
class Collected {
  private bytes = new Uint8Array(4096);
  private size = 0;
  add(piece: Uint8Array): void {
    if (this.size + piece.length > this.bytes.length) {
      const more = new Uint8Array(2 * (this.size + piece.length));
      more.set(this.bytes.subarray(0, this.size));
      this.bytes = more;
    }
    this.bytes.set(piece, this.size);
    this.size += piece.length;
  }
  take(): Uint8Array {
    const all = this.bytes.slice(0, this.size);
    this.size = 0;
    return all;
  }
}

interface Open {
  bytes: Uint8Array;
  at: number;
}

/** The functions of wasi_snapshot_preview1 that the module imports. Each answers with an error number. */
export class System {
  memory!: WebAssembly.Memory;
  stdout = new Collected();
  stderr = new Collected();
  files: Files = new Map();
  private open = new Map<number, Open>();

  start(stdin: Uint8Array, files: Files): void {
    this.files = files;
    this.open = new Map([[0, { bytes: stdin, at: 0 }]]);
  }

  private view(): DataView {
    return new DataView(this.memory.buffer);
  }
  private slice(at: number, size: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.memory.buffer as ArrayBuffer, at, size);
  }
  /** The file a path of the module names. */
  private named(at: number, size: number): Uint8Array | undefined {
    const path = new TextDecoder().decode(this.slice(at, size).slice());
    return this.files.get(path.replace(/^(\.\/)+/, ""));
  }

  private gather(iovs: number, count: number, each: (piece: Uint8Array) => number): number {
    const view = this.view();
    let all = 0;
    for (let i = 0; i < count; i++) {
      const size = view.getUint32(iovs + 8 * i + 4, true);
      const moved = each(this.slice(view.getUint32(iovs + 8 * i, true), size));
      all += moved;
      if (moved < size) break;
    }
    return all;
  }

  private static read(from: Open, piece: Uint8Array): number {
    const part = from.bytes.subarray(from.at, from.at + piece.length);
    piece.set(part);
    from.at += part.length;
    return part.length;
  }

  /** struct __wasi_filestat_t */
  private stat(at: number, type: number, size: number): number {
    this.slice(at, 64).fill(0);
    this.view().setUint8(at + 16, type);
    this.view().setBigUint64(at + 32, BigInt(size), true);
    return done;
  }

  private strings(texts: readonly string[], list: number, at: number): number {
    for (const [i, text] of texts.entries()) {
      this.view().setUint32(list + 4 * i, at, true);
      const bytes = new TextEncoder().encode(text + "\0");
      this.slice(at, bytes.length).set(bytes);
      at += bytes.length;
    }
    return done;
  }

  private sizes(texts: readonly string[], count: number, size: number): number {
    this.view().setUint32(count, texts.length, true);
    this.view().setUint32(size, new TextEncoder().encode(texts.join("") + "\0".repeat(texts.length)).length, true);
    return done;
  }

  readonly calls: Record<string, (...args: never[]) => number> = {
    fd_write: (fd: number, iovs: number, count: number, out: number) => {
      const to = fd === 1 ? this.stdout : fd === 2 ? this.stderr : null;
      if (!to) return badf;
      const size = this.gather(iovs, count, (piece) => (to.add(piece), piece.length));
      this.view().setUint32(out, size, true);
      return done;
    },
    fd_read: (fd: number, iovs: number, count: number, out: number) => {
      const from = this.open.get(fd);
      if (!from) return badf;
      this.view().setUint32(out, this.gather(iovs, count, (piece) => System.read(from, piece)), true);
      return done;
    },
    fd_pread: (fd: number, iovs: number, count: number, at: bigint, out: number) => {
      const file = this.open.get(fd);
      if (!file) return badf;
      const from = { bytes: file.bytes, at: Number(at) };
      this.view().setUint32(out, this.gather(iovs, count, (piece) => System.read(from, piece)), true);
      return done;
    },
    fd_seek: (fd: number, by: bigint, whence: number, out: number) => {
      const file = this.open.get(fd);
      if (!file || fd === 0) return spipe;
      file.at = Number(by) + (whence === 0 ? 0 : whence === 1 ? file.at : file.bytes.length);
      this.view().setBigUint64(out, BigInt(file.at), true);
      return done;
    },
    fd_close: (fd: number) => (this.open.delete(fd) ? done : badf),
    fd_fdstat_get: (fd: number, out: number) => {
      if (fd > folder && !this.open.has(fd)) return badf;
      this.slice(out, 24).fill(0);
      this.view().setUint8(out, fd < folder ? 0 : fd === folder ? directory : regular);
      this.view().setBigUint64(out + 8, ~0n & 0xffff_ffffn, true);
      this.view().setBigUint64(out + 16, ~0n & 0xffff_ffffn, true);
      return done;
    },
    fd_filestat_get: (fd: number, out: number) => {
      const file = this.open.get(fd);
      if (fd === folder) return this.stat(out, directory, 0);
      if (!file) return fd < folder ? this.stat(out, 0, 0) : badf;
      return this.stat(out, fd === 0 ? 0 : regular, file.bytes.length);
    },
    fd_prestat_get: (fd: number, out: number) => {
      if (fd !== folder) return badf;
      this.view().setUint32(out, 0, true);
      this.view().setUint32(out + 4, 1, true);
      return done;
    },
    fd_prestat_dir_name: (fd: number, at: number) => {
      if (fd !== folder) return badf;
      this.slice(at, 1).fill(0x2e); // "."
      return done;
    },
    path_open: (_fd: number, _flags: number, at: number, size: number, create: number, _base: bigint, _inheriting: bigint,
      _more: number, out: number) => {
      const bytes = this.named(at, size);
      if (create & 9) return rofs;
      if (!bytes) return noent;
      let fd = folder + 1;
      while (this.open.has(fd)) fd++;
      this.open.set(fd, { bytes, at: 0 });
      this.view().setUint32(out, fd, true);
      return done;
    },
    path_filestat_get: (_fd: number, _flags: number, at: number, size: number, out: number) => {
      const bytes = this.named(at, size);
      return bytes ? this.stat(out, regular, bytes.length) : noent;
    },
    environ_sizes_get: (count: number, size: number) => this.sizes(environment, count, size),
    environ_get: (list: number, at: number) => this.strings(environment, list, at),
    clock_time_get: (id: number, _precision: bigint, out: number) => {
      const ms = id === 0 ? Date.now() : performance.now();
      this.view().setBigUint64(out, BigInt(Math.round(ms * 1e6)), true);
      return done;
    },
    random_get: (at: number, size: number) => {
      crypto.getRandomValues(this.slice(at, size));
      return done;
    },
    proc_exit: (code: number) => {
      throw new Exit(code);
    },
  };
}
