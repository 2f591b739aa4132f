// The view of tours: the user places cities or opens a file; shows the network's tour beside the optimum and
// Christofides' tour, and its decisions step by step; saves the tours as a picture.
import { fetchBytes, Remote } from "./client.js";
import { $, attempt, el, meter, percent, problem, save, svg, takeDrops, takeFiles } from "./dom.js";
import { unpack } from "./unpack.js";

const SIZE = 1000, MARGIN = 40; // of the board, in its own units
const MOST = 200; // cities
const SECONDS = 10; // for the exact solver
const TWICE = 400; // ms between two clicks that are one
const METHODS = ["ordernet", "christofides", "exact"];

export async function startTours(engine) {
  let cities = []; // {x, y} in the units of the board, y down
  let file = null; // the file that they came from, as long as no city was changed: its distances count, not the board's
  let fit = { x: 0, y: 0, scale: 1 / SIZE, height: 1 }; // from the board to the user's coordinates
  let tours = {}; // by method: {order, length, bound, proven}
  let steps = null; // {n, order, choices, t}
  let solver = null; // the worker of the slow methods
  let timer = 0;

  const model = (async () => engine.call("open", "tours", await fetchBytes("models/tours.safetensors")))();
  model.catch(() => {});

  // ---- The cities

  const board = $("board"), lines = svg("g"), halos = svg("g"), dots = svg("g"), shares = svg("g");
  board.append(lines, halos, dots, shares);

  const place = (c) => ({ x: fit.x + c.x * fit.scale, y: fit.y + (fit.height - c.y * fit.scale) });
  const coordinates = () => Float64Array.from(cities.flatMap((c) => { const p = place(c); return [p.x, p.y]; }));
  const where = () => (file ? { file } : { xy: coordinates() });
  const clamp = (v) => Math.min(SIZE - MARGIN / 2, Math.max(MARGIN / 2, v));
  const number = (v) => (Math.abs(v) >= 100 ? v.toFixed(0) : v.toPrecision(3));

  function label(i) {
    const p = place(cities[i]);
    return `City ${i + 1} at ${number(p.x)}, ${number(p.y)}`;
  }

  function unitSquare() {
    file = null;
    fit = { x: 0, y: 0, scale: 1 / SIZE, height: 1 };
  }

  /** Call when the cities have changed: all answers are void. */
  function changed(fromFile = false) {
    if (!fromFile) file = null;
    tours = tours.ordernet ? { ordernet: tours.ordernet } : {}; // keep the network's old tour on screen until its new one arrives
    if (tours.ordernet?.order.length !== cities.length) tours = {};
    closeSteps();
    draw();
    ask();
  }

  function add(x, y) {
    if (cities.length >= MOST) throw new Error(`The page takes ${MOST} cities at most. The program takes more.`);
    if (!cities.length) unitSquare();
    cities.push({ x: clamp(x), y: clamp(y) });
    changed();
  }

  function remove(i) {
    cities.splice(i, 1);
    if (!cities.length) unitSquare();
    changed();
    dots.children[Math.min(i, cities.length - 1)]?.focus();
  }

  function move(i, x, y) {
    cities[i] = { x: clamp(x), y: clamp(y) };
    changed();
  }

  function random(count) {
    unitSquare();
    cities = Array.from({ length: count }, () => ({ x: MARGIN + Math.random() * (SIZE - 2 * MARGIN), y: MARGIN + Math.random() * (SIZE - 2 * MARGIN) }));
    changed();
  }

  async function openFile(given) {
    const unpacked = await unpack(given);
    const { xy, note } = await engine.call("cities", unpacked);
    const n = xy.length / 2;
    if (n > MOST) throw new Error(`${given.name} has ${n} cities. The page takes ${MOST} at most; the program takes more.`);
    const xs = Array.from(xy).filter((_, i) => i % 2 === 0), ys = Array.from(xy).filter((_, i) => i % 2);
    const low = [Math.min(...xs), Math.min(...ys)], side = Math.max(Math.max(...xs) - low[0], Math.max(...ys) - low[1]) || 1;
    const scale = side / (SIZE - 2 * MARGIN);
    fit = { x: low[0] - MARGIN * scale, y: low[1] - MARGIN * scale, scale, height: SIZE * scale };
    cities = xs.map((x, i) => ({ x: (x - fit.x) / scale, y: (fit.height - (ys[i] - fit.y)) / scale }));
    file = unpacked;
    changed(true);
    problem(note && `${note}.`);
  }

  // ---- Drawing

  const path = (order, closed) => order.map((i, k) => `${k ? "L" : "M"}${cities[i].x.toFixed(1)} ${cities[i].y.toFixed(1)}`).join("") + (closed ? "Z" : "");
  const shown = (method) => document.querySelector(`[data-show="${method}"]`).checked;

  function draw() {
    $("board-empty").hidden = cities.length > 0;
    while (dots.children.length > cities.length) dots.lastChild.remove();
    while (dots.children.length < cities.length) dots.append(city(dots.children.length));
    const radius = cities.length > 80 ? 9 : 13, order = steps?.order ?? [];
    cities.forEach((c, i) => {
      const dot = dots.children[i], at = order.indexOf(i);
      dot.setAttribute("cx", c.x);
      dot.setAttribute("cy", c.y);
      dot.setAttribute("r", radius);
      dot.setAttribute("aria-label", label(i));
      dot.classList.toggle("done", at >= 0 && at <= steps.t);
      dot.classList.toggle("start", at === 0);
    });
    lines.replaceChildren();
    for (const method of ["christofides", "exact", "ordernet"]) {
      const tour = tours[method];
      if (tour && shown(method) && tour.order.length === cities.length) lines.append(svg("path", { class: `tour ${method}${steps ? " faded" : ""}`, d: path(tour.order, true) }));
    }
    halos.replaceChildren();
    shares.replaceChildren();
    if (!steps) return;
    lines.append(svg("path", { class: "tour ordernet", d: path(order.slice(0, steps.t + 1), steps.t === cities.length - 1) }));
    steps.choices[steps.t].forEach((p, i) => {
      if (p < 0.005) return;
      const { x, y } = cities[i];
      halos.append(svg("circle", { class: "halo", cx: x, cy: y, r: 14 + 60 * Math.sqrt(p) }));
      shares.append(svg("text", { class: "share", x, y: y > 80 ? y - 24 : y + 44 }, `${Math.round(100 * p)}%`));
    });
  }

  function city(i) {
    const dot = svg("circle", { class: "city", tabindex: 0, role: "button", "aria-roledescription": "city" });
    let before = -Infinity; // when it was pressed last
    dot.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      event.stopPropagation();
      // Not a dblclick: fingers have none everywhere, and a double click on free ground would take away the city that it sets.
      const twice = event.timeStamp - before < TWICE;
      before = twice ? -Infinity : event.timeStamp;
      if (twice) return remove(i);
      dot.focus({ preventScroll: true });
      dot.setPointerCapture(event.pointerId);
      const drag = (e) => { const p = point(e); move(i, p.x, p.y); };
      dot.addEventListener("pointermove", drag);
      for (const end of ["pointerup", "pointercancel"]) dot.addEventListener(end, () => dot.removeEventListener("pointermove", drag), { once: true });
    });
    dot.addEventListener("keydown", (event) => {
      const by = event.shiftKey ? 50 : 10, { x, y } = cities[i];
      const to = { ArrowLeft: [x - by, y], ArrowRight: [x + by, y], ArrowUp: [x, y - by], ArrowDown: [x, y + by] }[event.key];
      if (to) move(i, ...to);
      else if (event.key === "Delete" || event.key === "Backspace") remove(i);
      else return;
      event.preventDefault();
    });
    return dot;
  }

  function point(event) {
    const matrix = board.getScreenCTM().inverse();
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
  }

  // ---- Answers

  let asking = false, again = false;

  /** Asks for the network's tour at once, one request at a time; for those of the slow methods when the cities rest. */
  async function ask() {
    showLengths();
    clearTimeout(timer);
    if (solver?.busy) {
      solver.end();
      solver = null;
    }
    if (cities.length < 2) return;
    timer = setTimeout(askSlow, 350);
    again = true;
    if (asking) return;
    asking = true;
    while (again) {
      again = false;
      const asked = cities.length, now = where(), symmetries = $("tour-eight").checked ? 8 : 1;
      await attemptQuietly(async () => {
        await model;
        const tour = await engine.call("tour", now, "ordernet", "tours", { symmetries });
        if (asked === cities.length) tours.ordernet = tour; // while a city is dragged: one frame old
        draw();
        showLengths();
      });
    }
    asking = false;
  }

  async function askSlow() {
    const own = (solver ??= new Remote());
    const now = where();
    await attemptQuietly(async () => {
      for (const method of ["christofides", "exact"]) {
        const began = performance.now();
        if (method === "exact") $("tour-proof").textContent = "Looking for the optimum …";
        const tour = await own.call("tour", now, method, "", { seconds: SECONDS });
        if (own !== solver) return;
        tours[method] = { ...tour, seconds: (performance.now() - began) / 1000 };
        draw();
        showLengths();
      }
      announce();
    });
  }

  const attemptQuietly = async (action) => {
    try {
      await action();
    } catch (error) {
      await attempt(() => { throw error; });
    }
  };

  const length = (v) => (v >= 100 ? v.toFixed(0) : v.toFixed(3));

  function showLengths() {
    const { exact } = tours;
    for (const method of METHODS) {
      const [, size, excess] = document.querySelector(`[data-method="${method}"]`).children;
      const tour = tours[method];
      size.textContent = tour ? length(tour.length) : "–";
      const least = exact && (exact.proven ? exact.length : exact.bound);
      if (!tour || !least) excess.textContent = "";
      else if (method === "exact") excess.textContent = tour.proven ? "best" : "";
      else excess.textContent = `${exact.proven ? "" : "≤ "}${percent(Math.max(0, tour.length / least - 1))}`;
    }
    const proof = $("tour-proof");
    if (!exact) proof.textContent = cities.length < 2 ? "\u00a0" : proof.textContent;
    else if (exact.proven) proof.textContent = `Proven in ${exact.seconds < 0.1 ? "less than 0.1" : exact.seconds.toFixed(1)} s: no tour is shorter.`;
    else proof.textContent = `Not proven in ${SECONDS} s: the optimum is at least ${length(exact.bound)}.`;
    for (const id of ["step-first", "step-back", "step-on", "step-last"]) $(id).disabled = cities.length < 2;
    $("tour-save").disabled = cities.length < 1;
  }

  function announce() {
    const { ordernet, exact } = tours;
    if (!ordernet || !exact) return;
    $("tour-status").textContent = `${cities.length} cities. OrderNet's tour has length ${length(ordernet.length)}, ${exact.proven ? "the optimum" : "the best known"} ${length(exact.length)}.`;
  }

  // ---- Step by step

  function closeSteps() {
    steps = null;
    $("step-end").hidden = true;
    $("step-at").textContent = "–";
    $("step-list").replaceChildren(el("p", { class: "hint" }, "See which city the network would visit next, and how sure it is."));
  }

  async function step(to) {
    if (!steps) {
      await model;
      const found = await engine.call("tourSteps", where(), "tours");
      if (found.n !== cities.length) return;
      steps = { ...found, t: 0 };
    }
    const own = steps, t = Math.min(own.n - 1, Math.max(0, to(own))), probability = own.choices[t];
    own.t = t;
    $("step-end").hidden = false;
    $("step-at").textContent = `step ${t + 1} of ${own.n}`;
    const ranked = probability.map((p, i) => ({ p, i })).sort((a, b) => b.p - a.p).slice(0, 5).filter(({ p }, k) => k === 0 || p >= 0.0005);
    $("step-list").replaceChildren(...ranked.map(({ p, i }) =>
      el("div", { class: `bar-line${i === own.order[t] ? " taken" : ""}` }, el("span", {}, `City ${i + 1}`), meter(p), el("b", {}, percent(p)))));
    if (!ranked.some(({ i }) => i === own.order[t])) $("step-list").append(el("p", { class: "hint" }, `The beam search took city ${own.order[t] + 1} (${percent(probability[own.order[t]])}), for a better order as a whole.`));
    draw();
  }

  // ---- Saving

  /** Returns the tours as SVG that needs no style sheet. */
  function picture() {
    const looks = { christofides: 'stroke="#8d8578" stroke-width="3"', exact: 'stroke="#4c6a92" stroke-width="3" stroke-dasharray="12 8"', ordernet: 'stroke="#b8430b" stroke-width="6"' };
    const paths = ["christofides", "exact", "ordernet"].filter((m) => tours[m] && shown(m)).map((m) => `<path d="${path(tours[m].order, true)}" fill="none" stroke-linejoin="round" ${looks[m]}/>`);
    const dotsText = cities.map(({ x, y }) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="12"/>`);
    const title = METHODS.filter((m) => tours[m]).map((m) => `${{ ordernet: "OrderNet", christofides: "Christofides", exact: "optimum" }[m]} ${length(tours[m].length)}`).join(", ");
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE}" width="800" height="800">\n<title>${cities.length} cities: ${title}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>\n${paths.join("\n")}\n<g fill="#1d1b18">\n${dotsText.join("\n")}\n</g>\n</svg>\n`;
  }

  // ---- The user

  board.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const p = point(event);
    attempt(() => add(p.x, p.y));
  });
  $("tour-random").onclick = () => attempt(() => {
    const count = Number($("tour-count").value);
    if (!Number.isInteger(count) || count < 2 || count > MOST) throw new Error(`Give a number of cities from 2 to ${MOST}.`);
    random(count);
  });
  $("tour-add").onclick = () => attempt(() => {
    add(MARGIN + Math.random() * (SIZE - 2 * MARGIN), MARGIN + Math.random() * (SIZE - 2 * MARGIN));
    dots.lastChild.focus();
  });
  $("tour-clear").onclick = () => {
    cities = [];
    unitSquare();
    changed();
  };
  $("tour-eight").onchange = () => ask();
  $("tour-save").onclick = () => save("tour.svg", picture(), "image/svg+xml");
  for (const box of document.querySelectorAll("[data-show]")) box.onchange = draw;
  for (const [id, to] of Object.entries({ "step-first": () => 0, "step-back": (s) => s.t - 1, "step-on": (s) => s.t + 1, "step-last": (s) => s.n - 1 }))
    $(id).onclick = () => attempt(() => (steps || id !== "step-on" ? step(to) : step(() => 0)));
  $("step-end").onclick = () => {
    closeSteps();
    draw();
  };
  takeFiles($("tour-open"), $("tour-file"), (given) => attempt(() => openFile(given)));
  takeDrops($("board-drop"), (given) => attempt(() => openFile(given)));
  random(20);
}
