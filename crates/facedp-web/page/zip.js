// A zip archive of photos, stored without compression: they are compressed already.

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Little-endian numbers of 2 or 4 bytes: [[bytes, value], ...]. */
function numbers(fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return view.buffer;
}

/** The names, with numbers added where they are equal. */
export function distinct(names) {
  const taken = new Set();
  return names.map((name) => {
    const [, stem, ending] = name.match(/^(.*?)(\.[^./]*)?$/s);
    let given = name;
    for (let n = 2; taken.has(given.toLowerCase()); n++) given = `${stem} (${n})${ending ?? ""}`;
    taken.add(given.toLowerCase());
    return given;
  });
}

/** An archive of [{ name, blob }]. */
export async function zip(files) {
  const names = distinct(files.map((file) => file.name));
  const now = new Date();
  const date = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
  const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [n, { blob }] of files.entries()) {
    const name = new TextEncoder().encode(names[n]);
    const bytes = new Uint8Array(await blob.arrayBuffer());
    // Version 2.0, names in UTF-8, stored.
    const common = [
      [2, 20], [2, 0x0800], [2, 0], [2, time], [2, date],
      [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, name.length], [2, 0],
    ];
    const head = numbers([[4, 0x04034b50], ...common]);
    parts.push(head, name, blob);
    directory.push(numbers([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), name);
    offset += head.byteLength + name.length + bytes.length;
  }
  const listed = directory.reduce((sum, part) => sum + part.byteLength, 0);
  if (offset + listed > 0xffffffff) throw new Error("more than 4 GB: download the photos one by one");
  const count = files.length;
  const end = numbers([[4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, listed], [4, offset], [2, 0]]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
