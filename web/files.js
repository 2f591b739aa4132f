// Holds files in memory for the WebAssembly module and implements the functions that it imports: the system calls
// of WASI, preview 1 (files and the clock), Unicode functions and the conversion of text encodings.
import { convert, known } from "./encodings.js";

const OK = 0, EBADF = 8, EEXIST = 20, EINVAL = 28, ENOENT = 44, ENOSYS = 52;
const DIRECTORY = 3, REGULAR = 4;
const ROOT = 3; // the descriptor of the only folder
const CREATE = 1, EXCLUSIVE = 4, TRUNCATE = 8;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A file that grows: bytes[0 .. size). */
class File {
  bytes = new Uint8Array(0);
  size = 0;

  reserve(size) {
    if (size > this.bytes.length) {
      const grown = new Uint8Array(Math.max(size, this.bytes.length * 2));
      grown.set(this.bytes.subarray(0, this.size));
      this.bytes = grown;
    }
  }

  write(at, data) {
    this.reserve(at + data.length);
    this.bytes.set(data, at);
    this.size = Math.max(this.size, at + data.length);
  }
}

export class Files {
  #files = new Map(); // name: File
  #open = new Map(); // descriptor: {file, at}
  #next = ROOT + 1;
  memory = null; // the module's, once it is instantiated

  put(name, bytes) {
    const file = new File();
    file.bytes = bytes;
    file.size = bytes.length;
    this.#files.set(name, file);
  }

  /** Returns the bytes of a file, or null. */
  get(name) {
    const file = this.#files.get(name);
    return file ? file.bytes.slice(0, file.size) : null;
  }

  remove(name) {
    this.#files.delete(name);
  }

