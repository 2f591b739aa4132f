// DOM helpers of all views: make elements, show errors, accept dropped files, save files.

export const $ = (id) => document.getElementById(id);

/** Makes an element with attributes, properties that begin with "on", and children. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element[key] = value;
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** Makes a bar that shows a share between 0 and 1. */
export function meter(share) {
  const bar = el("i");
  bar.style.setProperty("--p", share);
  return el("span", { class: "meter", "aria-hidden": "true" }, bar);
}

export const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** Shows an error message; "" hides it. */
export function problem(text) {
  const box = $("problem");
  box.replaceChildren();
  if (!text) return;
  box.append(el("span", {}, text), el("button", { "aria-label": "Close this message", onclick: () => problem("") }, "×"));
}

/** Runs an action of the user; if it fails, shows its error message. */
export async function attempt(action) {
  try {
    problem("");
    return await action();
  } catch (error) {
    problem(error.message);
    return undefined;
  }
}

/** Calls take(first, all) for files that are dropped on an element. */
export function takeDrops(element, take) {
  element.addEventListener("dragover", () => element.classList.add("over"));
  element.addEventListener("dragleave", () => element.classList.remove("over"));
  element.addEventListener("drop", (event) => {
    element.classList.remove("over");
    const files = Array.from(event.dataTransfer?.files ?? []);
    if (files.length) take(files[0], files);
  });
}

/** Makes a button open the file dialog of an input. */
export function takeFiles(button, input, take) {
  button.onclick = () => input.click();
  input.onchange = () => {
    const files = Array.from(input.files);
    input.value = "";
    if (files.length) take(files[0], files);
  };
}

/** Offers bytes or text to save as a file. */
export function save(name, data, type) {
  const link = el("a", { href: URL.createObjectURL(new Blob([data], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
