/** The small picture that cameras write into a JPEG (Exif 2.3, 4.5): a JPEG in the second directory of its Exif data. */

const EXIF = 'Exif\0\0';
const [APP1, SCAN] = [0xffe1, 0xffda];
const [OFFSET, LENGTH] = [0x0201, 0x0202];
const ENTRY_BYTES = 12;

/** Undefined if the start of the file, `bytes`, has none or is no JPEG. */
export function embeddedPicture(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (view.getUint16(0) !== 0xffd8) return undefined;
    for (let at = 2; view.getUint16(at) !== SCAN; at += 2 + view.getUint16(at + 2)) {
      const isExif = view.getUint16(at) === APP1 && textAt(bytes, at + 4, EXIF.length) === EXIF;
      if (isExif) return pictureIn(bytes.subarray(at + 4 + EXIF.length, at + 2 + view.getUint16(at + 2)));
    }
  } catch {
    // An offset beyond the data.
  }
  return undefined;
}

function pictureIn(exif: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  const view = new DataView(exif.buffer, exif.byteOffset, exif.length);
  const isLittle = textAt(exif, 0, 2) === 'II';
  const [word, long] = [(at: number) => view.getUint16(at, isLittle), (at: number) => view.getUint32(at, isLittle)];
  const first = long(4);
  const second = long(first + 2 + word(first) * ENTRY_BYTES);
  if (second === 0) return undefined;
  const values = new Map<number, number>();
  for (let entry = 0; entry < word(second); entry++) {
    const at = second + 2 + entry * ENTRY_BYTES;
    values.set(word(at), long(at + 8));
  }
  const [offset = 0, length = 0] = [values.get(OFFSET), values.get(LENGTH)];
  return offset > 0 && length > 0 && offset + length <= exif.length ? exif.slice(offset, offset + length) : undefined;
}

const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));
