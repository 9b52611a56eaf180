/**
 * Ids that sort by their time (RFC 9562, version 7), and within a millisecond in the order in which they were made. The
 * random bytes come from a pool: asking the system for sixteen of them costs more than all the rest of an id.
 */
import { randomFillSync } from 'node:crypto';

const POOL = Buffer.alloc(4096);
const MAX_COUNT = 0xfff;

let random = '';
let used = 0;
let ms = 0;
let time = '';
let count = 0;

export function uuidv7(): string {
  const now = Date.now();
  if (now > ms) {
    begin(now);
    // From the lower half, so that there is room to count.
    count = parseInt(randomHex(3), 16) >> 1;
  } else if (count < MAX_COUNT) count++;
  else {
    // More of them than the millisecond holds: ahead of the clock, for a moment.
    begin(ms + 1);
    count = 0;
  }
  const counted = (0x7000 | count).toString(16);
  const variant = (0x8 | (parseInt(randomHex(1), 16) & 0x3)).toString(16);
  return `${time}-${counted}-${variant}${randomHex(3)}-${randomHex(12)}`;
}

function begin(at: number): void {
  ms = at;
  const digits = at.toString(16).padStart(12, '0');
  time = `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

function randomHex(digits: number): string {
  if (used + digits > random.length) {
    random = randomFillSync(POOL).toString('hex');
    used = 0;
  }
  used += digits;
  return random.slice(used - digits, used);
}
