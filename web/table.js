// Parses and writes CSV as far as the page needs it (the header, and small tables to edit), and shows the
// table that the user edits.
import { el } from "./dom.js";

/** Parses a CSV text into rows, at most `limit`: fields may be quoted. The header tells whether commas, semicolons or tabs
 *  separate them; that is the property `delimiter` of what is returned. */
export function parseCsv(text, limit = Infinity) {
  const head = text.slice(0, text.search(/\r?\n|$/));
  const comma = [",", ";", "\t"].sort((a, b) => head.split(b).length - head.split(a).length)[0];
  const rows = [[]];
  let field = "", quoted = false;
  for (let i = 0; i < text.length && rows.length <= limit; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (c === '"' && !field) quoted = true;
    else if (c === comma || c === "\n") {
      rows.at(-1).push(field.replace(/\r$/, ""));
      field = "";
      if (c === "\n") rows.push([]);
    } else field += c;
  }
  if (field || rows.at(-1).length) rows.at(-1).push(field.replace(/\r$/, ""));
  const filled = rows.filter((row) => row.some((cell) => cell !== "")).slice(0, limit);
  return Object.assign(filled, { delimiter: comma });
}

export function writeCsv(rows) {
  const quote = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => `${row.map(quote).join(",")}\n`).join("");
}

/** Puts an editable table into an element; changed(rows) is called after each edit. */
export function editTable(element, rows, changed) {
  const cell = (r, c) => el("input", {
    type: "text", value: rows[r][c] ?? "", "aria-label": r ? `${rows[0][c] || `column ${c + 1}`}, row ${r}` : `Name of column ${c + 1}`,
    oninput: (event) => {
      rows[r][c] = event.target.value;
      changed(rows);
    },
    onkeydown: (event) => {
      const to = { Enter: [r + 1, c], ArrowDown: [r + 1, c], ArrowUp: [r - 1, c] }[event.key];
      const next = to && element.querySelectorAll("tr")[to[0]]?.querySelectorAll("input")[to[1]];
      if (next) {
        next.focus();
        event.preventDefault();
      }
    },
  });
  const again = (edit) => () => {
    edit();
    editTable(element, rows, changed);
    changed(rows);
  };
  const line = (r, kind) => el("tr", {}, ...rows[0].map((_, c) => el(kind, {}, cell(r, c))));
  element.replaceChildren(
    el("div", { class: "grid-scroll", tabindex: 0, role: "region", "aria-label": "The table" },
      el("table", { class: "grid" }, el("thead", {}, line(0, "th")), el("tbody", {}, ...rows.slice(1).map((_, r) => line(r + 1, "td"))))),
    el("div", { class: "row" },
      el("button", { onclick: again(() => rows.push(rows[0].map(() => ""))) }, "Add a row"),
      el("button", { onclick: again(() => rows.forEach((row, r) => row.push(r ? "" : `feature ${row.length - 1}`))) }, "Add a column"),
      el("button", { onclick: again(() => rows.length > 2 && rows.pop()) }, "Remove the last row")));
}
