// The view "your own order": loads or edits examples, trains a model or searches for its settings in a worker of its
// own, shows how good it is, opens and saves models, and orders new sets.
import { Remote } from "./client.js";
import { curve } from "./curve.js";
import { $, attempt, el, percent, problem, save, takeDrops, takeFiles } from "./dom.js";
import { EXAMPLES, exampleFile, smallTable } from "./examples.js";
import { editTable, parseCsv, writeCsv } from "./table.js";
import { unpack } from "./unpack.js";

const EDITABLE = 400; // rows of a file that may be edited as a table
const PREVIEW = 5; // sets shown
const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

const TUNE_SECONDS = 300;

export async function startOwn(engine) {
  const trainer = new Remote();
  let data = null; // {file, columns, example, width, known}; null: what was given cannot be learned from
  let kept = 0; // sets kept aside to measure with
  let state = "empty"; // empty, ready, training, stopped, done
  let points = []; // of the learning curve
  let model = null; // {bytes, width, words}
  let orders = null; // the file that "Save the orders" gives

  /** For screen readers: what is shown many times a second is told once. */
  const say = (sentence) => { $("own-status").textContent = sentence; };

  // ---- Examples

  /** Drops the old data before other data is read, so that nothing of it is trained on or shown even if that fails. */
  async function forget() {
    data = null;
    if (["training", "tuning"].includes(state)) await stop();
    points = [];
    orders = null;
    for (const id of ["own-preview", "own-orders"]) $(id).replaceChildren();
    $("own-facts").textContent = "";
    $("own-report").replaceChildren();
    $("own-curve").setAttribute("hidden", "");
    for (const button of document.querySelectorAll("[data-example]")) button.setAttribute("aria-pressed", "false");
    become("empty");
  }

  /** Takes the file as the data to learn from. */
  async function use(file, { example = null, columns = {} } = {}) {
    await forget();
    const sets = await trainer.call("sets", file, columns);
    if (!sets.items) throw new Error(`${file.name} has words. The page learns from numbers; the program learns from words too.`);
    data = { file, columns, example, width: sets.width, known: !!sets.order };
    $("own-drop").hidden = true;
    const sizes = Array.from({ length: sets.count }, (_, s) => sets.start[s + 1] - sets.start[s]);
    const least = sizes.reduce((a, b) => Math.min(a, b)), most = sizes.reduce((a, b) => Math.max(a, b));
    $("own-facts").textContent = `${count(sets.count, "set")} of ${least === most ? least : `${least} to ${most}`} items with ${has(sets.width)}${sets.order ? ", in their right order" : ""}.`
      + (sets.order ? "" : " Their order is not known, so there is nothing to learn from: choose the column of ranks.");
    $("own-preview").replaceChildren(...Array.from({ length: Math.min(PREVIEW, sets.count) }, (_, s) => showSet(itemsOf(sets, s), sets.order && orderOf(sets, sets.order, s))));
    $("own-epochs").value = example?.epochs ?? 20;
    become(sets.order ? "ready" : "empty");
    for (const button of document.querySelectorAll("[data-example]")) button.setAttribute("aria-pressed", String(EXAMPLES[button.dataset.example] === example));
  }

  const itemsOf = (sets, s) => Array.from({ length: sets.start[s + 1] - sets.start[s] }, (_, i) => Array.from(sets.items.subarray((sets.start[s] + i) * sets.width, (sets.start[s] + i + 1) * sets.width)));
  const orderOf = (sets, order, s) => Array.from(order.subarray(sets.start[s], sets.start[s + 1]));
  const text = (item) => (typeof item === "string" ? item : item.map((v) => String(Number(v.toPrecision(6)))).join(", "));

  const has = (width) => (width ? count(width, "feature") : "relations alone");

  /** Makes a line of the items of a set, those without features by their index, in an order where one is given; those that should stand elsewhere are marked. */
  function showSet(items, order, { right = null, note = "" } = {}) {
    const chips = (order ?? items.map((_, i) => i)).map((i, t) => {
      const wrong = right && text(items[right[t]]) !== text(items[i]), shown = items[i].length ? text(items[i]) : String(i);
      const chip = el("span", { class: `item${data?.example?.colour ? " colour" : ""}${wrong ? " wrong" : ""}`, title: shown });
      if (data?.example?.colour) {
        chip.style.setProperty("--c", `rgb(${items[i].join(" ")})`);
        chip.append(el("span", { class: "hidden" }, `${shown}${wrong ? " (wrong place)" : ""}`));
      } else chip.append(shown, wrong ? el("span", { class: "hidden" }, " (wrong place)") : "");
      return chip;
    });
    return el("div", { class: "set" }, note ? el("span", { class: "n" }, note) : "", ...chips);
  }

  /** Shows the choice of columns of a CSV file. */
  function showColumns(file, rows) {
    const box = $("own-columns"), names = rows[0];
    box.hidden = false;
    const number = (cell) => cell !== undefined && cell !== "" && Number.isFinite(Number(cell));
    const decimal = rows.slice(1, 20).flat().find((cell) => /^-?\d+,\d+$/.test(cell));
    const hint = decimal ? `Numbers with a decimal comma, such as ${decimal}, are not read: write ${decimal.replace(",", ".")}.` : "";
    const numeric = (c) => rows.slice(1, 20).filter((row) => number(row[c])).length > Math.min(19, rows.length - 1) / 2; // the engine reports the cells that are not numbers
    const pick = (label, wanted) => {
      const select = el("select", {}, el("option", { value: "" }, "–"), ...names.map((name) => el("option", { value: name }, name)));
      select.value = names.find((name) => name.toLowerCase() === wanted) ?? "";
      return [el("label", { class: "inline" }, label, select), select];
    };
    const [setLabel, set] = pick("Sets by", "set"), [rankLabel, rank] = pick("order by", "rank");
    const boxes = names.map((name, c) => {
      const tick = el("input", { type: "checkbox", value: name });
      tick.checked = numeric(c);
      return el("label", { class: "check" }, tick, name);
    });
    const apply = () => attempt(async () => {
      await forget();
      for (const label of boxes) label.hidden = [set.value, rank.value].includes(label.firstChild.value);
      const features = boxes.filter((label) => !label.hidden && label.firstChild.checked).map((label) => label.firstChild.value);
      if (!set.value) throw new Error("Choose the column that says which rows make up a set.");
      if (!features.length) throw new Error(`Choose at least one column of numbers to learn from. ${hint}`.trim());
      await use(file, { columns: { set: set.value, rank: rank.value, features: features.join(","), delimiter: rows.delimiter } });
    });
    box.replaceChildren(setLabel, rankLabel, el("span", { class: "hint" }, "features"), ...boxes, el("span", { class: "hint" }, hint));
    box.onchange = apply;
    if (rows.length <= EDITABLE && $("own-grid").hidden) box.append(el("button", { onclick: () => edit([...parseCsv(new TextDecoder().decode(file.bytes))], file.name) }, "Edit as a table"));
    return apply();
  }

  async function openData(given) {
    $("own-grid").hidden = $("own-columns").hidden = true;
    await forget();
    const file = await unpack(given);
    const start = new TextDecoder().decode(file.bytes.subarray(0, 4096));
    const table = /\.(csv|tsv)$/i.test(file.name) || (!/\.(jsonl?|np[yz]|safetensors)$/i.test(file.name) && !/^[\s{]*\{/.test(start) && /[,;\t]/.test(start.split("\n")[0]) && !start.includes("\0"));
    if (!table) return use(file);
    const rows = parseCsv(new TextDecoder().decode(file.bytes), EDITABLE + 1);
    return rows.length > 1 && rows[0].length > 1 ? showColumns(file, rows) : use(file);
  }

  function edit(rows, name = "table.csv") {
    let timer = 0;
    const show = () => {
      const filled = rows.filter((row, r) => !r || row.some((cell) => cell !== ""));
      return showColumns({ name, bytes: new TextEncoder().encode(writeCsv(filled)) }, filled);
    };
    const grid = $("own-grid");
    grid.hidden = false;
    const changed = () => {
      clearTimeout(timer);
      timer = setTimeout(show, 400);
    };
    editTable(grid, rows, changed);
    return show();
  }

  // ---- Training

  function become(next) {
    state = next;
    $("own-train").disabled = !["ready", "stopped", "done"].includes(state);
    $("own-train").textContent = state === "stopped" ? "Go on" : state === "done" ? "Train again" : "Train";
    $("own-tune").disabled = !["ready", "stopped", "done"].includes(state);
    $("own-stop").disabled = !["training", "tuning"].includes(state);
    $("own-again").hidden = state !== "stopped";
    $("own-epochs").disabled = ["training", "tuning", "stopped"].includes(state);
    $("own-save").disabled = !model;
    $("own-order").disabled = $("own-new").disabled = $("own-order-open").disabled = !model;
    $("own-random").disabled = !model || !data?.example;
    $("own-order-save").disabled = !orders;
    if (state === "ready") $("own-progress").textContent = "Ready to train. One set in ten is kept aside, to measure what was learned.";
    if (state === "empty") $("own-progress").textContent = model ? "A model is open." : "Choose examples first.";
  }

  const measured = (exact) => `${percent(exact)} of the ${count(kept, "set")} kept aside ${kept === 1 ? "is" : "are"} in exactly the right order`;
  /** Returns "" before the first step was timed. */
  const speed = (rate) => (rate >= 0.95 ? ` ${count(Math.round(rate), "set")} per second.` : rate > 0 ? " Less than one set per second." : "");

  let stopping = null;
  let found = ""; // settings that tune has found for the training
  const stop = async () => {
    await trainer.call("stop");
    await stopping;
  };

  /** Looks for the best settings, then trains with them. */
  async function tune() {
    const own = data;
    points = [];
    found = "";
    kept = (await trainer.call("prepare", data.file, data.columns)).validation;
    if (own !== data) return;
    $("own-report").replaceChildren();
    become("tuning");
    say("Looking for the best settings.");
    trainer.onprogress = ({ trials, seconds, all, exact, best }) => {
      if (own !== data || state !== "tuning") return;
      showTried(best);
      $("own-progress").textContent = `${count(trials, "trial")}, ${Math.max(0, Math.round(all - seconds))} s left${Number.isNaN(exact) ? "" : `: the best so far has ${percent(exact)} exactly right, on sets that it did not learn from`}. Stop takes the best so far.`;
    };
    const run = trainer.call("tune", { seconds: TUNE_SECONDS });
    stopping = run.catch(() => {});
    try {
      found = await run;
      if (own !== data) return;
      if (!found) throw new Error("Stopped before a trial had ended.");
    } catch (error) {
      if (own === data) become("ready");
      throw error;
    }
    await train(false, true);
  }

  /** Shows the best settings of a search so far, the best first. */
  function showTried(best) {
    const line = ({ exact, tau, whole, seconds, settings }) => el("tr", {}, el("td", {}, percent(exact)), el("td", {}, tau.toFixed(2)),
      el("td", {}, whole ? "whole" : "short"), el("td", {}, `${seconds.toFixed(1)} s`), el("th", { scope: "row" }, settings));
    $("own-report").replaceChildren(...(best.length ? [el("table", { class: "lengths", id: "own-tried" },
      el("tr", {}, ...["exactly right", "Kendall’s tau", "training", "duration", "settings, best first"].map((name) => el("th", {}, name))), ...best.map(line))] : []));
  }

  /** tuned: with the settings that were found, on what tune has prepared. */
  async function train(resume, tuned = resume && found !== "") {
    const epochs = tuned ? 0 : Number($("own-epochs").value), own = data;
    if (!tuned && (!Number.isInteger(epochs) || epochs < 1 || epochs > 500)) throw new Error("Give a number of epochs from 1 to 500.");
    if (!resume && !tuned) {
      points = [];
      found = "";
      kept = (await trainer.call("prepare", data.file, data.columns)).validation;
      if (own !== data) return;
    }
    if (!model && data.example) $("own-new").value = randomSets();
    $("own-report").replaceChildren();
    become("training");
    say("Training.");
    let epoch = 0;
    trainer.onprogress = (now) => {
      if (own !== data) return;
      points.push(now);
      curve($("own-curve"), points, kept);
      $("own-progress").textContent = `Epoch ${now.epoch} of ${now.epochs}: ${Number.isNaN(now.exact) ? "measured after the first" : measured(now.exact)}.${speed(now.rate)}`;
      if (now.epoch !== epoch && !Number.isNaN(now.exact)) {
        epoch = now.epoch;
        refresh(own).catch(() => {}); // the next epoch tries again; the end reports
      }
    };
    const run = trainer.call("train", { epochs, resume });
    stopping = run.catch(() => {});
    try {
      const { done, model: bytes } = await run;
      if (own !== data) return;
      if (bytes) await takeModel(bytes, own.file.name);
      if (own !== data) return;
      become(done ? "done" : "stopped");
      const last = points.filter((p) => !Number.isNaN(p.exact)).at(-1);
      $("own-progress").textContent = `${done ? "Done" : "Stopped"}: ${last ? measured(last.exact) : done ? "the linear ranker is the model" : "no epoch was finished, so there is no model yet"}.${found && ` Settings: ${found}.`}`;
      say($("own-progress").textContent);
      if (model && $("own-new").value.trim()) await orderNew();
      if (done && own === data) showReport(await trainer.call("report"), own);
    } catch (error) {
      if (own === data) become("ready");
      throw error;
    }
  }

  /** Shows how good the model is beside guessing and simple rules, on the sets kept aside. */
  function showReport({ rows, conclusion, odd, failed }, own) {
    if (own !== data) return;
    const share = ([mean, low, high]) => `${percent(mean)} (${percent(low)} to ${percent(high)})`;
    const cells = rows.map(({ name, exact, tau }) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, share(exact)), el("td", {}, tau[0].toFixed(2))));
    $("own-report").replaceChildren(
      el("table", { class: "lengths" }, el("tr", {}, el("th", {}, `On the ${count(kept, "set")} kept aside`), el("th", {}, "exactly right (95% interval)"), el("th", {}, "Kendall’s tau")), ...cells),
      el("p", { class: failed ? "facts warning" : "facts", role: "status" }, conclusion),
      ...odd.map((line) => el("p", { class: "hint" }, line)));
  }

  let refreshing = false;

  /** Shows what the model so far makes of the new sets; the training may end, or other data come, meanwhile. */
  async function refresh(own) {
    if (refreshing) return;
    refreshing = true;
    try {
      const bytes = await trainer.call("trained");
      if (!bytes || state !== "training" || own !== data) return;
      await takeModel(bytes, own.file.name);
      if (own !== data) return;
      become(state);
      if ($("own-new").value.trim()) await orderNew();
    } finally {
      refreshing = false;
    }
  }

  // ---- The model

  /** from: the data that it was trained on here, or null. */
  async function takeModel(bytes, from, name = "mine.safetensors") {
    const facts = await engine.call("open", name, bytes);
    model = { ...facts, bytes, name };
    const example = (from) => Array.from({ length: model.width }, (_, i) => from + i).join(",");
    $("own-new-hint").textContent = model.words ? "One set of words per line."
      : !model.width ? "Sets of relations alone come as a file."
        : model.width === 1 ? "One set per line: numbers, separated by spaces."
          : `One set per line: items separated by spaces, the ${model.width} features of an item${model.names.length ? ` (${model.names.join(", ")})` : ""} by commas, as in ${example(1)} ${example(4)}.`;
    $("own-new-hint").textContent += ` The model ${from ? `was trained on ${from}` : `is ${name}`}.`;
  }

  async function openModel(given) {
    if (given.size > 512 << 20) throw new Error(`${given.name} is larger than 512 MB.`);
    await takeModel(new Uint8Array(await given.arrayBuffer()), null, given.name);
    if (data && model.width !== data.width) data.example = null;
    orders = null;
    $("own-orders").replaceChildren();
    become(state === "training" ? state : data?.known ? "ready" : "empty");
    $("own-progress").textContent = `${given.name}: ${count(model.parameters, "parameter")}, ${model.words ? `${count(model.words, "word")}` : `items with ${has(model.width)}`}.`;
  }

  // ---- New sets

  const randomSets = () => Array.from({ length: PREVIEW }, () => data.example.draw().map((item) => item.join(",")).join("  ")).join("\n");

  /** Returns the sets of the text field: items of numbers, or words. */
  function typed() {
    const lines = $("own-new").value.split("\n").map((line, i) => ({ line: line.trim(), number: i + 1 })).filter(({ line }) => line);
    if (!model.words && !model.width) throw new Error("The model orders items by the relations between them: give new sets as a file.");
    if (!lines.length) throw new Error("Type a set to put in order, such as 3 1 2.");
    return lines.map(({ line, number }) => {
      const single = model.width === 1 && !model.words, written = line.split(/[\s;]+/).filter(Boolean);
      const decimal = single && written.length > 1 && written.find((part) => /^-?\d+,\d+$/.test(part));
      if (decimal) throw new Error(`Line ${number}: is “${decimal}” one number or two? Write ${decimal.replace(",", ".")} for one, and blanks between numbers.`);
      const parts = single ? line.split(/[\s,;]+/).filter(Boolean) : written;
      return model.words ? parts : parts.map((part) => {
        const item = part.split(",").map(Number);
        if (item.some((v) => !Number.isFinite(v)) || part.split(",").some((v) => !v)) throw new Error(`Line ${number}: “${part}” is not ${model.width === 1 ? "a number" : `${model.width} numbers with commas between them`}.`);
        const rounded = part.split(",").find((v, j) => /^-?\d+$/.test(v) && !Number.isSafeInteger(item[j]) && BigInt(v) !== BigInt(item[j]));
        if (rounded) throw new Error(`Line ${number}: “${rounded}” is a larger whole number than the page can store exactly. Subtract a common offset from all numbers.`);
        if (item.length !== model.width) throw new Error(`Line ${number}: “${part}” has ${count(item.length, "number")}, but the model takes ${model.width}.${item.length > model.width ? " A number has a decimal point: 3.5, not 3,5." : ""}`);
        return item;
      });
    });
  }

  const jsonLines = (sets) => ({ name: "new sets.jsonl", bytes: new TextEncoder().encode(sets.map((items) => `${JSON.stringify({ items: model.words || model.width > 1 ? items : items.map(([v]) => v) })}\n`).join("")) });

  async function orderNew() {
    const sets = typed(), file = jsonLines(sets);
    const found = await engine.call("orderSets", model.name, file, {});
    let right = 0;
    const lines = sets.map((items, s) => {
      const order = orderOf(found, found.found, s), truth = data?.example && !model.words && data.example.order(items);
      const exact = truth && truth.every((i, t) => text(items[i]) === text(items[order[t]]));
      right += exact ? 1 : 0;
      return showSet(items, order, { right: truth, note: percent(Math.exp(found.logprob[s])) });
    });
    $("own-orders").replaceChildren(el("p", { class: "hint" }, data?.example ? `${right} of ${count(sets.length, "set")} in exactly the right order. ` : "", "Before each set: how probable the network finds its order."), ...lines);
    orders = { file, name: "orders.jsonl" };
    $("own-order-save").disabled = false;
  }

  async function orderFile(given) {
    const file = await unpack(given), columns = data && !data.example ? data.columns : {};
    const found = await engine.call("orderSets", model.name, file, columns);
    if (!found.items) throw new Error(`${file.name} has words; the program shows their orders.`);
    orders = { file, columns, name: `ordered-${file.name}` };
    $("own-orders").replaceChildren(el("p", { class: "hint" }, `${count(found.count, "set")} of ${file.name}, the first of them below. “Save the orders” gives all.`),
      ...Array.from({ length: Math.min(20, found.count) }, (_, s) => showSet(itemsOf(found, s), orderOf(found, found.found, s), { note: percent(Math.exp(found.logprob[s])) })));
    $("own-order-save").disabled = false;
  }

  // ---- The user

  for (const button of document.querySelectorAll("[data-example]")) {
    button.setAttribute("aria-pressed", "false");
    button.onclick = () => attempt(async () => {
      const example = EXAMPLES[button.dataset.example];
      $("own-grid").hidden = $("own-columns").hidden = true;
      await use(exampleFile(example), { example });
      $("own-new").value = randomSets();
      if (model && model.width !== data.width) model = null;
      become("ready");
    });
  }
  $("own-table").onclick = () => edit(smallTable());
  $("own-train").onclick = () => attempt(() => train(state === "stopped"));
  $("own-tune").onclick = () => attempt(tune);
  $("own-again").onclick = () => attempt(() => train(false));
  $("own-stop").onclick = () => attempt(stop);
  $("own-save").onclick = () => save("mine.safetensors", model.bytes, "application/octet-stream");
  $("own-order").onclick = () => attempt(async () => {
    await orderNew();
    say("The sets are in order.");
  });
  $("own-random").onclick = () => attempt(() => {
    $("own-new").value = randomSets();
    return orderNew();
  });
  $("own-order-save").onclick = () => attempt(async () => save(orders.name, await engine.call("orderFile", model.name, orders.file, orders.columns ?? {}), "text/plain"));
  takeFiles($("own-open"), $("own-file"), (given) => attempt(() => openData(given)));
  takeFiles($("own-load"), $("own-model-file"), (given) => attempt(() => openModel(given)));
  takeFiles($("own-order-open"), $("own-order-file"), (given) => attempt(() => orderFile(given)));
  takeDrops($("view-own"), (given) => attempt(() => (/\.safetensors$/i.test(given.name) ? openModel(given) : openData(given))));
  problem("");
  become("empty");
}
