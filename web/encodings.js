// Converts text between UTF-8 and the encodings of old page files, both ways. A browser decodes many encodings but
// encodes UTF-8 alone: to encode, this file decodes every sequence of one or two bytes once and keeps the table.

const encoder = new TextEncoder();
const strict = (label) => new TextDecoder(label, { fatal: true, ignoreBOM: true });
const tables = new Map(); // label: character to bytes

export function known(label) {
  try {
    return Boolean(new TextDecoder(label));
  } catch {
    return false;
  }
}

/** Returns how many bytes are valid before the first that is not. */
function validBytes(label, bytes) {
  let low = 0, high = bytes.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    try {
      strict(label).decode(bytes.subarray(0, middle), { stream: true });
      low = middle;
    } catch {
      high = middle - 1;
    }
  }
  return Math.min(low, bytes.length - 1);
}

/** Returns the bytes of each character of an encoding of one or two bytes. */
function tableOf(label) {
  if (tables.has(label)) return tables.get(label);
  const decoder = new TextDecoder(label, { ignoreBOM: true }), table = new Map();
  const take = (...bytes) => {
    const text = decoder.decode(Uint8Array.from(bytes));
    const whole = [...text].length === 1 && text !== "\ufffd";
    if (whole && !table.has(text)) table.set(text, bytes);
    return whole;
  };
  const leads = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !take(byte));
  for (const lead of leads) for (let byte = 0x30; byte < 256; byte++) take(lead, byte);
  tables.set(label, table);
  return table;
}

function encode(label, text) {
  const wide = /^utf-?16(le|be)?$/i.exec(label);
  if (wide) {
    const bytes = new Uint8Array(2 * text.length), view = new DataView(bytes.buffer);
    for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), wide[1]?.toLowerCase() !== "be");
    return bytes;
  }
  const table = tableOf(label), bytes = [];
  for (const character of text) {
    const own = table.get(character);
    if (!own) return null;
    bytes.push(...own);
  }
  return Uint8Array.from(bytes);
}

/** Returns the bytes in the other encoding; or a number: how many of them come before the first that is not valid, or 0 if
 * `to` lacks a character. */
export function convert(to, from, bytes) {
  let text;
  try {
    text = strict(from).decode(bytes);
  } catch {
    return validBytes(from, bytes);
  }
  return /^utf-?8$/i.test(to) ? encoder.encode(text) : encode(to, text) ?? 0;
}
