// Wraps the C library (WebAssembly) for JavaScript (models, orders, tours, pages of scans, sets, training): numbers
// and text in, plain objects out. Failures are thrown with the library's error message.
import { Files } from "./files.js";

const INTERRUPTED = 130;
const encoder = new TextEncoder(), decoder = new TextDecoder();

/** An error message for the user, most often from the library. */
export class Refusal extends Error {}

export class Engine {
  #files = new Files();
  #c; // the module's functions
  #sets = 0; // handle of the training sets
  #valid = 0; // handle of the validation sets
  #progress = () => 1;

  static async start(module) {
    const engine = new Engine();
    const imports = engine.#files.imports();
    imports.ordernet.progress = (...now) => engine.#progress(...now);
    const instance = await WebAssembly.instantiate(module, imports);
    engine.#c = instance.exports;
    engine.#files.memory = instance.exports.memory;
    instance.exports._initialize();
    return engine;
  }

  kernels() {
    return this.#text(this.#c.web_kernels());
  }

  // ---- Memory

  #text(at) {
    if (!at) return null;
    const bytes = new Uint8Array(this.#c.memory.buffer, at);
    return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  /** Runs with pointers to copies of the arguments (text, typed arrays, or {type, length} for room), then frees them. */
  #with(args, run) {
    const at = args.map((arg) => {
      const data = typeof arg === "string" ? encoder.encode(arg + "\0") : arg;
      const bytes = data.byteLength ?? data.length * data.type.BYTES_PER_ELEMENT;
      const p = this.#c.web_alloc(bytes);
      if (!p) throw new Refusal("There is not enough memory for this. Close other pages, or use less data.");
      if (data.byteLength !== undefined)
        new Uint8Array(this.#c.memory.buffer, p, bytes).set(new Uint8Array(data.buffer, data.byteOffset, bytes));
      return p;
    });
    const result = (type, i, length) => new type(this.#c.memory.buffer, at[i], length).slice();
    try {
      return run(at, result);
    } finally {
      at.forEach((p) => this.#c.web_free(p));
    }
  }

  #refuse() {
    throw new Refusal(sentence(this.#text(this.#c.web_error())));
  }

  // ---- Models

  /** Opens a model from the bytes of its file: returns a handle and its facts. */
  open(name, bytes) {
    this.#files.put(name, bytes);
    try {
      return this.#with([name], ([path]) => {
        const handle = this.#c.web_model_open(path);
        if (!handle) this.#refuse();
        return { handle, width: this.#c.web_model_width(handle), names: Array.from({ length: this.#c.web_model_width(handle) }, (_, j) => this.#text(this.#c.web_model_feature(handle, j))).filter(Boolean), words: this.#c.web_model_words(handle), parameters: this.#c.web_model_parameters(handle) };
      });
    } finally {
      this.#files.remove(name);
    }
  }

  close(model) {
    this.#c.web_model_close(model.handle);
  }

  // ---- Orders

  /** Returns the best orders of one set: items is a Float32Array, row by row; words an Int32Array of rows. */
  order(model, { items, words, n, beam = 0, top = 1 }) {
    const data = words ?? items;
    return this.#with([data, { type: Int32Array, length: top * n }, { type: Float64Array, length: top }, { type: Float32Array, length: top * n }], ([p, order, logprob, step], result) => {
      const found = this.#c.web_order(model.handle, words ? 0 : p, words ? p : 0, n, beam, top, order, logprob, step);
      if (found < 0) this.#refuse();
      return Array.from({ length: found }, (_, k) => ({
        order: Array.from(result(Int32Array, 1, top * n).subarray(k * n, k * n + n)),
        logprob: result(Float64Array, 2, top)[k],
        steps: Array.from(result(Float32Array, 3, top * n).subarray(k * n, k * n + n)),
      }));
    });
  }

  /** Returns, for each step of an order, the probability of each item, given the items before. */
  choices(model, { items, words, n, order }) {
    return this.#with([words ?? items, Int32Array.from(order), { type: Float64Array, length: n * n }], ([p, o, probability], result) => {
      if (this.#c.web_choices(model.handle, words ? 0 : p, words ? p : 0, n, o, probability)) this.#refuse();
      const all = result(Float64Array, 2, n * n);
      return Array.from({ length: n }, (_, t) => Array.from(all.subarray(t * n, t * n + n)));
    });
  }

