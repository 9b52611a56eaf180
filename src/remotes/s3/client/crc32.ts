import { crc32 } from 'node:zlib';

/** The CRC32 of bytes in the form of the header x-amz-checksum-crc32. */
export function crc32InBase64(bytes: Buffer): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum.toString('base64');
}
