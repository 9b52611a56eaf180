/** Compares the parts that a client lists to complete its upload with those that are stored. */
import { createHash } from 'node:crypto';
import { refusal } from '../base/errors.js';
import type { MultipartPart } from '../contract/upload.js';

export interface ListedPart {
  readonly number: number;
  readonly etag: string;
  /** As MultipartPart.checksum has it; absent or null: none is listed. */
  readonly checksum?: string | null | undefined;
}

/** As S3 has it. */
export const MOST_PARTS = 10_000;

/** @throws GatewayError bad_request, invalid_part_order */
export function requireOrder(listed: readonly ListedPart[]): void {
  if (listed.length === 0) throw refusal('bad_request', 'a multipart upload is completed with one part or more');
  let former = 0;
  for (const { number } of listed) {
    if (number <= former) throw refusal('invalid_part_order', `part ${number} is listed after part ${former}`);
    former = number;
  }
}

/** The stored parts that are listed. @throws GatewayError invalid_part, part_too_small */
export function chosenOf(
  listed: readonly ListedPart[],
  stored: readonly MultipartPart[],
  leastBytes: number,
): readonly MultipartPart[] {
  const byNumber = new Map(stored.map((part) => [part.number, part]));
  const chosen = listed.map(({ number, etag, checksum }) => {
    const part = byNumber.get(number);
    if (part === undefined) throw refusal('invalid_part', `part ${number} is not stored`);
    if (part.etag !== etag) throw refusal('invalid_part', `part ${number} has another ETag than the listed one`);
    if (typeof checksum === 'string' && part.checksum !== checksum)
      throw refusal('invalid_part', `part ${number} has another checksum than the listed one`);
    return part;
  });
  const small = chosen.slice(0, -1).find(({ size }) => size < leastBytes);
  if (small === undefined) return chosen;
  const text = `part ${small.number} has ${small.size} bytes; all but the last part need ${leastBytes} or more`;
  throw refusal('part_too_small', text);
}

/** The entity tag of the file that these parts become: no digest of its bytes. */
export function joinedTag(parts: readonly Pick<MultipartPart, 'etag'>[]): string {
  const hash = createHash('sha256');
  for (const { etag } of parts) hash.update(etag).update('\n');
  return `${hash.digest('hex').slice(0, 32)}-${parts.length}`;
}
