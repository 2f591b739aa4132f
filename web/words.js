// The view of words: shows the most probable orders of a few words, and the probability of each place for each
// word.
import { fetchBytes } from "./client.js";
import { $, attempt, el, meter, percent } from "./dom.js";

const MOST = 12; // words between blanks
const TOKENS = 5 * MOST; // words and signs that they may be cut into
const BEAM = 120; // all orders of five words, as `ordernet unscramble` has it
const SHOWN = 5;

const SENTENCES = [
  "the river rises in the hills", "she was born in paris", "it is the largest island", "the film was released in june",
  "he died at his home", "the village lies near the coast", "the album was recorded in london", "they moved to the city",
  "the band played its first concert", "the bridge was built of stone", "he wrote several short stories", "the team won the match",
  "most of the species are rare", "the station opened in 1902", "the storm reached the shore", "in the spring of 1918",
];

export async function startWords(engine) {
  let model = null; // a promise, once it is needed
  let asked = 0;

  const split = (text) => text.split(/\s+/).filter(Boolean);

  function fetchModel() {
    model ??= (async () => {
      $("words-fetch").hidden = false;
      const bytes = await fetchBytes("models/words.safetensors", (got, all) => {
        const whole = all || 22.8e6;
        $("words-progress").value = Math.min(1, got / whole);
        $("words-fetch-text").textContent = `Fetching the word model: ${(got / 1e6).toFixed(1)} of ${(whole / 1e6).toFixed(1)} MB. It is kept for the next time.`;
      });
      return engine.call("open", "words", bytes);
    })();
    model.catch(() => { model = null; }).finally(() => { $("words-fetch").hidden = true; });
    return model;
  }

  /** Merges orders that read the same, and adds up their probabilities. */
  function merge(answers) {
    const sums = new Map();
    for (const { order, logprob, text } of answers) {
      const one = sums.get(text) ?? { order, text, share: 0 };
      one.share += Math.exp(logprob);
      sums.set(text, one);
    }
    return [...sums.values()].sort((a, b) => b.share - a.share);
  }

  function showPlaces(list, answers) {
    const n = list.length, share = Array.from({ length: n }, () => new Array(n).fill(0));
    let seen = 0;
    for (const { order, logprob } of answers) {
      const p = Math.exp(logprob);
      seen += p;
      order.forEach((i, place) => { share[i][place] += p; });
    }
    const best = answers[0].order;
    const row = (i) => el("tr", {}, el("th", { scope: "row" }, list[i]), ...share[i].map((p) => {
      const part = p / seen, cell = el("td", { class: part > 0.85 ? "some strong" : part > 0.45 ? "some" : null }, part >= 0.005 ? `${Math.round(100 * part)}%` : "");
      cell.style.setProperty("--p", part);
      return cell;
    }));
    $("words-places").replaceChildren(el("table", { class: "places" },
      el("caption", { class: "hidden" }, "The probability of each word at each place"),
      el("thead", {}, el("tr", {}, el("td", {}), ...best.map((_, place) => el("th", { scope: "col" }, String(place + 1))))),
      el("tbody", {}, ...best.map(row))));
    $("words-places").querySelector("thead td").className = "hidden";
    $("words-note").textContent = seen > 0.995 ? "" : `From the ${answers.length} orders that the search kept, ${percent(seen)} of all probability.`;
  }

  function blank() {
    $("words-orders").replaceChildren(el("li", { class: "blank" }, "Type some words above, or let the page scramble a sentence."));
    $("words-places").replaceChildren(el("p", { class: "blank" }, "A row for each word, a column for each place."));
    $("words-note").textContent = $("words-unknown").textContent = "";
    $("words-chips").replaceChildren();
  }

  async function order() {
    const mine = ++asked, typed = $("words-text").value, count = split(typed).length;
    if (!count) return blank();
    if (count > MOST) throw new Error(`The page takes ${MOST} words at most: with more the network is rarely right. The program takes more.`);
    await fetchModel();
    const { words, answers } = await engine.call("unscramble", "words", typed, { most: TOKENS, beam: BEAM, top: BEAM });
    if (mine !== asked) return;
    const list = words.map((word) => word.text);
    $("words-chips").replaceChildren(...words.map(({ text, known }) => el("li", known ? {} : { class: "unknown" }, text, known ? "" : el("span", { class: "hidden" }, " (unknown)"))));
    const unknown = words.filter((word) => !word.known).map((word) => word.text);
    $("words-unknown").textContent = !unknown.length ? "" : `${unknown.length === 1 ? "One word is" : `${unknown.length} words are`} unknown: ${unknown.join(", ")}. The network only sees ${unknown.length === 1 ? "its" : "their"} kind, such as a number or a word ending in -ing${unknown.length === 1 ? "" : ", and cannot tell two of one kind apart"}.`;
    $("words-orders").replaceChildren(...merge(answers).slice(0, SHOWN).map(({ text, share }) => el("li", {}, el("b", {}, percent(share)), el("span", {}, text), meter(share))));
    showPlaces(list, answers);
  }

  function shuffle(list) {
    const words = [...list];
    for (let i = words.length - 1; i > 0; i--) {
      const j = Math.floor(Math.random() * (i + 1));
      [words[i], words[j]] = [words[j], words[i]];
    }
    return words.length > 1 && words.join(" ") === list.join(" ") && new Set(list).size > 1 ? shuffle(list) : words;
  }

  let timer = 0;
  const set = (text) => {
    $("words-text").value = text;
    attempt(order);
  };
  $("words-text").oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(() => attempt(order), 250);
  };
  // A text field drops the line breaks of what is pasted, and would join the words around them.
  $("words-text").onpaste = (event) => {
    const pasted = event.clipboardData.getData("text").split(/\s+/).join(" ").trim();
    event.preventDefault();
    $("words-text").setRangeText(pasted, $("words-text").selectionStart, $("words-text").selectionEnd, "end");
    $("words-text").oninput();
  };
  $("words-sentence").onclick = () => set(shuffle(split(SENTENCES[Math.floor(Math.random() * SENTENCES.length)])).join(" "));
  $("words-shuffle").onclick = () => set(shuffle(split($("words-text").value)).join(" "));
  $("words-clear").onclick = () => {
    set("");
    $("words-text").focus();
  };
}