  /** Returns the functions that the module imports. */
  imports() {
    const view = () => new DataView(this.memory.buffer);
    const bytes = (at, length) => new Uint8Array(this.memory.buffer, at, length);
    const name = (at, length) => utf8.decode(bytes(at, length)).replace(/^\/+/, "");
    const parts = (at, count) => {
      const v = view();
      return Array.from({ length: count }, (_, i) => bytes(v.getUint32(at + 8 * i, true), v.getUint32(at + 8 * i + 4, true)));
    };
    const stat = (at, type, size) => {
      bytes(at, 64).fill(0);
      const v = view();
      v.setUint8(at + 16, type);
      v.setBigUint64(at + 24, 1n, true);
      v.setBigUint64(at + 32, BigInt(size), true);
      return OK;
    };
    const read = (open, from, at, count, got) => {
      let total = 0;
      for (const part of parts(at, count)) {
        const piece = open.file.bytes.subarray(from + total, Math.min(open.file.size, from + total + part.length));
        part.set(piece);
        total += piece.length;
        if (piece.length < part.length) break;
      }
      view().setUint32(got, total, true);
      return total;
    };
    // A call with a descriptor that is not open is an error of the module, which gets EBADF as from a system.
    const descriptor = (run) => (fd, ...rest) => {
      const open = this.#open.get(fd);
      return open ? run(open, ...rest) : EBADF;
    };

    const wasi = {
      fd_prestat_get: (fd, at) => {
        if (fd !== ROOT) return EBADF;
        view().setUint32(at, 0, true);
        view().setUint32(at + 4, 1, true);
        return OK;
      },
      fd_prestat_dir_name: (fd, at) => {
        bytes(at, 1)[0] = "/".charCodeAt(0);
        return OK;
      },
      fd_fdstat_get: (fd, at) => {
        if (fd !== ROOT && !this.#open.has(fd)) return EBADF;
        bytes(at, 24).fill(0);
        view().setUint8(at, fd === ROOT ? DIRECTORY : REGULAR);
        bytes(at + 8, 16).fill(0xff); // all rights
        return OK;
      },
      fd_filestat_get: descriptor((open, at) => stat(at, REGULAR, open.file.size)),
      fd_filestat_set_size: descriptor((open, size) => {
        open.file.reserve(Number(size));
        open.file.bytes.fill(0, open.file.size, Number(size));
        open.file.size = Number(size);
        return OK;
      }),
      fd_read: descriptor((open, at, count, got) => {
        open.at += read(open, open.at, at, count, got);
        return OK;
      }),
      fd_pread: descriptor((open, at, count, from, got) => {
        read(open, Number(from), at, count, got);
        return OK;
      }),
      fd_write: descriptor((open, at, count, wrote) => {
        let total = 0;
        for (const part of parts(at, count)) {
          open.file.write(open.at, part);
          open.at += part.length;
          total += part.length;
        }
        view().setUint32(wrote, total, true);
        return OK;
      }),
      fd_seek: descriptor((open, offset, whence, at) => {
        const to = [0, open.at, open.file.size][whence] + Number(offset);
        if (!(to >= 0)) return EINVAL;
        open.at = to;
        view().setBigUint64(at, BigInt(to), true);
        return OK;
      }),
      fd_tell: descriptor((open, at) => {
        view().setBigUint64(at, BigInt(open.at), true);
        return OK;
      }),
      fd_close: (fd) => (this.#open.delete(fd) ? OK : EBADF),
      path_open: (folder, follow, at, length, how, rights, inherited, flags, out) => {
        const path = name(at, length);
        const there = this.#files.get(path);
        if (!there && !(how & CREATE)) return ENOENT;
        if (there && how & EXCLUSIVE) return EEXIST;
        const file = there ?? new File();
        if (how & TRUNCATE) file.size = 0;
        this.#files.set(path, file);
        this.#open.set(this.#next, { file, at: 0 });
        view().setUint32(out, this.#next++, true);
        return OK;
      },
      path_filestat_get: (folder, follow, at, length, out) => {
        const file = this.#files.get(name(at, length));
        return file ? stat(out, REGULAR, file.size) : ENOENT;
      },
      path_rename: (folder, at, length, to, newAt, newLength) => {
        const file = this.#files.get(name(at, length));
        if (!file) return ENOENT;
        this.#files.delete(name(at, length));
        this.#files.set(name(newAt, newLength), file);
        return OK;
      },
      path_unlink_file: (folder, at, length) => (this.#files.delete(name(at, length)) ? OK : ENOENT),
      clock_time_get: (clock, precision, at) => {
        const ms = clock === 0 ? Date.now() : performance.now();
        view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
        return OK;
      },
      environ_sizes_get: (count, size) => {
        view().setUint32(count, 0, true);
        view().setUint32(size, 0, true);
        return OK;
      },
      environ_get: () => OK,
      proc_exit: (status) => {
        throw new Error(`The engine ended with status ${status}.`);
      },
    };
    // The rest of WASI, which the library names but does not need here.
    const missing = { get: (calls, call) => calls[call] ?? (() => ENOSYS) };

    const label = (at, length) => new TextDecoder().decode(bytes(at, length)); // of an encoding, as a file names it
    const unicode = {
      lower: (point) => String.fromCodePoint(point).toLowerCase().codePointAt(0),
      // A letter whose capital is two letters (SS for ß) stays as it is.
      title: (point) => {
        const capital = Array.from(String.fromCodePoint(point).toUpperCase());
        return capital.length === 1 ? capital[0].codePointAt(0) : point;
      },
      compose: (at, length, out, room) => {
        let points;
        try {
          points = Array.from(utf8.decode(bytes(at, length)).normalize("NFC"), (c) => c.codePointAt(0));
        } catch {
          return -1;
        }
        const v = view();
        points.slice(0, room).forEach((point, i) => v.setInt32(out + 4 * i, point, true));
        return points.length;
      },
      knows: (at, length) => (known(label(at, length)) ? 1 : 0),
      convert: (to, toLength, from, fromLength, at, length, out, room) => {
        const given = convert(label(to, toLength), label(from, fromLength), bytes(at, length));
        if (typeof given === "number" || given.length > room) return -1 - (given.length ? 0 : given);
        bytes(out, given.length).set(given);
        return given.length;
      },
    };
    return { wasi_snapshot_preview1: new Proxy(wasi, missing), ordernet: unicode };
  }
}
