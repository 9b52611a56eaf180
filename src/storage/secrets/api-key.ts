import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * A generated key: `ftg_k1_`, 32 random base62 characters (190 bits), 6 of checksum. No other form has this length
 * and alphabet behind this prefix, so that a wrong checksum there means a slip of the pen.
 */
const MARK = 'ftg_k1_';
const RANDOM_CHARS = 32;
const CHECK_CHARS = 6;
const GENERATED = new RegExp(`^${MARK}([0-9A-Za-z]{${RANDOM_CHARS}})([0-9A-Za-z]{${CHECK_CHARS}})$`);
/** Any key: the prefix and 24 to 200 printable characters in all. */
const ANY = /^ftg_[\x21-\x7e]{20,196}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function generateApiKey(): string {
  const random = randomText(RANDOM_CHARS);
  return `${MARK}${random}${checksumOf(random)}`;
}

/** Whether the key may exist at all; spares the look-up of one that is malformed or mistyped. */
export function isPlausibleKey(key: string): boolean {
  if (!ANY.test(key)) return false;
  const generated = GENERATED.exec(key);
  return generated === null || checksumOf(generated[1] ?? '') === generated[2];
}

/** What is stored of a key. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Random base62 text without bias. */
export function randomText(length: number): string {
  const usable = 256 - (256 % ALPHABET.length);
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < usable && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}

function checksumOf(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let i = 0; i < CHECK_CHARS; i++) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
