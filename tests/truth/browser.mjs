// What the browser's engine reads and answers: node browser.mjs WASM MODEL FILE... prints an array of JSON.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Engine } from "../../page/engine.js";

const [wasm, modelFile, ...files] = process.argv.slice(2);
const engine = await Engine.start(await WebAssembly.compile(readFileSync(wasm)));
const model = engine.open("model.safetensors", readFileSync(modelFile));
console.log(JSON.stringify(files.map((file) => {
  const { items, start, found, logprob, count } = engine.orderSets(model, { name: basename(file), bytes: readFileSync(file) });
  const orders = Array.from({ length: count }, (_, s) => Array.from(found.subarray(start[s], start[s + 1])));
  return { items: Array.from(items), orders, logprobs: Array.from(logprob) };
})));
