// Starts the browser page: switches between its views (tours, words, layout, own order) and creates the engine that
// they share.
import { Remote } from "./client.js";
import { startTours } from "./tours.js";
import { startWords } from "./words.js";
import { startLayout } from "./layout.js";
import { startOwn } from "./own.js";
import { problem } from "./dom.js";

const views = ["tours", "words", "layout", "own"];
const engine = new Remote(); // tours, words and pages; training has a worker of its own
const started = {};
const start = { tours: startTours, words: startWords, layout: startLayout, own: startOwn };

function show() {
  const wanted = location.hash.slice(1);
  if (wanted === "main") return; // the link that skips the navigation
  const view = views.includes(wanted) ? wanted : "tours";
  for (const name of views) {
    document.getElementById(`view-${name}`).hidden = name !== view;
    const link = document.querySelector(`nav a[href="#${name}"]`);
    if (name === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  problem("");
  started[view] ??= start[view](engine);
  document.title = `OrderNet: ${document.querySelector(`nav a[href="#${view}"]`).textContent}`;
}

// On a phone, what is seldom needed is folded away.
for (const fold of document.querySelectorAll(".fold")) fold.open = matchMedia("(min-width: 761px)").matches;

// A file that misses the drop area must not replace the page.
for (const event of ["dragover", "drop"]) addEventListener(event, (e) => e.preventDefault());
addEventListener("hashchange", show);
show();

engine.ready().then(({ kernels }) => { document.getElementById("engine").textContent = ` (${kernels})`; }, (error) => problem(error.message));
if ("serviceWorker" in navigator) navigator.serviceWorker.register("sw.js").catch(() => {}); // needs https or localhost
