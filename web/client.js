// Starts web workers with the engine and calls it in them; fetches the files that the page needs.

/** The compiled engine, once for all workers. */
const compiled = (async () => {
  const response = await fetch("ordernet.wasm");
  if (!response.ok) throw new Error(`The server has no ordernet.wasm (status ${response.status}).`);
  try {
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch {
    throw new Error("This browser lacks WebAssembly with 128-bit vectors. A newer one has them.");
  }
})();
compiled.catch(() => {}); // each use reports it

/** A web worker with the engine: await remote.call("name", ...args). */
export class Remote {
  #worker;
  #ready;
  #waiting = new Map();
  #next = 1;
  onprogress = () => {};

  constructor() {
    this.#ready = this.#start();
    this.#ready.catch(() => {});
  }

  async #start() {
    const module = await compiled;
    this.#worker = new Worker("worker.js", { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      if (data.progress) return this.onprogress(data.progress);
      const waiting = this.#waiting.get(data.id);
      if (!waiting) return; // it was ended meanwhile
      this.#waiting.delete(data.id);
      if (data.refusal) waiting.reject(new Error(data.refusal));
      else waiting.resolve(data.result);
    };
    this.#worker.onerror = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The engine could not be started. Load the page again."));
      this.#waiting.clear();
    };
    return this.#send("start", [module]);
  }

  #send(call, args) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, call, args });
    });
  }

  ready() {
    return this.#ready;
  }

  async call(name, ...args) {
    await this.#ready;
    return this.#send(name, args);
  }

  get busy() {
    return this.#waiting.size > 0;
  }

  /** Ends the worker, whatever it is doing; pending calls are never answered. */
  end() {
    this.#ready.then(() => this.#worker.terminate(), () => {});
    this.#waiting.clear();
  }
}

/** Fetches a file; calls tell(bytes so far, bytes in all or 0) as it comes. */
export async function fetchBytes(path, tell = () => {}) {
  let response;
  try {
    response = await fetch(path);
  } catch {
    throw new Error(`${path} could not be fetched. Are you offline? It is kept once it was fetched.`);
  }
  if (!response.ok) throw new Error(`The server has no ${path} (status ${response.status}).`);
  const all = Number(response.headers.get("Content-Length")) || 0;
  const reader = response.body.getReader(), parts = [];
  let got = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    got += value.length;
    tell(got, all);
  }
  const bytes = new Uint8Array(got);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
