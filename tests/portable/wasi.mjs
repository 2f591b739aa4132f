// Runs a program that was compiled to WebAssembly: node wasi.mjs PROGRAM.wasm ARGUMENT...
// The page's own file system serves it; arguments, output and exit are added here.
import { readFileSync, writeSync } from "node:fs";
import { Files } from "../../web/files.js";

const args = process.argv.slice(2).map((arg) => Buffer.from(`${arg}\0`));
const files = new Files(), imports = files.imports(), base = imports.wasi_snapshot_preview1;
const view = () => new DataView(files.memory.buffer);
class Exit { constructor(status) { this.status = status; } }

const own = {
  args_sizes_get(count, size) {
    view().setUint32(count, args.length, true);
    view().setUint32(size, args.reduce((sum, arg) => sum + arg.length, 0), true);
    return 0;
  },
  args_get(at, text) {
    let end = text;
    args.forEach((arg, i) => {
      view().setUint32(at + 4 * i, end, true);
      new Uint8Array(files.memory.buffer, end, arg.length).set(arg);
      end += arg.length;
    });
    return 0;
  },
  fd_fdstat_get: (fd, at) => (fd > 2 ? base.fd_fdstat_get(fd, at) : 8),
  fd_write(fd, at, count, wrote) {
    if (fd > 2) return base.fd_write(fd, at, count, wrote);
    let total = 0;
    for (let i = 0; i < count; i++) {
      const part = new Uint8Array(files.memory.buffer, view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true));
      if (part.length) writeSync(fd, part);
      total += part.length;
    }
    view().setUint32(wrote, total, true);
    return 0;
  },
  proc_exit(status) {
    throw new Exit(status);
  },
};
imports.wasi_snapshot_preview1 = new Proxy(own, { get: (calls, call) => calls[call] ?? base[call] });
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), imports);
files.memory = instance.exports.memory;
try {
  instance.exports._start();
} catch (error) {
  if (!(error instanceof Exit)) throw error;
  process.exitCode = error.status;
}
