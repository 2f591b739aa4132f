// Generates example data for three orders to learn, as CSV, and a small table for the user to edit. Each example
// also gives a new set and its right order.

const between = (low, high) => low + Math.floor(Math.random() * (high - low + 1));
const distinct = (count, draw, key) => {
  const seen = new Map();
  while (seen.size < count) {
    const item = draw();
    seen.set(key(item), item);
  }
  return [...seen.values()];
};

function hue([r, g, b]) {
  const high = Math.max(r, g, b), spread = high - Math.min(r, g, b);
  const sixth = high === r ? (g - b) / spread : high === g ? 2 + (b - r) / spread : 4 + (r - g) / spread;
  return (sixth + 6) % 6;
}

const byKey = (items, key) => items.map((_, i) => i).sort((i, j) => key(items[i]) - key(items[j]));

export const EXAMPLES = {
  numbers: {
    title: "Sorting numbers",
    columns: ["value"],
    sets: 2000,
    epochs: 12,
    draw: () => distinct(between(4, 8), () => [between(0, 999)], String),
    order: (items) => byKey(items, ([x]) => x),
  },
  outward: {
    title: "Outward from the mean",
    columns: ["value"],
    sets: 4000,
    epochs: 20,
    draw: () => distinct(between(4, 7), () => [between(0, 999)], String),
    order(items) {
      const mean = items.reduce((sum, [x]) => sum + x, 0) / items.length;
      return byKey(items, ([x]) => Math.abs(x - mean));
    },
  },
  colours: {
    title: "Colours by hue",
    columns: ["red", "green", "blue"],
    sets: 4000,
    epochs: 20,
    colour: true,
    // Grey has no hue, and near grey hardly one.
    draw: () => distinct(between(4, 8), () => {
      for (;;) {
        const c = [between(0, 255), between(0, 255), between(0, 255)];
        if (Math.max(...c) - Math.min(...c) > 90) return c;
      }
    }, String),
    order: (items) => byKey(items, hue),
  },
};

/** Returns the example as a CSV file: {name, bytes}. */
export function exampleFile(example) {
  const lines = [`set,rank,${example.columns.join(",")}`];
  for (let s = 0; s < example.sets; s++) {
    const items = example.draw(), place = [];
    example.order(items).forEach((item, t) => { place[item] = t; });
    items.forEach((item, i) => lines.push(`${s},${place[i]},${item.join(",")}`));
  }
  return { name: `${example.title.toLowerCase()}.csv`, bytes: new TextEncoder().encode(`${lines.join("\n")}\n`) };
}

/** Returns a few rows to begin a table with: parcels, the heaviest first. */
export function smallTable() {
  const rows = [["set", "rank", "weight", "height"]];
  for (let s = 1; s <= 20; s++) {
    const items = distinct(3, () => [between(1, 40), between(5, 60)], ([w]) => w);
    const order = byKey(items, ([w]) => -w);
    items.forEach((item, i) => rows.push([s, order.indexOf(i) + 1, ...item].map(String)));
  }
  return rows;
}
