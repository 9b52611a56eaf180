/** The parts that SSH's keys, certificates and packets consist of. */

/** SSH's string (RFC 4251, 5): the length, then the bytes. */
export function sshString(bytes: Buffer | string): Buffer {
  const content = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** SSH's mpint (RFC 4251, 5) of a positive number: a zero byte keeps the sign bit clear. */
export const positiveInteger = (bytes: Buffer): Buffer => {
  let start = 0;
  while (start < bytes.length && bytes[start] === 0) start += 1;
  const digits = bytes.subarray(start);
  return (digits[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits;
};

/** Reads the strings of an SSH blob one after the other; a blob that ends early throws a RangeError. */
export function sshStrings(blob: Buffer, count: number): Buffer[] {
  const strings: Buffer[] = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    const length = blob.readUInt32BE(at);
    if (at + 4 + length > blob.length) throw new RangeError('the blob ends in the middle of a string');
    strings.push(blob.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return strings;
}

/** All strings (RFC 4251, 5) in these bytes; undefined if they are malformed. */
export function allSshStrings(bytes: Buffer): Buffer[] | undefined {
  const strings: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    if (bytes.length - at < 4) return undefined;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    strings.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return strings;
}
