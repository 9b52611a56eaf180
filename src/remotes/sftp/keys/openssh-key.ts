import { randomBytes } from 'node:crypto';

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

/**
 * Builds an unencrypted key in OpenSSH's own format (PROTOCOL.key) from the strings of its public and its private half.
 */
export function opensshPrivateKey(publicFields: readonly Buffer[], privateFields: readonly Buffer[]): string {
  const check = randomBytes(4);
  const body = Buffer.concat([check, check, ...privateFields.map(sshString), sshString('')]);
  const padding = Buffer.from(Array.from({ length: -body.length & 7 }, (_, index) => index + 1));
  const one = Buffer.from([0, 0, 0, 1]);
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    sshString('none'),
    sshString('none'),
    sshString(''),
    one,
    sshString(Buffer.concat(publicFields.map(sshString))),
    sshString(Buffer.concat([body, padding])),
  ]);
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----'].join('\n');
}
