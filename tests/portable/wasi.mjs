// Runs a test that was compiled to WebAssembly: node wasi.mjs TEST.wasm
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const wasi = new WASI({ version: "preview1", args: process.argv.slice(2), preopens: { ".": "." }, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(process.argv[2]));
const unused = () => { throw new Error("this test needs no Unicode"); };
const instance = await WebAssembly.instantiate(module, { ...wasi.getImportObject(), ordernet: { lower: unused, compose: unused } });
process.exitCode = wasi.start(instance);
