// Draws the learning curve: the share of sets in exactly the right order, and the loss, over the steps of
// training.
import { svg } from "./dom.js";

const LEFT = 48, RIGHT = 44, TOP = 16, BOTTOM = 34, HEIGHT = 250;

/** Draws the points into an svg element. kept: the number of held-out sets, of which the shares are. */
export function curve(element, points, kept) {
  // As many units as the element has pixels, so that text keeps its size.
  element.removeAttribute("hidden");
  const width = Math.max(300, element.parentElement.clientWidth - 48);
  element.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const last = points.at(-1), losses = points.map((p) => p.loss).filter(Number.isFinite);
  const most = Math.max(...losses, 1e-9);
  const x = (step) => LEFT + (width - LEFT - RIGHT) * (step / last.steps);
  const y = (share) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
  const line = (list, at) => list.map((p, i) => `${i ? "L" : "M"}${x(p.step).toFixed(1)} ${at(p).toFixed(1)}`).join("");
  const measured = points.filter((p, i) => !Number.isNaN(p.exact) && (p.exact !== points[i - 1]?.exact || p === last));
  const lossPoints = points.filter((p) => Number.isFinite(p.loss) && p.step > 0);
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: y(share), y2: y(share) }),
    svg("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`),
  ]);
  const parts = [...grid, svg("text", { x: width - RIGHT, y: HEIGHT - 8, "text-anchor": "end" }, `${last.steps.toLocaleString("en")} steps`)];
  if (lossPoints.length) {
    parts.push(svg("path", { class: "loss", d: line(lossPoints, (p) => y(p.loss / most)) }),
      svg("text", { x: width - RIGHT + 8, y: y(lossPoints.at(-1).loss / most) + 4 }, "loss"));
  }
  if (measured.length) {
    const end = measured.at(-1);
    parts.push(svg("path", { class: "exact", d: line(measured, (p) => y(p.exact)) }), ...measured.map((p) => svg("circle", { class: "dot", cx: x(p.step), cy: y(p.exact), r: 4 })),
      svg("text", { class: "name-exact", x: Math.min(x(end.step) + 10, width - RIGHT - 2), y: y(end.exact) + (end.exact > 0.9 ? 20 : -10), "text-anchor": x(end.step) > width / 2 ? "end" : "start" }, `${(100 * end.exact).toFixed(0)}% of ${kept} exactly right`));
  }
  element.replaceChildren(...parts);
  element.setAttribute("aria-label", `Learning curve: step ${last.step} of ${last.steps}, loss ${last.loss.toFixed(3)}${measured.length ? `, ${(100 * measured.at(-1).exact).toFixed(0)}% of ${kept} sets exactly right` : ""}`);
}
