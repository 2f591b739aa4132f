// The web worker that runs the engine off the page's thread: handles one message at a time, {id, call, args}
// in, {id, result} or {id, refusal} out.
import { Engine, Refusal } from "./engine.js";

let engine = null;
const models = new Map(); // name: what Engine.open gave
let training = null; // {epochs, stop}

const SLICE = 250; // ms of training before messages are read again

const calls = {
  async start(module) {
    engine = await Engine.start(module);
    return { kernels: engine.kernels() };
  },
  open(name, bytes) {
    const model = engine.open(name, bytes);
    if (models.has(name)) engine.close(models.get(name));
    models.set(name, model);
    const { handle, ...facts } = model;
    return facts;
  },
  order: (name, set) => engine.order(models.get(name), set),
  unscramble: (name, text, options) => engine.unscramble(models.get(name), text, options),
  cities: (file) => engine.cities(file),
  tour: (where, method, name, options) => engine.tour(where, method, { ...options, model: models.get(name) }),
  tourSteps: (where, name) => engine.tourSteps(where, models.get(name)),
  pages: (name, file, options) => engine.pages(models.get(name), file, options),
  pagesFile: (name, file, options) => engine.pagesFile(models.get(name), file, options),
  sets: (file, columns) => engine.sets(file, columns),
  orderSets: (name, file, columns) => engine.orderSets(models.get(name), file, columns),
  orderFile: (name, file, columns) => engine.orderFile(models.get(name), file, columns),
  prepare: (file, columns) => engine.prepare(file, columns),
  /** Trains to the end or until stop(); progress comes as {progress}. Returns whether it came to its end. */
  async train(options) {
    training = { stop: false };
    for (let resume = options.resume; !training.stop; resume = true) {
      const done = engine.train({ ...options, resume, ms: SLICE }, (progress) => postMessage({ progress }));
      if (done) return { done, model: engine.trained() };
      await new Promise((later) => setTimeout(later));
    }
    return { done: false, model: engine.trained() };
  },
  /** Searches for the best settings until the time is over, or stop(); progress comes as {progress}. Returns them, or "". */
  async tune(options) {
    training = { stop: false };
    for (;;) {
      const { done, settings } = engine.tune({ ...options, ms: SLICE }, (progress) => postMessage({ progress }));
      if (done || training.stop) return settings;
      await new Promise((later) => setTimeout(later));
    }
  },
  stop() {
    if (training) training.stop = true;
  },
  report: () => engine.report(),
  trained: () => engine.trained(),
};

onmessage = async ({ data: { id, call, args } }) => {
  try {
    postMessage({ id, result: await calls[call](...args) });
  } catch (error) {
    if (!(error instanceof Refusal)) console.error(error);
    const text = error instanceof Refusal ? error.message : `The engine failed (${error.message}). Load the page again.`;
    postMessage({ id, refusal: text });
  }
};