  /** Returns the words of a text, whether the vocabulary has each, and their best orders, each with its sentence. */
  unscramble(model, text, { most, beam, top }) {
    const n = this.#with([text], ([p]) => this.#c.web_bag_read(model.handle, p, most));
    if (n < 0) this.#refuse();
    const words = Array.from({ length: n }, (_, i) => this.#with([{ type: Int32Array, length: 1 }], ([known], result) => ({ text: this.#text(this.#c.web_bag_word(i, known)), known: result(Int32Array, 0, 1)[0] !== 0 })));
    if (!n) return { words, answers: [] };
    return this.#with([{ type: Int32Array, length: top * n }, { type: Float64Array, length: top }], ([order, logprob], result) => {
      const found = this.#c.web_bag_order(model.handle, beam, top, order, logprob);
      if (found < 0) this.#refuse();
      const orders = result(Int32Array, 0, top * n), logprobs = result(Float64Array, 1, top);
      return { words, answers: Array.from({ length: found }, (_, k) => ({ order: Array.from(orders.subarray(k * n, k * n + n)), logprob: logprobs[k], text: this.#sentence(order + 4 * k * n) })) };
    });
  }

  #sentence(order) {
    const room = this.#c.web_bag_write(order, 0, 0) + 1;
    return this.#with([{ type: Uint8Array, length: room }], ([p]) => {
      this.#c.web_bag_write(order, p, room);
      return this.#text(p);
    });
  }

  // ---- Tours

  #instance({ xy, file }, run) {
    const from = (at) => {
      if (!at) this.#refuse();
      try {
        return run(at, this.#c.web_tour_size(at));
      } finally {
        this.#c.web_tour_free(at);
      }
    };
    if (!file) return this.#with([xy], ([p]) => from(this.#c.web_tour_points(p, xy.length / 2)));
    this.#files.put(file.name, file.bytes);
    try {
      return this.#with([file.name], ([path]) => from(this.#c.web_tour_read(path)));
    } finally {
      this.#files.remove(file.name);
    }
  }

  /** Returns the cities of a file, x and y of each in turn, and a warning of what looks odd in it, or "". */
  cities(file) {
    return this.#instance({ file }, (at, n) => {
      const xy = this.#c.web_tour_xy(at);
      if (!xy) throw new Refusal(`${file.name} has distances but no coordinates, so there is nothing to draw.`);
      return { xy: new Float64Array(this.#c.memory.buffer, xy, 2 * n).slice(), note: this.#text(this.#c.web_tour_note()) };
    });
  }

