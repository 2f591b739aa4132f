// Tests the browser page in a real browser, and compares its answers with those of the program.
// usage: [BROWSER=chromium|firefox] [ONLY=PART-OF-A-NAME] node test.mjs FOLDER PROGRAM
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium, firefox } from "playwright-core";
import { serve } from "./server.mjs";

const [folder, program] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "ordernet-page-"));
const run = (...args) => execFileSync(program, args, { encoding: "utf8" });
const scratchFile = (name, data) => {
  const path = join(scratch, name);
  writeFileSync(path, data);
  return path;
};

const site = await serve(folder);
const inFirefox = process.env.BROWSER === "firefox";
// Debian's Firefox is driven by WebDriver BiDi, which the channel chooses.
const launchFirefox = (firefoxUserPrefs) => firefox.launch({ channel: "moz-firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", firefoxUserPrefs });
const browser = inFirefox
  ? await launchFirefox({})
  : await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** A page at a view; what must never happen is collected in `wrong`. */
async function open(view, { at = site, by = browser, ...options } = {}) {
  const context = await by.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const wrong = [];
  page.on("console", (message) => { if (message.type() === "error") wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => { if (!/^(blob:|data:)/.test(request.url()) && !request.url().startsWith(at.url)) wrong.push(`asked ${request.url()}`); });
  // Over BiDi there is no event for the download of a blob: what the page offers is kept instead.
  if (inFirefox) await page.addInitScript(() => {
    const make = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
    let blob = null;
    URL.createObjectURL = (one) => make.call(URL, blob = one);
    HTMLAnchorElement.prototype.click = function () {
      if (this.download) window.offered = { name: this.download, blob };
      else click.call(this);
    };
  });
  await page.goto(`${at.url}#${view}`);
  return { page, context, wrong };
}

/** Goes to a view by its tab; it is shown by the event hashchange, which comes after the click. */
async function visit(page, view) {
  await page.click(`nav a[href="#${view}"]`);
  await page.waitForSelector(`#view-${view} h1`, { state: "visible" });
}

const text = (page, selector) => page.textContent(selector);
const cells = (page) => page.$$eval("#tour-lengths tbody tr", (rows) => Object.fromEntries(rows.map((row) => [row.dataset.method, [row.children[1].textContent, row.children[2].textContent]])));
const solved = (page) => page.waitForFunction(() => /Proven|Not proven/.test(document.querySelector("#tour-proof").textContent) && !/–/.test(document.querySelector("#tour-lengths tbody").textContent));
const cities = (page) => page.$$eval("#board .city", (dots) => dots.map((dot) => [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))]));

async function drop(page, selector, name, data) {
  const transfer = await page.evaluateHandle(({ name: fileName, bytes }) => {
    const all = new DataTransfer();
    all.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], fileName));
    return all;
  }, { name, bytes: Buffer.from(data).toString("base64") });
  await page.dispatchEvent(selector, "drop", { dataTransfer: transfer });
}

async function download(page, selector) {
  if (inFirefox) {
    await page.evaluate(() => { window.offered = null; });
    await page.click(selector);
    await page.waitForFunction(() => window.offered);
    const { name, bytes } = await page.evaluate(async () => ({ name: window.offered.name, bytes: btoa(Array.from(new Uint8Array(await window.offered.blob.arrayBuffer()), (b) => String.fromCharCode(b)).join("")) }));
    return scratchFile(name, Buffer.from(bytes, "base64"));
  }
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
  const path = join(scratch, file.suggestedFilename());
  await file.saveAs(path);
  return path;
}

/** Over BiDi, fill() adds digits to the number that is there. */
async function fillNumber(page, selector, number) {
  await page.$eval(selector, (input) => { input.value = ""; });
  await page.fill(selector, number);
}

/** The sentence that the page shows. */
async function refusal(page) {
  await page.waitForSelector("#problem span");
  return text(page, "#problem span");
}

/** Two pages of hOCR whose elements are not in order, and an ALTO file likewise. */
const HOCR = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title></title></head><body>
<div class='ocr_page' id='page_1' title='image "a.png"; bbox 0 0 100 100; ppageno 0'>
 <div class='ocr_carea' id='block_1_1' title="bbox 0 0 40 40"><p class='ocr_par' id='par_1_1'>Text &amp; more&nbsp;</p></div>
 <div class='ocr_carea' id='block_1_2' title="bbox 60 0 99 40"></div>
 <div class='ocr_carea' id='block_1_3' title="bbox 0 50 40 90"></div>
</div>
<div class='ocr_page' id='page_2' title='bbox 0 0 100 100'>
 <p class='ocr_par' id='par_2_1' title="bbox 0 50 90 90"></p>
 <p class='ocr_par' id='par_2_2' title="bbox 0 0 90 40"></p>
