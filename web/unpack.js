// Decompresses the files that the user opens (gzip, and the members of an npz) with the browser's own decoder,
// since the engine reads plain bytes.

export const LARGEST = 256 << 20;

async function inflate(bytes, format, name) {
  try {
    const { readable, writable } = new DecompressionStream(format), writer = writable.getWriter();
    for (const step of [writer.write(bytes), writer.close()]) step.catch(() => {}); // the reader reports it
    const parts = [], reader = readable.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  } catch {
    throw new Error(`${name}: its compressed data is corrupt. Get the file again.`);
  }
}

/** Returns a zip with all its members stored: the same archive for the engine, which checks it as a whole. */
async function storeMembers(bytes, name) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const broken = () => new Error(`${name} is corrupt, or not a zip such as numpy.savez makes.`);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw broken();
  const count = view.getUint16(end + 10, true);
  const heads = [], out = [];
  let at = view.getUint32(end + 16, true), place = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) throw broken();
    const method = view.getUint16(at + 10, true), nameLength = view.getUint16(at + 28, true);
    let packed = view.getUint32(at + 20, true), local = view.getUint32(at + 42, true);
    const extra = at + 46 + nameLength, next = extra + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (packed === 0xffffffff || local === 0xffffffff) return bytes; // 64-bit numbers: only for files that the page does not take
    if (method !== 0 && method !== 8) return bytes; // the engine says what is wrong
    if (local + 30 > bytes.length || next > end) throw broken();
    const from = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (from + packed > bytes.length) throw broken();
    const raw = bytes.subarray(from, from + packed), data = method ? await inflate(raw, "deflate-raw", name) : raw;
    const title = bytes.subarray(at + 46, at + 46 + nameLength);
    const head = new Uint8Array(30 + nameLength), entry = new Uint8Array(46 + nameLength);
    const h = new DataView(head.buffer), e = new DataView(entry.buffer), crc = view.getUint32(at + 16, true);
    h.setUint32(0, 0x04034b50, true);
    e.setUint32(0, 0x02014b50, true);
    for (const [v, o] of [[h, 4], [e, 6]]) {
      v.setUint16(o, 20, true);
      v.setUint32(o + 10, crc, true);
      v.setUint32(o + 14, data.length, true);
      v.setUint32(o + 18, data.length, true);
      v.setUint16(o + 22, nameLength, true);
    }
    e.setUint32(42, place, true);
    head.set(title, 30);
    entry.set(title, 46);
    out.push(head, data);
    heads.push(entry);
    place += head.length + data.length;
    at = next;
  }
  const tail = new Uint8Array(22), t = new DataView(tail.buffer);
  t.setUint32(0, 0x06054b50, true);
  t.setUint16(8, count, true);
  t.setUint16(10, count, true);
  t.setUint32(12, heads.reduce((sum, head) => sum + head.length, 0), true);
  t.setUint32(16, place, true);
  return new Uint8Array(await new Blob([...out, ...heads, tail]).arrayBuffer());
}

/** Returns {name, bytes} of a file as the engine reads it. */
export async function unpack(file) {
  if (file.size > LARGEST) throw new Error(`${file.name} is larger than 256 MB. The program takes files of any size.`);
  if (!file.size) throw new Error(`${file.name} is empty.`);
  let { name } = file, bytes;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(`${name} cannot be read. Is it a folder?`);
  }
  const begins = (...magic) => magic.every((byte, i) => bytes[i] === byte);
  if (begins(0x1f, 0x8b)) {
    bytes = await inflate(bytes, "gzip", name);
    name = name.replace(/\.gz$/i, "");
  }
  if (begins(0xfd, 0x37, 0x7a, 0x58, 0x5a)) throw new Error(`${name} is compressed with xz, which the page does not read. Unpack it first, or use gzip.`);
  if (begins(0x50, 0x4b)) bytes = await storeMembers(bytes, name);
  return { name, bytes };
}
