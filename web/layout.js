// The view of layouts: opens files of scanned pages (PAGE XML, ALTO, hOCR) and their scans, shows the regions and
// the order in which they are read, lets the user correct it, and saves the files with nothing but the order
// changed.
import { fetchBytes } from "./client.js";
import { $, attempt, el, save, svg, takeDrops, takeFiles } from "./dom.js";
import { unpack } from "./unpack.js";

const KINDS = ["text", "heading", "furniture", "note", "other", "separator"];
const same = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);
const plural = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;

export async function startLayout(engine) {
  let model = null; // a promise, once it is needed
  let files = []; // {file, format, notes, pages: as Engine.pages gives them, with undo: [order], picked, scan}
  let shown = []; // {from: of files, k}: all pages of all files
  let at = 0; // of shown
  let selected = -1; // a region
  let badges = []; // by region: the group of its number in the picture

  const here = () => shown[at]?.from.pages[shown[at].k];
  const say = (sentence) => { $("layout-status").textContent = sentence; };
  const options = () => ({ rtl: $("layout-rtl").checked, lines: $("layout-lines").checked });

  function ready() {
    model ??= (async () => engine.call("open", "pages", await fetchBytes("models/pages.safetensors")))();
    model.catch(() => { model = null; });
    return model;
  }

  // ---- Files

  const isScan = (given) => /^image\//.test(given.type) || /\.(jpe?g|png|gif|webp|avif|bmp|tiff?|jp2)$/i.test(given.name);
  const unsaved = () => files.some((from) => from.pages.some((page) => page.undo.length && ![page.saved ?? page.undo[0].order, page.given].some((known) => known && same(known, page.order))));
  const stem = (name) => name.split("/").pop().replace(/\.[^.]*$/, "").toLowerCase();

  async function openFiles(given) {
    const wanted = given.filter((one) => !isScan(one)), wrong = [], opened = [];
    if (wanted.length) $("layout-facts").textContent = "Fetching the model, finding the order …";
    try {
      if (wanted.length) await ready();
      for (const one of wanted) {
        try {
          const file = await unpack(one);
          opened.push({ file, ...(await engine.call("pages", "pages", file, options())) });
        } catch (error) {
          wrong.push(error.message);
        }
      }
    } finally {
      showFacts();
    }
    if (opened.length && unsaved() && !confirm("The corrected order of the files that are open was not saved. Open the others all the same?")) return;
    if (opened.length) {
      for (const from of files) for (const page of from.pages) if (page.scan) URL.revokeObjectURL(page.scan);
      files = opened;
      for (const from of files) for (const page of from.pages) Object.assign(page, { undo: [], picked: null });
      shown = files.flatMap((from) => from.pages.map((_, k) => ({ from, k })));
      $("layout-page").replaceChildren(...shown.map(({ from, k }, i) => el("option", { value: i }, from.pages.length > 1 ? `${from.file.name}, page ${k + 1}` : from.file.name)));
      $("layout-empty").hidden = true;
      $("layout-work").hidden = false;
      go(0);
    }
    for (const scan of given.filter(isScan)) {
      try {
        await takeScan(scan);
      } catch (error) {
        wrong.push(error.message);
      }
    }
    if (wrong.length) throw new Error(wrong.length > 1 ? `${wrong.length} files cannot be read. ${wrong[0]}` : wrong[0]);
  }

  /** Shows a scan behind the regions of the page that names it, or else of the page that is shown. */
  async function takeScan(scan) {
    if (!shown.length) throw new Error(`${scan.name} is a picture. Open the file with the regions of the page first.`);
    const found = shown.find(({ from, k }) => [from.pages[k].image ?? "", from.file.name].some((name) => stem(name) === stem(scan.name)));
    const page = found ? found.from.pages[found.k] : here();
    const url = URL.createObjectURL(scan);
    try {
      await Object.assign(new Image(), { src: url }).decode();
    } catch {
      URL.revokeObjectURL(url);
      throw new Error(`${scan.name} is not a picture that this browser can show. Save the scan as JPEG or PNG.`);
    }
    if (page.scan) URL.revokeObjectURL(page.scan);
    page.scan = url;
    draw();
  }

  async function example(name) {
    await openFiles([new File([await fetchBytes(`examples/${name}`)], name)]);
  }

  function go(to) {
    at = to;
    selected = -1;
    $("layout-page").value = at;
    $("layout-pages").hidden = shown.length < 2;
    $("layout-back").disabled = at === 0;
    $("layout-on").disabled = at === shown.length - 1;
    draw();
    say(`${$("layout-page").selectedOptions[0].textContent}: ${plural(here().order.length, "region")} in order.`);
  }

  // ---- Corrections

  /** Gives the shown page an order, as far as its file can hold it. */
  async function change(order, sentence = "") {
    const { from } = shown[at], page = here(), before = page.order;
    if (same(order, before)) return draw();
    page.undo.push({ order: before, picked: page.picked });
    page.order = order;
    draw();
    const orders = from.pages.map((p) => p.order);
    const settled = (await engine.call("pages", "pages", from.file, { orders })).pages;
    if (page.order !== order) return undefined; // changed again meanwhile
    const held = from.pages.every((p, k) => same(p.order, settled[k].order));
    $("layout-note").textContent = held ? "" : `The file keeps some regions together, in groups or in the elements that they stand in, so that the order is not quite the one that you chose.`;
    if (!held) {
      page.picked = null;
      from.pages.forEach((p, k) => { p.order = settled[k].order; });
      if (same(page.order, before)) page.undo.pop();
    }
    draw();
    return say(held ? sentence : $("layout-note").textContent);
  }

  function move(region, place) {
    const page = here(), rest = page.order.filter((i) => i !== region), to = Math.min(rest.length, Math.max(0, place));
    rest.splice(to, 0, region);
    page.picked = null;
    selected = region;
    return change(rest, `${name(region)} is now at place ${to + 1} of ${rest.length}.`);
  }

  function undo() {
    const page = here(), last = page?.undo.pop();
    if (!last) return;
    page.order = last.order;
    page.picked = last.picked;
    $("layout-note").textContent = "";
    draw();
    say(`Undone. ${plural(page.undo.length, "step")} before it.`);
  }

  /** Starts or ends numbering anew: regions get numbers as the user clicks them, from the selected one on, or from the first. */
  function startPicking() {
    const page = here();
    page.picked = page.picked ? null : page.order.slice(0, selected >= 0 ? page.order.indexOf(selected) + 1 : 0);
    draw();
    if (page.picked) say(`Choose the regions in the order in which they are read. Next is number ${page.picked.length + 1}.`);
  }

  function choose(region) {
    const page = here();
    if (!page.regions[region].placed) return;
    if (!page.picked) {
      selected = selected === region ? -1 : region;
      draw();
      return;
    }
    if (page.picked.includes(region)) return;
    const picked = [...page.picked, region], rest = page.order.filter((i) => !picked.includes(i));
    const before = page.picked, order = [...picked, ...rest];
    selected = region;
    const done = rest.length < 2;
    if (same(order, page.order)) page.undo.push({ order: page.order, picked: before });
    else {
      attempt(() => change(order, `${name(region)} is number ${picked.length}.`));
      page.undo.at(-1).picked = before;
    }
    page.picked = done ? null : picked;
    draw();
    if (done) say("All regions have their numbers.");
  }

  // ---- Drawing

  const name = (i) => { const { type, text, id } = here().regions[i]; return `${type} ${text ? `“${text.slice(0, 30)}”` : id}`; };

  /** Returns the part of the plane that the page takes: its size, or the bounds of its regions. */
  function frame(page) {
    if (page.width > 0 && page.height > 0) return [0, 0, page.width, page.height];
    const boxes = page.regions.map((r) => r.box);
    const low = [0, 1].map((d) => Math.min(...boxes.map((b) => b[d]))), high = [2, 3].map((d) => Math.max(...boxes.map((b) => b[d])));
    return boxes.length ? [...low, Math.max(1, high[0] - low[0]), Math.max(1, high[1] - low[1])] : [0, 0, 1, 1];
  }

  function draw() {
    const page = here(), board = $("layout-board");
    if (!page) return;
    const [x, y, width, height] = frame(page);
    board.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    $("layout-sheet").style.setProperty("--ratio", width / height);
    const unit = width / (board.clientWidth || 600); // a pixel of the screen
    const place = new Map(page.order.map((region, k) => [region, k]));
    const middle = (i) => { const [x0, y0, x1, y1] = page.regions[i].box; return [(x0 + x1) / 2, (y0 + y1) / 2]; };
    const rect = ([x0, y0, x1, y1], attributes) => svg("rect", { x: x0, y: y0, width: Math.max(x1 - x0, unit), height: Math.max(y1 - y0, unit), rx: 2 * unit, ...attributes });
    // Large ones first, so that a region within another can be clicked.
    const size = (i) => { const [x0, y0, x1, y1] = page.regions[i].box; return (x1 - x0) * (y1 - y0); };
    const areas = page.regions.map((_, i) => i).sort((i, j) => size(j) - size(i)).map((i) => {
      const region = page.regions[i], state = i === selected ? " selected" : page.picked && !page.picked.includes(i) ? " open" : "";
      const area = rect(region.box, { class: `region ${KINDS[region.kind]}${region.placed ? state : " context"}` });
      if (!region.placed) return area;
      area.onclick = () => choose(i);
      area.append(svg("title", {}, `${place.get(i) + 1}: ${name(i)}`));
      return area;
    });
    const numbered = page.picked ?? page.order;
    // As high as a low region, but never too small to read.
    const radius = (i) => { const [x0, y0, x1, y1] = page.regions[i].box; return unit * Math.min(11, Math.max(7, Math.min(x1 - x0, y1 - y0) / unit / 2)); };
    const line = svg("path", { class: "reading", d: numbered.map((i, k) => `${k ? "L" : "M"}${middle(i).map((v) => v.toFixed(1)).join(" ")}`).join(""), "stroke-width": 2 * unit });
    badges = numbered.map((i, k) => {
      const [cx, cy] = middle(i), r = radius(i);
      const badge = svg("g", { class: `badge${i === selected ? " selected" : ""}` }, svg("circle", { cx, cy, r: r * (k > 98 ? 1.25 : 1) }), svg("text", { x: cx, y: cy, "font-size": 1.15 * r, dy: "0.36em" }, String(k + 1)));
      badge.onclick = () => choose(i);
      return badge;
    });
    const scan = page.scan ? [svg("image", { href: page.scan, x, y, width, height, preserveAspectRatio: "none" })] : [];
    board.replaceChildren(...scan, ...areas, line, ...badges);
    board.classList.toggle("scanned", Boolean(page.scan));
    board.setAttribute("aria-label", `The page with ${plural(page.order.length, "region")}, numbered in reading order; the list has the same`);
    showList(page);
    showFacts();
  }

  function showList(page) {
    const list = $("layout-list"), focused = list.contains(document.activeElement) ? document.activeElement.dataset : null;
    const lines = page.order.map((region, k) => {
      const { type, text, id } = page.regions[region], open = page.picked && !page.picked.includes(region);
      const button = el("button", { class: "entry", "data-region": region, "data-do": "choose", "aria-pressed": String(region === selected), onclick: () => choose(region) },
        el("b", {}, open ? "–" : String(k + 1)), el("span", {}, el("i", {}, type), text || id));
      const grip = el("span", { class: "grip", "aria-hidden": "true" }, "⠿");
      grip.onpointerdown = (event) => drag(event, region);
      const line = el("li", { class: region === selected ? "selected" : null, "data-place": k }, grip, button);
      if (region === selected && !page.picked) line.append(
        el("button", { class: "step", "data-region": region, "data-do": "up", "aria-label": "Earlier", disabled: k === 0, onclick: () => attempt(() => move(region, k - 1)) }, "↑"),
        el("button", { class: "step", "data-region": region, "data-do": "down", "aria-label": "Later", disabled: k === page.order.length - 1, onclick: () => attempt(() => move(region, k + 1)) }, "↓"));
      return line;
    });
    list.replaceChildren(...lines);
    const again = focused && (list.querySelector(`[data-region="${focused.region}"][data-do="${focused.do}"]:enabled`) ?? list.querySelector(`[data-region="${focused.region}"]`));
    again?.focus({ preventScroll: true });
    const mine = list.querySelector("li.selected");
    if (mine && (mine.offsetTop < list.scrollTop || mine.offsetTop + mine.offsetHeight > list.scrollTop + list.clientHeight)) list.scrollTop = mine.offsetTop - list.clientHeight / 3;
    $("layout-undo").disabled = !page.undo.length;
    $("layout-given").disabled = !page.ordered || same(page.order, page.given);
    $("layout-pick").setAttribute("aria-pressed", String(Boolean(page.picked)));
    const next = page.picked ? page.picked.length + 1 : selected >= 0 ? page.order.indexOf(selected) + 2 : 1;
    $("layout-pick").textContent = page.picked ? "Stop numbering" : `Number anew${next > 1 ? ` from ${next}` : ""}`;
    $("layout-how").textContent = page.picked ? `Choose the region that is read as number ${next}, in the picture or in the list.`
      : "Drag a line of the list, or select a region and move it. Or number them anew, one after the other.";
  }

  function showFacts() {
    const page = here();
    if (!page) {
      $("layout-facts").textContent = "";
      return;
    }
    const { from } = shown[at], other = page.order.filter((region, k) => page.given[k] !== region).length;
    const against = !page.ordered ? "The file gives them no order." : other ? `${plural(other, "of them")}`.replace("thems", "them") + ` ${other === 1 ? "stands" : "stand"} at another place than in the file.` : "It is the order of the file.";
    $("layout-facts").textContent = `${from.format}, ${plural(page.order.length, "region")} in order. ${against}`;
    $("layout-notes").replaceChildren(...from.notes.map((note) => el("li", {}, note)));
  }

  /** Drags a line of the list to another place. */
  function drag(event, region) {
    event.preventDefault();
    const list = $("layout-list"), grip = event.target, mine = grip.closest("li");
    grip.setPointerCapture(event.pointerId);
    mine.classList.add("dragged");
    let to = Number(mine.dataset.place);
    const follow = (e) => {
      const bounds = list.getBoundingClientRect();
      if (e.clientY < bounds.top + 24) list.scrollTop -= 12;
      if (e.clientY > bounds.bottom - 24) list.scrollTop += 12;
      const over = [...list.children].find((line) => { const { top, bottom } = line.getBoundingClientRect(); return e.clientY >= top && e.clientY < bottom; });
      if (!over) return;
      to = Number(over.dataset.place);
      for (const line of list.children) line.classList.toggle("target", line === over && line !== mine);
    };
    const end = (e) => {
      grip.removeEventListener("pointermove", follow);
      if (e.type === "pointerup") attempt(() => move(region, to));
      else draw();
    };
    grip.addEventListener("pointermove", follow);
    for (const kind of ["pointerup", "pointercancel"]) grip.addEventListener(kind, end, { once: true });
  }

  // ---- The user

  $("layout-list").onkeydown = (event) => {
    const region = Number(event.target.dataset.region), step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || Number.isNaN(region)) return;
    event.preventDefault();
    const place = here().order.indexOf(region);
    if (event.altKey) attempt(() => move(region, place + step));
    else $("layout-list").children[place + step]?.querySelector(".entry").focus();
  };
  $("view-layout").addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    undo();
  });
  new ResizeObserver(draw).observe($("layout-sheet"));
  $("layout-undo").onclick = undo;
  $("layout-pick").onclick = startPicking;
  $("layout-given").onclick = () => attempt(() => change(here().given, "The order of the file."));
  $("layout-find").onclick = () => attempt(async () => {
    const { from, k } = shown[at];
    const { order } = (await engine.call("pages", "pages", from.file, options())).pages[k];
    from.pages[k].picked = null;
    await change(order, "The order that the network finds.");
  });
  $("layout-rtl").onchange = () => here() && $("layout-find").click();
  $("layout-page").onchange = () => go(Number($("layout-page").value));
  $("layout-back").onclick = () => go(at - 1);
  $("layout-on").onclick = () => go(at + 1);
  $("layout-save").onclick = () => attempt(async () => {
    const { from } = shown[at];
    save(from.file.name, await engine.call("pagesFile", "pages", from.file, { ...options(), orders: from.pages.map((page) => page.order) }), "application/octet-stream");
    for (const page of from.pages) page.saved = page.order;
    say(`${from.file.name} is saved.`);
  });
  addEventListener("beforeunload", (event) => { if (unsaved()) event.preventDefault(); });
  for (const button of document.querySelectorAll("[data-page]")) button.onclick = () => attempt(() => example(button.dataset.page));
  for (const button of document.querySelectorAll("[data-open-layout]")) takeFiles(button, $("layout-file"), (_, all) => attempt(() => openFiles(all)));
  takeDrops($("view-layout"), (_, all) => attempt(() => openFiles(all)));
  ready().catch(() => {}); // what needs it reports why it cannot be fetched
}
