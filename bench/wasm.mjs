// Measures training and ordering as WebAssembly in Node: vector instructions (simd128) against plain code, and
// against AVX2 in the same program built for this machine, all on one thread. Rounds of the three alternate,
// so that a busy machine slows each alike; the best of each counts.
// usage: node wasm.mjs SPEED.WASM SPEED [ROUNDS]
import { execFileSync } from "node:child_process";

const [wasm, native, rounds = "5"] = process.argv.slice(2);
const SECONDS = "1";
const measure = (command, ...args) => Number(execFileSync(command, args, { encoding: "utf8" }));
const node = (...args) => measure("node", "--no-warnings", "tests/portable/wasi.mjs", wasm, ...args);

console.log("sets/s    plain  simd128     AVX2   simd128 : plain   simd128 : AVX2");
for (const work of ["train", "order"]) {
  let plain = 0, simd = 0, avx2 = 0;
  for (let round = 0; round < Number(rounds); round++) {
    plain = Math.max(plain, node(work, "plain", SECONDS));
    simd = Math.max(simd, node(work, "simd128", SECONDS));
    avx2 = Math.max(avx2, measure(native, work, "avx2", SECONDS));
  }
  console.log(`${work}  ${[plain, simd, avx2].map((rate) => rate.toFixed(0).padStart(9)).join("")}${(simd / plain).toFixed(1).padStart(18)}${(simd / avx2).toFixed(2).padStart(17)}`);
}