  /** Returns a tour by one of "exact", "christofides" and "ordernet" (which needs the model). */
  tour(where, method, { model = null, seconds = 0, symmetries = 1 } = {}) {
    return this.#instance(where, (at, n) =>
      this.#with([method, { type: Int32Array, length: n }, { type: Float64Array, length: 3 }], ([name, tour, proof], result) => {
        if (this.#c.web_tour_solve(at, name, model?.handle ?? 0, seconds, symmetries, tour, proof)) this.#refuse();
        const [length, bound, proven] = result(Float64Array, 2, 3);
        return { order: Array.from(result(Int32Array, 1, n)), length, bound, proven: proven === 1 };
      }));
  }

  /** Returns the net's most probable order of the cities, and the probability of each city at each step. */
  tourSteps(where, model) {
    const items = this.#instance(where, (at, n) =>
      this.#with([{ type: Float32Array, length: 2 * n }], ([p], result) => {
        if (this.#c.web_tour_items(at, p)) this.#refuse();
        return result(Float32Array, 0, 2 * n);
      }));
    const n = items.length / 2;
    const [{ order }] = this.order(model, { items, n, beam: 5, top: 1 });
    return { n, order, choices: this.choices(model, { items, n, order }) };
  }

  // ---- Pages

  #withPages(file, run) {
    this.#files.put(file.name, file.bytes);
    let at = 0;
    try {
      at = this.#with([file.name], ([path]) => this.#c.web_pages_open(path));
      if (!at) this.#refuse();
      return run(at);
    } finally {
      this.#c.web_pages_close(at);
      this.#files.remove(file.name);
    }
  }

  /** Sets the found orders: those of the user, for each page its regions in order, or, if null, the model's. They are changed so that the file can hold them. */
  #orderPages(at, model, { orders = null, rtl = false }) {
    if (!orders) return this.#c.web_pages_find(at, model.handle, rtl ? 1 : 0) && this.#refuse();
    orders.forEach((order, k) => this.#with([Int32Array.from(order)], ([p]) => { this.#c.web_pages_take(at, k, p); }));
    return this.#c.web_pages_settle(at) && this.#refuse();
  }

  /** Reads a file of pages: {format, notes, pages: [{width, height, ordered, image, given, order, regions: [{box, kind, placed, id, type, text}]}]}; order: see #orderPages. */
  pages(model, file, options = {}) {
    return this.#withPages(file, (at) => {
      this.#orderPages(at, model, options);
      const c = this.#c, room = 160;
      const pages = Array.from({ length: c.web_pages_count(at) }, (_, k) => {
        const n = c.web_pages_regions(at, k);
        return this.#with([{ type: Float64Array, length: 3 }, { type: Float64Array, length: 4 * n }, { type: Int32Array, length: 4 * n }, { type: Uint8Array, length: room }], ([size, boxes, facts, text], result) => {
          c.web_pages_read(at, k, size, boxes, facts);
          const [width, height, ordered] = result(Float64Array, 0, 3), box = result(Float64Array, 1, 4 * n), fact = result(Int32Array, 2, 4 * n);
          const regions = Array.from({ length: n }, (__, i) => {
            c.web_pages_text(at, k, i, text, room);
            return { box: Array.from(box.subarray(4 * i, 4 * i + 4)), kind: fact[4 * i], placed: fact[4 * i + 1] === 1, id: this.#text(c.web_pages_id(at, k, i)), type: this.#text(c.web_pages_type(at, k, i)), text: this.#text(text).replace(/\s+/g, " ").replace("\ufffd", "").trim() };
          });
          const by = (place) => regions.map((_region, i) => i).filter((i) => regions[i].placed).sort((i, j) => fact[4 * i + place] - fact[4 * j + place]);
          return { width, height, ordered: ordered === 1, image: this.#text(c.web_pages_image(at, k)), given: by(2), order: by(3), regions };
        });
      });
      return { format: this.#text(c.web_pages_format(at)), notes: (this.#text(c.web_pages_notes(at)) ?? "").split("\n").filter(Boolean), pages };
    });
  }

  /** Returns the file with the orders written into it; lines: lines within a region are ordered too, if they jump back. */
  pagesFile(model, file, { lines = true, rtl = false, ...options } = {}) {
    return this.#withPages(file, (at) => {
      this.#orderPages(at, model, { ...options, rtl });
      try {
        if (this.#with(["ordered"], ([to]) => this.#c.web_pages_save(at, to, lines ? 1 : 0, rtl ? 1 : 0))) this.#refuse();
        return this.#files.get("ordered");
      } finally {
        this.#files.remove("ordered");
      }
    });
  }

  // ---- Sets

  #readSets(file, model, columns, run) {
    this.#files.put(file.name, file.bytes);
    try {
      return this.#with([file.name, columns.set ?? "", columns.rank ?? "", columns.features ?? ""], ([path, set, rank, features]) => {
        const sets = this.#c.web_sets_read(path, model?.handle ?? 0, set, rank, features, delimiter(columns));
        if (!sets) this.#refuse();
        return run(sets);
      });
    } finally {
      this.#files.remove(file.name);
    }
  }

  #plain(sets) {
    const c = this.#c, count = c.web_sets_count(sets), width = c.web_sets_width(sets);
    const start = new Uint32Array(c.memory.buffer, c.web_sets_start(sets), count + 1).slice();
    const total = start[count], items = c.web_sets_items(sets), order = c.web_sets_order(sets);
    return {
      count, width, start,
      items: items ? new Float32Array(c.memory.buffer, items, total * width).slice() : null,
      order: order ? new Int32Array(c.memory.buffer, order, total).slice() : null,
    };
  }

  /** Reads the sets of a file: {count, width, start, items, order}. */
  sets(file, columns = {}) {
    return this.#readSets(file, null, columns, (sets) => {
      const plain = this.#plain(sets);
      this.#c.web_sets_free(sets);
      return plain;
    });
  }

  /** Orders the sets of a file: returns what sets() does, and found [start[count]], logprob [count]. */
  orderSets(model, file, columns = {}) {
    return this.#readSets(file, model, columns, (sets) => {
      const plain = this.#plain(sets), total = plain.start[plain.count];
      try {
        return this.#with([{ type: Int32Array, length: total }, { type: Float64Array, length: plain.count }], ([order, logprob], result) => {
          if (this.#c.web_sets_run(sets, model.handle, order, logprob)) this.#refuse();
          return { ...plain, found: result(Int32Array, 0, total), logprob: result(Float64Array, 1, plain.count) };
        });
      } finally {
        this.#c.web_sets_free(sets);
      }
    });
  }

  /** Returns the file that `ordernet order` would write. */
  orderFile(model, file, columns = {}) {
    this.#files.put(file.name, file.bytes);
    try {
      return this.#with([file.name, "ordered", columns.set ?? "", columns.rank ?? "", columns.features ?? ""], ([from, to, set, rank, features]) => {
        if (this.#c.web_order_file(from, to, model.handle, set, rank, features, delimiter(columns))) this.#refuse();
        return this.#files.get("ordered");
      });
    } finally {
      this.#files.remove(file.name);
      this.#files.remove("ordered");
    }
  }

  // ---- Training

  /** Reads the sets to train on; about one in ten is held out for validation, equal sets together. Returns the numbers of both. */
  prepare(file, columns = {}) {
    this.#c.web_sets_free(this.#sets);
    this.#c.web_sets_free(this.#valid);
    this.#sets = this.#valid = 0;
    for (const name of ["mine", "mine.best", "mine.checkpoint"]) this.#files.remove(`${name}.safetensors`);
    for (const name of ["mine.log.csv", "mine.trials.csv", ...[1, 2, 3, 4].flatMap((k) => ["safetensors", "checkpoint.safetensors", "best.safetensors", "log.csv"].map((end) => `mine.${k}.${end}`))]) this.#files.remove(name);
    return this.#readSets(file, null, columns, (sets) => {
      const count = this.#c.web_sets_count(sets), known = this.#c.web_sets_order(sets);
      try {
        if (!known) throw new Refusal(`${file.name} has no orders to learn from: add a column of ranks, or "order" to each set.`);
        if (count < 10) throw new Refusal(`${file.name} has ${count} set${count === 1 ? "" : "s"}. At least 10 are needed to learn from, and hundreds to learn well.`);
        [this.#sets, this.#valid] = [0, 1].map((held) => this.#c.web_sets_part(sets, Math.floor(count / 10), held));
        if (!this.#sets || !this.#valid) this.#refuse();
        return { training: this.#c.web_sets_count(this.#sets), validation: this.#c.web_sets_count(this.#valid), width: this.#c.web_sets_width(sets) };
      } finally {
        this.#c.web_sets_free(sets);
      }
    });
  }

  /** Trains for about `ms` milliseconds and calls tell(progress); epochs 0: with the settings that tune found. Returns true at the end of the training. */
  train({ epochs, seed = 1, resume, ms, kernels = "" }, tell) {
    const end = performance.now() + ms;
    this.#progress = (epoch, all, step, steps, loss, exact, loglik, rate) => {
      tell({ epoch, epochs: all, step, steps, loss, exact, loglik, rate });
      return performance.now() >= end ? 1 : 0;
    };
    const status = this.#with(["mine.safetensors", kernels], ([path, set]) => this.#c.web_train(this.#sets, this.#valid, path, epochs, seed, resume ? 1 : 0, set));
    if (status && status !== INTERRUPTED) this.#refuse();
    return status === 0;
  }

  /** Callable only while a search reports its progress: returns the best settings so far, the best first. */
  #tried() {
    const rows = [];
    for (let at; (at = this.#c.web_tried(rows.length));) {
      const [exact, tau, whole, seconds, settings] = this.#text(at).split("\t");
      rows.push({ exact: Number(exact), tau: Number(tau), whole: whole === "1", seconds: Number(seconds), settings });
    }
    return rows;
  }

  /** Searches for the best settings until a trial has ended and about `ms` milliseconds are over; calls tell(progress). Returns {done, settings: the best so far, or ""}. */
  tune({ seconds, seed = 1, ms, kernels = "" }, tell) {
    const end = performance.now() + ms, room = 512;
    let first = null;
    this.#progress = (trials, _, spent, all, __, exact) => {
      first ??= trials;
      tell({ trials, seconds: spent, all, exact, best: this.#tried() });
      return performance.now() >= end && trials > first ? 1 : 0;
    };
    return this.#with(["mine.trials.csv", kernels, { type: Uint8Array, length: room }], ([path, set, text]) => {
      const status = this.#c.web_tune(this.#sets, path, seconds, seed, set, text, room);
      if (status && status !== INTERRUPTED) this.#refuse();
      return { done: status === 0, settings: this.#text(text) };
    });
  }

  /** Compares the trained model with simple rules on the sets kept aside: {rows: [{name, exact, tau}], conclusion, odd, failed}. */
  report() {
    const room = 8192;
    return this.#with(["mine.safetensors", { type: Float64Array, length: 24 }, { type: Int32Array, length: 3 }, { type: Uint8Array, length: room }], ([path, figures, facts, text], result) => {
      if (this.#c.web_report(this.#sets, this.#valid, path, figures, facts, text, room)) this.#refuse();
      const measured = result(Float64Array, 1, 24), [falling, failed, ranker] = result(Int32Array, 2, 3);
      const [feature, conclusion, ...odd] = this.#text(text).split("\n").filter(Boolean);
      const names = ["Guessing", `Sorting by ${feature} alone, ${falling ? "largest" : "smallest"} first`, "A linear ranker", ranker ? "This model, a linear ranker" : "This model"];
      return { rows: names.map((name, k) => ({ name, exact: measured.slice(6 * k, 6 * k + 3), tau: measured.slice(6 * k + 3, 6 * k + 6) })).filter((_, k) => !ranker || k !== 2), conclusion, odd, failed: failed === 1 };
    });
  }

  /** Returns the trained model's file: the last, or the best so far; null before the first epoch's end. */
  trained() {
    return this.#files.get("mine.safetensors") ?? this.#files.get("mine.best.safetensors");
  }
}

/** Returns the code of the character between two fields of a CSV file; 0: the engine finds it. */
const delimiter = (columns) => columns.delimiter?.charCodeAt(0) ?? 0;

/** Makes a sentence of an error message of the library, which begins in lower case, since the program puts its name before it. */
function sentence(text) {
  const plain = text.replace(/; name it: .*/, ": it is none of CSV, JSON Lines, npz, safetensors, TSPLIB and lines of words");
  const capital = /^[a-z]+ /.test(plain) ? plain[0].toUpperCase() + plain.slice(1) : plain;
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
