// Prints what the browser's engine reads, answers and learns from files, as a JSON array, for test_truth.py
// to compare. Of a file with orders it also trains a model, as the page does.
// usage: node browser.mjs WASM MODEL FILE...
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Engine } from "../../web/engine.js";

const [wasm, modelFile, ...files] = process.argv.slice(2);
const engine = await Engine.start(await WebAssembly.compile(readFileSync(wasm)));
const model = modelFile ? engine.open("model.safetensors", readFileSync(modelFile)) : null;

function learnt(file) {
  try {
    engine.prepare(file);
    engine.train({ epochs: 1, seed: 1, resume: false, ms: 1e9, kernels: "plain" }, () => {});
    return Buffer.from(engine.trained()).toString("base64");
  } catch (error) {
    return error.message;
  }
}

console.log(JSON.stringify(files.map((path) => {
  const file = { name: basename(path), bytes: readFileSync(path) };
  try {
    const read = model ? engine.orderSets(model, file) : engine.sets(file);
    const orders = Array.from({ length: read.count }, (_, s) => Array.from((read.found ?? read.order ?? []).subarray(read.start[s], read.start[s + 1])));
    return { items: Buffer.from(read.items.buffer).toString("base64"), orders, logprobs: Array.from(read.logprob ?? []), learnt: read.order ? learnt(file) : "" };
  } catch (error) {
    return { refused: error.message };
  }
})));