</div>
</body></html>
`;
const ALTO = `<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page ID="p" WIDTH="100" HEIGHT="100"><PrintSpace>
${[["a", 0, 0], ["c", 60, 0], ["b", 0, 50], ["d", 60, 50]].map(([id, x, y]) => `<TextBlock ID="${id}" HPOS="${x}" VPOS="${y}" WIDTH="39" HEIGHT="40"/>`).join("\n")}
</PrintSpace></Page></Layout></alto>
`;

const tests = {
  async "tours: click, drag, keyboard, clear"() {
    const { page, wrong } = await open("tours");
    await solved(page);
    assert.equal((await cities(page)).length, 20);
    await page.click("#tour-clear");
    assert.equal((await cities(page)).length, 0);
    assert.ok(await page.isVisible("#board-empty"));
    const box = await (await page.$("#board")).boundingBox();
    const side = Math.min(box.width, box.height), left = box.x + (box.width - side) / 2, top = box.y + (box.height - side) / 2;
    const at = (x, y) => [left + x * side, top + y * side];
    for (const [x, y] of [[0.2, 0.2], [0.8, 0.2], [0.8, 0.8], [0.2, 0.8], [0.5, 0.9]]) await page.mouse.click(...at(x, y));
    await solved(page);
    assert.equal((await cities(page)).length, 5);
    const before = await cells(page);
    assert.equal(before.ordernet[1], "0.0%");
    assert.equal(before.exact[1], "best");
    await page.mouse.move(...at(0.5, 0.9));
    await page.mouse.down();
    await page.mouse.move(...at(0.4, 0.5), { steps: 5 });
    await page.mouse.up();
    await solved(page);
    const moved = (await cities(page))[4];
    assert.ok(Math.abs(moved[0] - 400) < 5 && Math.abs(moved[1] - 500) < 5, `dragged to ${moved}`);
    assert.notEqual((await cells(page)).exact[0], before.exact[0]);
    await page.focus("#board .city");
    await page.keyboard.press("ArrowRight");
    assert.ok(Math.abs((await cities(page))[0][0] - 210) < 5);
    await page.keyboard.press("Delete");
    assert.equal((await cities(page)).length, 4);
    await fillNumber(page, "#tour-count", "500");
    await page.click("#tour-random");
    assert.match(await refusal(page), /from 2 to 200/);
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "tours: lengths are the program's"() {
    const { page, wrong } = await open("tours");
    const points = scratchFile("points.jsonl", run("tsp", "generate", "--n", "15", "--per-size", "1", "--seed", "7"));
    for (const file of ["examples/data/random40.tsp", points]) {
      const line = run("tsp", "compare", "--methods", "exact,christofides,ordernet", file).trim().split("\n")[1];
      const [, exact, christofides, ordernet] = line.match(/ (\S+)\s+optimal\s+(\S+)\s+\S+\s+(\S+)\s+\S+$/).map(Number);
      const want = { exact, christofides, ordernet };
      await drop(page, "#board-drop", file.split("/").pop(), readFileSync(file));
      await page.waitForFunction((n) => document.querySelectorAll("#board .city").length === n, file === points ? 15 : 40);
      await solved(page);
      const got = await cells(page);
      for (const method of ["ordernet", "christofides", "exact"])
        assert.ok(Math.abs(Number(got[method][0]) - want[method]) <= 0.0006, `${method} of ${file}: ${got[method][0]}, the program ${want[method]}`);
    }
    const picture = readFileSync(await download(page, "#tour-save"), "utf8");
    assert.match(picture, /^<svg [^]*<path d="M[^]*<\/svg>\n$/);
    assert.equal(picture.match(/<circle/g).length, 15);
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "tours: the probabilities of the steps are the program's"() {
    const { page } = await open("tours");
    const xy = Array.from({ length: 9 }, (_, i) => [0.1 + 0.8 * ((i * 7) % 9) / 8, 0.1 + 0.8 * ((i * i * 5) % 9) / 8]);
    const width = Math.max(...xy.map(([, y]) => y)) - 0.1;
    const fitted = xy.map(([x, y]) => [x, y + (0.8 - width) / 2]); // as the network sees it: margins of 1 / (n + 1)
    const sets = scratchFile("steps.jsonl", `${JSON.stringify({ items: fitted })}\n`);
    const want = JSON.parse(run("order", "--model", join(folder, "models/tours.safetensors"), "--steps", sets));
    await drop(page, "#board-drop", "steps.csv", `set,x,y\n${xy.map((p) => `1,${p.join(",")}`).join("\n")}\n`);
    await page.waitForFunction(() => document.querySelectorAll("#board .city").length === 9);
    for (let t = 0; t < 9; t++) {
      await page.click("#step-on");
      await page.waitForFunction((step) => document.querySelector("#step-at").textContent === `step ${step} of 9`, t + 1);
      const [name, share] = await page.$eval(".bar-line.taken", (line) => [line.children[0].textContent, line.children[2].textContent]);
      assert.equal(name, `City ${want.order[t] + 1}`);
      assert.ok(Math.abs(parseFloat(share) - 100 * want.steps[t]) < 0.06, `step ${t}: ${share}, the program ${want.steps[t]}`);
    }
    await page.click("#step-end");
    assert.equal(await page.$(".bar-line"), null);
    await page.close();
  },

  async "words: orders are the program's; unknown and repeated words; offline"() {
    const { page, context, wrong } = await open("words");
    await page.evaluate(() => navigator.serviceWorker.ready);
    const orders = () => page.$$eval("#words-orders li:not(.blank)", (lines) => lines.map((line) => [line.children[0].textContent, line.children[1].textContent]));
    const ask = async (words, n = words.split(" ").length) => {
      await page.fill("#words-text", ""); // so that what is waited for belongs to these words
      await page.waitForFunction(() => !document.querySelectorAll(".places tbody tr").length && !document.querySelectorAll("#words-chips li").length);
      await page.fill("#words-text", words);
      await page.waitForFunction((n) => document.querySelectorAll(".places tbody tr").length === n && document.querySelectorAll("#words-chips li").length === n, n);
      return orders();
    };
    for (const [words, n] of [["in , born he london was", 6], ["the the of is capital", 5], ["don't I him know.", 6]]) {
      const want = run("unscramble", "--quiet", "--top", "5", ...words.split(" ")).trim().split("\n").map((line) => line.trim().split("  "));
      assert.deepEqual((await ask(words, n)).slice(0, want.length), want);
    }
    assert.equal((await ask("London was born in he .", 6))[0][1], "He was born in London.");
    await ask("born xqzzt was he");
    assert.deepEqual(await page.$$eval(".chips .unknown", (chips) => chips.map((chip) => chip.firstChild.textContent)), ["xqzzt"]);
    assert.match(await text(page, "#words-unknown"), /^One word is unknown: xqzzt/);
    await ask("born xqzzt was pqzzt");
    assert.match(await text(page, "#words-unknown"), /^2 words are unknown: xqzzt, pqzzt.*cannot tell two of one kind apart/);
    await page.click("#words-clear");
    await page.evaluate(() => {
      const other = document.createElement("textarea");
      other.value = "born in\nparis  was\the";
      document.body.append(other);
      other.select();
    });
    await page.keyboard.press("Control+c");
    await page.focus("#words-text");
    await page.keyboard.press("Control+v");
    await page.waitForFunction(() => document.querySelectorAll("#words-chips li").length === 5);
    await page.evaluate(() => document.body.lastElementChild.remove());
    await page.click("#words-sentence");
    await page.waitForFunction(() => document.querySelectorAll("#words-orders li:not(.blank)").length > 1 && !document.querySelector(".chips .unknown"));
    await page.click("#words-clear");
    await page.waitForSelector("#words-orders .blank");
    await page.fill("#words-text", "a ".repeat(30));
    assert.match(await refusal(page), /12 words at most/);

    await page.waitForFunction(() => caches.match("models/words.safetensors").then(Boolean));
    await context.setOffline(true);
    await page.reload();
    assert.equal((await ask("in , born he london was"))[0][1], "He was born in london,");
    await visit(page, "tours");
    await solved(page);
    assert.deepEqual(wrong, []);
    await context.close();
  },

  async "own order: tune, stop: the best so far is trained, and measured"() {
    const { page, wrong } = await open("own");
    const rows = Array.from({ length: 150 }, (_, s) => { // outward from 0: no weighted sum has this order
      const values = Array.from({ length: 4 }, () => Math.round(Math.random() * 2e6) / 1e6 - 1);
      return values.sort((x, y) => Math.abs(x) - Math.abs(y)).map((value, rank) => `${s},${rank},${value}`).join("\n");
    });
    await drop(page, "#view-own", "outward.csv", `set,rank,value\n${rows.join("\n")}\n`);
    await page.waitForSelector("#own-tune:enabled");
    await page.click("#own-tune");
    await page.waitForFunction(() => /^([3-9]|\d\d) trials, .* the best so far has/.test(document.querySelector("#own-progress").textContent), null, { timeout: 240000 });
    assert.match(await text(page, "#own-progress"), /, \d+ s left: /);
    const tried = await page.$$eval("#own-tried tr", (rows) => rows.slice(1).map((row) => row.textContent));
    assert.ok(tried.length >= 2 && tried.every((row) => /^[\d.]+%-?[\d.]+(whole|short)[\d.]+ s./.test(row)), tried.join("; "));
    assert.ok(await page.isDisabled("#own-train"));
    await page.click("#own-stop");
    await page.waitForFunction(() => /^Done: .* Settings: /.test(document.querySelector("#own-progress").textContent), null, { timeout: 240000 });
    await page.waitForSelector("#own-report table");
    assert.ok(await page.isEnabled("#own-save"));
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "own order: tune where a weighted sum decides: the model is the ranker, and not compared with itself"() {
    const { page, wrong } = await open("own");
    const draw = () => Math.round(Math.random() * 1e6) / 1e6;
    const rows = Array.from({ length: 400 }, (_, s) => {
      const items = Array.from({ length: 6 }, () => [draw(), draw(), draw()]), score = ([a, b, c]) => 3 * a - 2 * b + c;
      const order = [...items].sort((x, y) => score(y) - score(x));
      return order.map((item, rank) => [s, rank, ...item].join(",")).join("\n");
    });
    await drop(page, "#view-own", "sum.csv", `set,rank,a,b,c\n${rows.join("\n")}\n`);
    await page.waitForSelector("#own-tune:enabled");
    await page.click("#own-tune");
    await page.waitForFunction(() => /ranker/.test(document.querySelector("#own-tried tr:nth-child(2)")?.textContent), null, { timeout: 240000 });
    await page.click("#own-stop");
    await page.waitForFunction(() => /^Done: the linear ranker is the model/.test(document.querySelector("#own-progress").textContent), null, { timeout: 240000 });
    await page.waitForFunction(() => /Guessing/.test(document.querySelector("#own-report").textContent));
    const report = await text(page, "#own-report");
    assert.match(report, /This model, a linear ranker(9\d|100)/);
    assert.match(report, /A weighted sum of the features is better than any single one/);
    assert.ok(!/A linear ranker\d/.test(report), report);
    const path = await download(page, "#own-save");
    assert.match(run("inspect", path), /^kind +ranker$/m);
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "own order: train, stop, go on, save, open; orders are the program's"() {
    const { page, wrong } = await open("own");
    await page.click("[data-example=numbers]");
    await page.waitForSelector("#own-train:enabled");
    assert.match(await text(page, "#own-facts"), /^2,000 sets of 4 to 8 items with 1 feature, in their right order/);
    const began = Date.now();
    await page.click("#own-train");
    await page.waitForFunction(() => /Epoch [23].*exactly/.test(document.querySelector("#own-progress").textContent));
    await page.click("#own-stop");
    await page.waitForFunction(() => document.querySelector("#own-train").textContent === "Go on");
    assert.match(await text(page, "#own-progress"), /^Stopped: [0-9.]+%/);
    await page.click("#own-train");
    await page.waitForFunction(() => /^Done/.test(document.querySelector("#own-progress").textContent));
    const exact = parseFloat((await text(page, "#own-progress")).slice(6));
    assert.ok(exact > 90, `${exact}% exactly right`);
    assert.ok(Date.now() - began < 30000, `trained in ${Date.now() - began} ms`);
    assert.ok(await page.isVisible("#own-curve .dot"));
    await page.waitForSelector("#own-report table");
    assert.match(await text(page, "#own-report"), /Guessing/);
    assert.match(await text(page, "#own-report"), /Sorting by value alone, smallest value first, (does as well as|is better than) the model/);

    const sets = [[5, 900, 17, 333], [1, 2, 3, 999, 500, 42], [8, 7]];
    await page.fill("#own-new", sets.map((set) => set.join(" ")).join("\n"));
    await page.click("#own-order");
    await page.waitForFunction(() => document.querySelectorAll("#own-orders .set").length === 3);
    const shown = await page.$$eval("#own-orders .set", (lines) => lines.map((line) => [...line.querySelectorAll(".item")].map((item) => Number(item.title))));
    const saved = await download(page, "#own-save");
    const file = scratchFile("new.jsonl", sets.map((items) => `${JSON.stringify({ items })}\n`).join(""));
    const want = run("order", "--model", saved, file).trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(shown, want.map(({ items, order }) => order.map((i) => items[i])));
    const orders = readFileSync(await download(page, "#own-order-save"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    orders.forEach((answer, s) => {
      assert.deepEqual(answer.order, want[s].order);
      assert.ok(Math.abs(answer.logprob - want[s].logprob) < 1e-4, `${answer.logprob}, the program ${want[s].logprob}`);
    });

    await page.fill("#own-new", "3 x 2");
    await page.click("#own-order");
    assert.match(await refusal(page), /Line 1: “x” is not a number/);
    await page.reload();
    await page.setInputFiles("#own-model-file", saved);
    await page.waitForSelector("#own-order:enabled");
    await page.fill("#own-new", sets[0].join(" "));
    await page.click("#own-order");
    await page.waitForSelector("#own-orders .set");
    assert.deepEqual(await page.$$eval("#own-orders .item", (items) => items.map((item) => Number(item.title))), shown[0]);
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "own order: a model of the program, and files of every format"() {
    const { page, wrong } = await open("own");
    const files = {};
    files.jsonl = scratchFile("small.jsonl", Array.from({ length: 12 }, (_, s) => `${JSON.stringify({ items: [[s, 1], [s + 2, 3], [s - 1, 2]], order: [2, 0, 1] })}\n`).join(""));
    files.csv = scratchFile("small.csv", `group;place;name;a;b\n${Array.from({ length: 36 }, (_, i) => `${Math.floor(i / 3)};${i % 3};x${i};${i};${i % 5}`).join("\n")}\n`);
    files.npz = join(scratch, "small.npz");
    run("convert", files.jsonl, files.npz);
    files.deflated = "tests/data/deflated.npz";
    files.gz = scratchFile("small.jsonl.gz", gzipSync(readFileSync(files.jsonl)));
    const model = join(scratch, "program.safetensors");
    run("train", "--data", files.jsonl, "--model", model, "--epochs", "2", "--half", "--quiet");
    await page.setInputFiles("#own-model-file", model);
    await page.waitForFunction(() => /program\.safetensors: [\d,]+ parameters, items with 2 features/.test(document.querySelector("#own-progress").textContent));
    const facts = async () => {
      await page.waitForFunction(() => document.querySelector("#own-facts").textContent);
      const found = await text(page, "#own-facts");
      await page.evaluate(() => { document.querySelector("#own-facts").textContent = ""; });
      return found;
    };
    for (const kind of ["jsonl", "npz", "gz"]) {
      await page.setInputFiles("#own-file", files[kind]);
      assert.equal(await facts(), "12 sets of 3 items with 2 features, in their right order.", kind);
    }
    await page.setInputFiles("#own-file", files.deflated);
    assert.match(await facts(), /^\d+ sets? of /);
    await page.setInputFiles("#own-order-file", files.jsonl);
    await page.waitForFunction(() => document.querySelectorAll("#own-orders .set").length === 12);
    const mine = readFileSync(await download(page, "#own-order-save"), "utf8"), theirs = run("order", "--model", model, files.jsonl);
    const round = (lines) => lines.trim().split("\n").map((line) => JSON.parse(line)).map((set) => ({ ...set, logprob: set.logprob.toFixed(4) }));
    assert.deepEqual(round(mine), round(theirs));

    const related = scratchFile("related.jsonl", Array.from({ length: 12 }, (_, s) => `${JSON.stringify({ pairs: [[null, s, 2], [5, null, s], [1, 0.5, null]], order: [2, 0, 1] })}\n`).join(""));
    const byRelations = join(scratch, "by-relations.safetensors");
    run("train", "--data", related, "--model", byRelations, "--epochs", "2", "--quiet");
    await page.setInputFiles("#own-file", related);
    assert.equal(await facts(), "12 sets of 3 items with relations alone, in their right order.");
    assert.deepEqual((await page.$$eval("#own-preview .item", (items) => items.map((item) => item.title))).slice(0, 3), ["2", "0", "1"]);
    await page.setInputFiles("#own-model-file", byRelations);
    await page.waitForFunction(() => /by-relations\.safetensors: [\d,]+ parameters, items with relations alone/.test(document.querySelector("#own-progress").textContent));
    await page.fill("#own-new", "3 1 2");
    await page.click("#own-order");
    assert.match(await refusal(page), /by the relations between them: give new sets as a file/);
    await page.setInputFiles("#own-order-file", related);
    await page.waitForFunction(() => document.querySelectorAll("#own-orders .set").length === 12);
    assert.deepEqual(round(readFileSync(await download(page, "#own-order-save"), "utf8")), round(run("order", "--model", byRelations, related)));

    await drop(page, "#view-own", "small.csv", readFileSync(files.csv));
    assert.match(await refusal(page), /Choose the column that says which rows make up a set/);
    await page.selectOption("#own-columns select >> nth=0", "group");
    await page.selectOption("#own-columns select >> nth=1", "place");
    assert.match(await facts(), /^12 sets of 3 items with 2 features, in their right order/);
    await page.uncheck('#own-columns input[value="b"]');
    assert.match(await facts(), /^12 sets of 3 items with 1 feature, in their right order/);

    await page.click("#own-table");
    assert.match(await facts(), /^20 sets of 3 items with 2 features/);
    await page.click("text=Add a row");
    await page.fill('[aria-label="weight, row 1"]', "heavy");
    assert.equal(await refusal(page), 'table.csv:2: column `weight`: "heavy" is not a number; correct it, or name the features.');
    await page.fill('[aria-label="weight, row 1"]', "12");
    await page.waitForFunction(() => !document.querySelector("#problem span"));
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "own order: nothing of old data is trained or shown with new data"() {
    const { page, wrong } = await open("own");
    const nothing = async (why) => {
      assert.ok(await page.isDisabled("#own-train"), `${why}: Train`);
      assert.ok(!(await page.isVisible("#own-curve")), `${why}: the curve`);
      for (const id of ["#own-facts", "#own-preview", "#own-orders"]) assert.equal(await text(page, id), "", `${why}: ${id}`);
      assert.equal(await page.$("[data-example][aria-pressed=true]"), null, `${why}: the example`);
      assert.doesNotMatch(await text(page, "#own-progress"), /%/, `${why}: the result`);
      assert.ok(await page.isDisabled("#own-order-save"), `${why}: the orders`);
    };
    const learn = async () => {
      await page.click("[data-example=numbers]");
      await page.waitForSelector("#own-train:enabled");
      await fillNumber(page, "#own-epochs", "1");
      await page.click("#own-train");
      await page.waitForFunction(() => /^Done/.test(document.querySelector("#own-progress").textContent) && document.querySelector("#own-orders .set"));
    };
    const rows = (value) => Array.from({ length: 36 }, (_, i) => `${Math.floor(i / 3)};${i % 3};${value(i)}`).join("\n");
    for (const [name, data, sentence] of [
      ["twice.csv", "set,rank,a\n1,0,5\n1,0,6\n", /twice\.csv/],
      ["words.csv", "set,rank,a\n1,0,x\n1,1,y\n", /Choose at least one column of numbers/],
      ["other.csv", "group,place,a\n1,0,5\n1,1,6\n", /Choose the column that says which rows make up a set/],
      ["junk.npz", Buffer.from("PK\x03\x04 and so on"), /junk\.npz is corrupt/],
      ["junk.csv.gz", Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6]), /corrupt/],
      ["comma.csv", `set;rank;a\n${rows((i) => `${i},5`)}\n`, /Choose at least one column of numbers to learn from\. Numbers with a decimal comma, such as 0,5, are not read: write 0\.5\./],
      ["mixed.csv", `set;rank;a\n${rows((i) => (i % 3 ? i : `${i},5`))}\n`, /"0,5" is not a number; write the decimal point as a dot/],
    ]) {
      await learn();
      await drop(page, "#view-own", name, data);
      assert.match(await refusal(page), sentence);
      await nothing(name);
    }
    // While it trains, too.
    await page.click("[data-example=outward]");
    await page.waitForSelector("#own-train:enabled");
    await page.click("#own-train");
    await page.waitForFunction(() => /^Epoch/.test(document.querySelector("#own-progress").textContent));
    await drop(page, "#view-own", "junk.jsonl", "{\n");
    await refusal(page);
    await nothing("while training");
    await page.waitForTimeout(500); // a slice of training later
    await nothing("after training");
    // Data that can be read has no answers, and no curve, of what was before.
    await learn();
    await page.click("[data-example=colours]");
    await page.waitForFunction(() => /^Ready/.test(document.querySelector("#own-progress").textContent));
    assert.ok(!(await page.isVisible("#own-curve")));
    assert.equal(await text(page, "#own-orders"), "");
    await page.close();
    assert.deepEqual(wrong, []);
  },

  async "own order: fast trainings end; what is told has its numbers"() {
    const { page, wrong } = await open("own");
    const few = Array.from({ length: 40 }, (_, s) => `${JSON.stringify({ items: [[s], [s + 2], [s - 1]], order: [2, 0, 1] })}\n`).join("");
    await drop(page, "#view-own", "few.jsonl", few);
    await page.waitForSelector("#own-train:enabled");
    await page.evaluate(() => {
      window.told = [];
      new MutationObserver(() => window.told.push(document.querySelector("#own-progress").textContent)).observe(document.querySelector("#own-progress"), { childList: true, characterData: true, subtree: true });
    });
    for (let turn = 0; turn < 8; turn++) {
      await fillNumber(page, "#own-epochs", String(1 + turn % 3));
      await page.evaluate(() => { document.querySelector("#own-progress").textContent = ""; }); // of the training before
      await page.click("#own-train");
      await page.waitForFunction(() => /^Done/.test(document.querySelector("#own-progress").textContent));
      await page.fill("#own-new", "3 1 2");
      await page.waitForTimeout(150); // what was still under way has come back
      assert.ok(await page.isEnabled("#own-train"), `Train after training ${turn + 1}`);
      assert.ok(await page.isDisabled("#own-stop"));
    }
    assert.match(await text(page, "#own-progress"), /^Done: [0-9.]+% of the 4 sets kept aside are in exactly the right order\.$/);
    assert.match(await page.getAttribute("#own-curve", "aria-label"), /% of 4 sets exactly right/);
    const told = await page.evaluate(() => window.told);
    assert.ok(told.some((line) => /^Epoch/.test(line)));
    assert.deepEqual(told.filter((line) => /\b0 sets per second|NaN/.test(line)), []);
    assert.match(await text(page, "#own-new-hint"), /The model was trained on few\.jsonl\.$/);
    await page.fill("#own-new", "3,5 2,1 7");
    await page.click("#own-order");
    assert.match(await refusal(page), /Line 1: is “3,5” one number or two\? Write 3\.5 for one/);
    for (const line of ["3, 5, 2", "3,5,2", "3;5;2", "3.5 5 2"]) {
      await page.fill("#own-new", line);
      await page.click("#own-order");
      await page.waitForFunction(() => !document.querySelector("#problem span") && document.querySelectorAll("#own-orders .item").length === 3);
    }
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "bad files get a sentence"() {
    const { page, wrong } = await open("tours");
    const expect = async (selector, name, data, sentence) => {
      await page.evaluate(() => document.querySelector("#problem button")?.click());
      await drop(page, selector, name, data);
      assert.match(await refusal(page), sentence);
    };
    await expect("#board-drop", "bad.tsp", "NAME: x\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: FOO\n", /^bad\.tsp:4: EDGE_WEIGHT_TYPE FOO is not known/);
    await expect("#board-drop", "empty.csv", "", /^empty\.csv is empty/);
    await expect("#board-drop", "three.csv", "set,a,b,c\n1,1,2,3\n1,4,5,6\n", /^three\.csv:2: its items are not points x, y of the plane; name the two columns\.$/);
    await expect("#board-drop", "many.csv", `set,x,y\n${Array.from({ length: 300 }, (_, i) => `1,${i},${i % 7}`).join("\n")}\n`, /300 cities/);
    await expect("#board-drop", "x.csv.xz", Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 1, 2, 3]), /compressed with xz/);
    await expect("#board-drop", "x.csv.gz", Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6]), /x\.csv\.gz: its compressed data is corrupt/);
    assert.equal((await cities(page)).length, 20); // none of them took the cities away
    await expect("#board-drop", "places.csv", "id,lat,lon\n7,48.1,11.6\n8,52.5,13.4\n9,53.6,10\n", /^places\.csv:2: `lon` and `lat` are taken as points of the plane/);
    assert.equal((await cities(page)).length, 3);
    await visit(page, "own");
    await expect("#view-own", "junk.npz", Buffer.from("PK\x03\x04 and so on"), /junk\.npz is corrupt/);
    await expect("#view-own", "junk.jsonl", '{"items": [[1], [2]], "order": [0, 5]}\n', /^junk\.jsonl:1: /);
    await expect("#view-own", "junk.bin", Buffer.from([0, 255, 3, 200]), /junk\.bin/);
    await expect("#view-own", "model.safetensors", Buffer.alloc(100), /^model\.safetensors/);
    await expect("#view-own", "<img src=x onerror=alert(1)>.jsonl", "{\n", /<img src=x/); // shown as text
    assert.equal(await page.$("#problem img"), null);
    await drop(page, "#view-own", "few.jsonl", '{"items": [[1], [2]], "order": [0, 1]}\n');
    await page.waitForSelector("#own-train:enabled");
    await page.click("#own-train");
    assert.match(await refusal(page), /few\.jsonl has 1 set\. At least 10 are needed/);
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "layout: what is written is what the program writes, for every kind of file"() {
    // In Node: the engine without the browser around it.
    const { Engine, Refusal } = await import(pathToFileURL(resolve("web/engine.js")));
    const engine = await Engine.start(await WebAssembly.compile(readFileSync(join(folder, "ordernet.wasm"))));
    const model = engine.open("pages", new Uint8Array(readFileSync(join(folder, "models/pages.safetensors"))));
    const from = join(scratch, "corpus"), to = join(scratch, "ordered");
    mkdirSync(from);
    execFileSync("tar", ["-xzf", "fuzz/corpus/pages.tar.gz", "-C", from]);
    for (const file of [...readdirSync("examples/data/pages").filter((name) => name.endsWith(".xml")).map((name) => `examples/data/pages/${name}`), "tests/pages/two-columns.xml"]) writeFileSync(join(from, file.split("/").pop()), readFileSync(file));
    writeFileSync(join(from, "latin1.hocr"), Buffer.from(HOCR.replace("UTF-8", "ISO-8859-1").replace("Text", "Stra\u00dfe"), "latin1"));
    writeFileSync(join(from, "wide.hocr"), Buffer.from(`\ufeff${HOCR.replace("UTF-8", "UTF-16")}`, "utf16le"));
    writeFileSync(join(from, "alto.xml"), ALTO);
    const names = readdirSync(from).filter((name) => !/^\s*[[{]/.test(readFileSync(join(from, name), "latin1"))); // not JSON, which the page does not read
    spawnSync(program, ["pages", "order", "--quiet", "--out", to, ...names.map((name) => join(from, name))]);
    let read = 0;
    for (const name of names) {
      let got = null;
      try {
        got = Buffer.from(engine.pagesFile(model, { name, bytes: new Uint8Array(readFileSync(join(from, name))) }));
      } catch (error) {
        assert.ok(error instanceof Refusal, `${name}: ${error.stack}`);
      }
      const want = existsSync(join(to, name)) ? readFileSync(join(to, name)) : null;
      assert.equal(got === null, want === null, `${name}: ${got ? "the program" : "the page"} does not read it`);
      if (!want) continue;
      assert.ok(got.equals(want), `${name} differs from the program's`);
      read++;
    }
    assert.ok(read > 100, `${read} files read`);
  },

  async "layout: order, correct by clicking, dragging and keys, undo, save"() {
    const { page, wrong } = await open("layout");
    const list = () => page.$$eval("#layout-list .entry", (entries) => entries.map((entry) => entry.querySelector("span").lastChild.textContent));
    const shown = (n) => page.waitForFunction((count) => document.querySelectorAll("#layout-list li").length === count, n);
    for (const [name, n] of [["reichsanzeiger.xml", 33], ["book.xml", 16]]) {
      if (name === "book.xml") await page.reload();
      await page.click(`[data-page="${name}"]`);
      await shown(n);
      assert.equal(await page.$$eval("#layout-board .badge", (all) => all.length), n);
      assert.deepEqual(readFileSync(await download(page, "#layout-save")), execFileSync(program, ["pages", "order", `examples/data/pages/${name}`]));
    }

    await drop(page, "#view-layout", "two-columns.xml", readFileSync("tests/pages/two-columns.xml"));
    await shown(4);
    assert.deepEqual(await list(), ["left1", "left2", "right1", "right2"]);
    assert.match(await text(page, "#layout-facts"), /^PAGE XML, 4 regions in order\. 2 of them stand at another place than in the file\./);
    // By numbers, in the picture and in the list.
    await page.click("#layout-pick");
    assert.match(await text(page, "#layout-how"), /number 1,/);
    const region = (id) => page.$$eval("#layout-board .region title", (all, wanted) => all.findIndex((title) => title.textContent.endsWith(wanted)), id);
    await page.locator("#layout-board .region:has(title)").nth(await region("right2")).click({ position: { x: 5, y: 5 } });
    assert.match(await text(page, "#layout-how"), /number 2,/);
    await page.click('#layout-list .entry:has-text("right1")');
    assert.deepEqual(await list(), ["right2", "right1", "left1", "left2"]);
    await page.click('#layout-list .entry:has-text("left2")'); // the last one has no choice
    assert.equal(await page.getAttribute("#layout-pick", "aria-pressed"), "false");
    assert.deepEqual(await list(), ["right2", "right1", "left2", "left1"]);
    for (let i = 0; i < 3; i++) await page.click("#layout-undo");
    assert.ok(await page.isDisabled("#layout-undo"));
    assert.deepEqual(await list(), ["left1", "left2", "right1", "right2"]);
    if (await page.getAttribute("#layout-pick", "aria-pressed") === "true") await page.click("#layout-pick");
    // By keys.
    await page.focus('#layout-list .entry:has-text("left1")');
    await page.keyboard.press("Alt+ArrowDown");
    assert.deepEqual(await list(), ["left2", "left1", "right1", "right2"]);
    await page.waitForFunction(() => /“?left1”? is now at place 2 of 4/.test(document.querySelector("#layout-status").textContent));
    await page.keyboard.press("ArrowDown");
    assert.match(await page.evaluate(() => document.activeElement.textContent), /right1$/);
    await page.keyboard.press("Control+z");
    assert.deepEqual(await list(), ["left1", "left2", "right1", "right2"]);
    // By dragging, and by the arrows of the selected one.
    const grip = await page.locator("#layout-list li").nth(3).locator(".grip").boundingBox(), first = await page.locator("#layout-list li").nth(0).boundingBox();
    await page.mouse.move(grip.x + 8, grip.y + 12);
    await page.mouse.down();
    await page.mouse.move(grip.x + 8, first.y + 10, { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() => /right2$/.test(document.querySelector("#layout-list .entry").textContent));
    await page.click('#layout-list [aria-label="Later"]');
    assert.deepEqual(await list(), ["left1", "right2", "left2", "right1"]);
    const saved = readFileSync(await download(page, "#layout-save"), "utf8"), given = readFileSync("tests/pages/two-columns.xml", "utf8");
    const rest = (xml) => xml.replace(/(index[=:]"?)\d/g, "$1").replace(/regionRef="\w+"/g, "");
    assert.equal(rest(saved), rest(given)); // nothing but numbers and references
    await drop(page, "#view-layout", "again.xml", saved);
    await page.waitForFunction(() => document.querySelector("#layout-page").textContent === "again.xml");
    await page.click("#layout-given");
    assert.deepEqual(await list(), ["left1", "right2", "left2", "right1"]);
    assert.match(await text(page, "#layout-facts"), /It is the order of the file\.$/);
    if (!inFirefox) { // corrections are not lost without a question
      await page.focus('#layout-list .entry:has-text("left1")');
      await page.keyboard.press("Alt+ArrowDown");
      const asked = page.waitForEvent("dialog").then(async (dialog) => { await dialog.dismiss(); return dialog.message(); });
      await drop(page, "#view-layout", "two.hocr", HOCR);
      assert.match(await asked, /was not saved/);
      assert.equal(await text(page, "#layout-page"), "again.xml");
      await page.keyboard.press("Control+z");
      assert.deepEqual(await list(), ["left1", "right2", "left2", "right1"]);
    }

    // Several pages; a scan behind one of them; a format by elements.
    await drop(page, "#view-layout", "two.hocr", HOCR);
    await shown(3);
    await page.click("#layout-on");
    await shown(2);
    assert.deepEqual(await list(), ["par_2_2", "par_2_1"]);
    await drop(page, "#view-layout", "scan.jpg", readFileSync("tests/pages/scan.jpg"));
    await page.waitForSelector("#layout-board.scanned image");
    await drop(page, "#view-layout", "scan.tif", Buffer.from("II*\0 a picture that browsers cannot show"));
    assert.match(await refusal(page), /^scan\.tif is not a picture that this browser can show/);
    await page.click("#problem button");
    assert.deepEqual(readFileSync(await download(page, "#layout-save")), execFileSync(program, ["pages", "order", scratchFile("two.hocr", HOCR)]));
    await drop(page, "#view-layout", "alto.xml", ALTO);
    await shown(4);
    assert.match(await text(page, "#layout-facts"), /^ALTO, 4 regions in order/);
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "layout: bad files get a sentence"() {
    const { page, wrong } = await open("layout");
    const expect = async (name, data, sentence) => {
      await page.evaluate(() => document.querySelector("#problem button")?.click());
      await drop(page, "#view-layout", name, data);
      assert.match(await refusal(page), sentence);
    };
    await expect("broken.xml", "<PcGts>\n<Page>\n</PcGts>", /^broken\.xml:3: not well-formed XML: Opening and ending tag mismatch: Page line 2 and PcGts/);
    await expect("other.xml", "<svg/>", /^other\.xml: <svg> is neither PAGE XML \(PcGts\) nor ALTO \(alto\) nor hOCR \(html\)/);
    await expect("empty.xml", "", /^empty\.xml is empty/);
    await expect("text.txt", "once upon a time", /^text\.txt: neither XML nor JSON/);
    await expect("boxes.json", "[]", /^boxes\.json: boxes as JSON are read by the program/);
    await expect("bytes.xml", Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0xfe, 0xff]), /^bytes\.xml:1: byte 3 cannot be read as UTF-8/);
    await expect("entities.xml", '<!DOCTYPE a [<!ENTITY b "c">]><PcGts/>', /declarations of its own/);
    await expect("scan.jpg", readFileSync("tests/pages/scan.jpg"), /^scan\.jpg is a picture/);
    assert.ok(await page.isHidden("#layout-work"));
    assert.deepEqual(wrong, []);
    await page.close();
  },

  async "a phone and low windows: nothing is wider than the map, and words are for fingers"() {
    // BiDi has no touch screen: a Firefox that knows of no mouse (1: coarse, without hover) is clicked instead.
    const phone = inFirefox ? await launchFirefox({ "ui.primaryPointerCapabilities": 1, "ui.allPointerCapabilities": 1 }) : browser;
    for (const [width, height, hasTouch] of [[390, 844, true], [844, 390, true], [1200, 600, false]]) {
      const { page, context, wrong } = await open("tours", { viewport: { width, height }, by: hasTouch ? phone : browser, ...(inFirefox ? {} : { hasTouch }) });
      const widths = await page.evaluate(() => ["#view-tours .tools", "#board-drop"].map((name) => document.querySelector(name).getBoundingClientRect().width));
      assert.ok(widths[0] <= widths[1] + 1, `at ${width}x${height} the toolbar has ${widths[0]}, the map ${widths[1]}`);
      const intro = await page.innerText("#view-tours .intro"), hint = await page.innerText("#view-tours .stage");
      assert.match(intro, hasTouch ? /Tap to set/ : /Click to set/);
      assert.doesNotMatch(intro, hasTouch ? /Click/ : /Tap/);
      assert.match(hint, hasTouch ? /Tap a city twice to remove it/ : /A double click removes a city/);
      assert.ok(await page.evaluate(() => { const link = document.querySelector("nav a:last-child").getBoundingClientRect(); return link.right <= innerWidth; }), `the last tab is cut at ${width}`);
      await page.click("#tour-clear");
      assert.match(await page.innerText("#board-empty"), hasTouch ? /^Tap here to set cities$/ : /^Click here to set cities/);
      const press = (x, y) => (hasTouch && !inFirefox ? page.tap("#board", { position: { x, y } }) : page.click("#board", { position: { x, y } }));
      await press(100, 100);
      await page.waitForTimeout(500);
      await press(200, 150);
      assert.equal((await cities(page)).length, 2);
      await press(100, 100);
      await press(100, 100);
      assert.equal((await cities(page)).length, 1);
      await visit(page, "own");
      const long = await page.evaluate(() => document.scrollingElement.scrollHeight);
      assert.ok(width > 400 || long < 1200, `your own order is ${long} high`);
      assert.equal(await page.isVisible("#own-load"), width > 760);
      if (width < 400) {
        await page.click("#view-own summary");
        assert.ok(await page.isVisible("#own-load"));
      }
      await visit(page, "layout");
      await page.click('[data-page="book.xml"]');
      await page.waitForSelector("#layout-list li");
      assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth), `layout at ${width} is too wide`);
      const number = await page.$eval("#layout-board .badge circle", (circle) => circle.getBoundingClientRect().width);
      assert.ok(number >= 13, `numbers of ${number} pixels`);
      assert.deepEqual(wrong, []);
      await context.close();
    }
    if (inFirefox) await phone.close();
  },

  async "any folder of any server, and then offline: every view works"() {
    const below = await serve(folder, "/some/sub/");
    const { page, context, wrong } = await open("tours", { at: below });
    const visitAll = async () => {
      await visit(page, "tours");
      await solved(page);
      await visit(page, "layout");
      await page.click('[data-page="book.xml"]');
      await page.waitForSelector("#layout-list li");
      await visit(page, "words");
      await page.fill("#words-text", "London was born in he .");
      await page.waitForFunction(() => /He was born in London\./.test(document.querySelector("#words-orders").textContent));
      await visit(page, "own");
      await page.click("[data-example=numbers]");
      await page.waitForSelector("#own-train:enabled");
      await page.click("#about summary");
      for (const words of [/CC BY-SA 3\.0/, /CC BY-SA 4\.0/, /MIT licence/]) assert.match(await page.innerText("#about"), words);
    };
    await visitAll();
    assert.ok((await context.request.get(`${below.url}LICENSE.txt`)).ok());
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(() => caches.match("models/words.safetensors").then(Boolean));
    below.close(); // no server at all
    await page.reload();
    await visitAll();
    assert.deepEqual(wrong, []);
    await context.close();
  },

  async "narrow and wide, light and dark: nothing overflows, everything has a name"() {
    for (const [width, colorScheme] of [[360, "light"], [1200, "dark"]]) {
      const { page, context, wrong } = await open("tours", { viewport: { width, height: 800 }, colorScheme, hasTouch: width < 500 });
      for (const view of ["tours", "words", "layout", "own"]) {
        await visit(page, view);
        assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth), `${view} at ${width} is too wide`);
        const nameless = await page.$$eval(`#view-${view} :is(button, input, select, textarea, [role=button], [role=img])`, (all) =>
          all.filter((e) => !e.hidden && e.type !== "file" && !(e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent).trim()).map((e) => e.outerHTML));
        assert.deepEqual(nameless, []);
      }
      if (width < 500 && !inFirefox) { // BiDi has no touch screen
        await visit(page, "tours");
        await page.click("#tour-clear");
        await page.tap("#board", { position: { x: 100, y: 100 } });
        await page.tap("#board", { position: { x: 200, y: 150 } });
        assert.equal((await cities(page)).length, 2);
      }
      assert.deepEqual(wrong, []);
      await context.close();
    }
  },

  async "the policy is strict, and the download small"() {
    const html = readFileSync(join(folder, "index.html"), "utf8");
    const policy = html.match(/Content-Security-Policy" content="([^"]*)"/)[1];
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval(?<!wasm-unsafe-eval)|https?:|\*/);
    assert.doesNotMatch(html, / style=| on[a-z]+=|<script(?! type="module" src=)/);
    const packed = (names) => names.map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length).reduce((a, b) => a + b);
    const engine = packed(readdirSync(folder).filter((name) => /\.(js|wasm|css|html)$/.test(name)));
    assert.ok(engine < 400 * 1024, `${engine} bytes compressed`);
    const models = packed(["models/tours.safetensors", "models/pages.safetensors"]);
    assert.ok(models < 1400 * 1024, `${models} bytes of models compressed`);
  },
};

const LIMIT = 900; // seconds for all tests, which take about a minute
setTimeout(() => {
  console.log(`FAILED: the tests have not ended within ${LIMIT} s`);
  process.exit(1);
}, LIMIT * 1000).unref();

let passed = 0, failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) continue;
  const began = Date.now();
  try {
    await test();
    passed++;
    console.log(`ok ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}: ${error.stack}`);
  }
}
await browser.close();
site.close();
rmSync(scratch, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
