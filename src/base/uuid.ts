/**
 * Ids that sort by their time (RFC 9562, version 7), and within a millisecond in the order in which they were made. The
 * random bytes come from a pool: asking the system for sixteen of them costs more than the rest of an id.
 */
import { randomFillSync } from 'node:crypto';

/** Before and after every id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

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
    // More ids than the millisecond can hold: the next ones are ahead of the clock for a moment.
    begin(ms + 1);
    count = 0;
  }
  const counted = (0x7000 | count).toString(16);
  const variant = (0x8 | (parseInt(randomHex(1), 16) & 0x3)).toString(16);
  return `${time}-${counted}-${variant}${randomHex(3)}-${randomHex(12)}`;
}

/** The id of the `place`-th thing, from 0 to 2³² − 1, of a millisecond: ids of one millisecond sort by it. */
export function uuidv7At(at: number, place: number): string {
  const counted = hex(0x7000 | (place >>> 20), 4);
  const variant = hex(0x8000 | ((place >>> 6) & 0x3fff), 4);
  const rest = hex(((place & 0x3f) << 2) | (parseInt(randomHex(1), 16) & 0x3), 2);
  return `${timeDigits(at)}-${counted}-${variant}-${rest}${randomHex(10)}`;
}

/** Any version of RFC 9562, and its two ids without one, in upper or lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

const UUID =
  /^(?:[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}|0{8}-(?:0{4}-){3}0{12}|f{8}-(?:f{4}-){3}f{12})$/i;

function begin(at: number): void {
  ms = at;
  time = timeDigits(at);
}

function timeDigits(at: number): string {
  const digits = hex(at, 12);
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function randomHex(digits: number): string {
  if (used + digits > random.length) {
    random = randomFillSync(POOL).toString('hex');
    used = 0;
  }
  used += digits;
  return random.slice(used - digits, used);
}
