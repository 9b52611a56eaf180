/** Hashes of API keys and passwords; the keys and passwords themselves are never stored. */
import { hash, randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import PQueue from 'p-queue';

/**
 * A generated key: `ftg_k1_`, 32 random base62 characters (190 bits), 6 characters of checksum. No other form has this
 * length and alphabet after this prefix, so a wrong checksum means a typing error.
 */
const MARK = 'ftg_k1_';
const RANDOM_CHARS = 32;
const CHECK_CHARS = 6;
const GENERATED = new RegExp(`^${MARK}([0-9A-Za-z]{${RANDOM_CHARS}})([0-9A-Za-z]{${CHECK_CHARS}})$`);
/** Any key: the prefix and other printable characters, 24 to 200 in all. */
const ANY = /^ftg_[\x21-\x7e]{20,196}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function generateApiKey(): string {
  const random = randomText(RANDOM_CHARS);
  return `${MARK}${random}${checksumOf(random)}`;
}

/** Whether the key may exist at all; saves the look-up of a malformed or mistyped key. */
export function isPlausibleKey(key: string): boolean {
  if (!ANY.test(key)) return false;
  const generated = GENERATED.exec(key);
  return generated === null || checksumOf(generated[1] ?? '') === generated[2];
}

/** The stored hash of a key. */
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

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** 32 MiB and about 80 ms per guess; stored with each hash, so that they can be raised later. */
const COST_LOG2 = 15;
const BLOCK_SIZE = 8;
const PARALLELISM = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const MAX_COST_LOG2 = 20;
/** However many logins come at once, one core stays free, and so do threads for files and names. */
const derivations = new PQueue({ concurrency: availableParallelism() < 4 ? 1 : 2 });

/** A salted scrypt hash in the PHC string format: `$scrypt$ln=15,r=8,p=1$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await deriveWith(password, salt, COST_LOG2, BLOCK_SIZE, PARALLELISM, HASH_BYTES);
  return `$scrypt$ln=${COST_LOG2},r=${BLOCK_SIZE},p=${PARALLELISM}$${encode(salt)}$${encode(hash)}`;
}

/** Whether the password belongs to the stored hash; false for a hash in a format unknown here. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const parts = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(stored);
  if (parts === null) return false;
  const [ln, r, p] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (ln > MAX_COST_LOG2) return false;
  const expected = Buffer.from(parts[5] ?? '', 'base64');
  const hash = await deriveWith(password, Buffer.from(parts[4] ?? '', 'base64'), ln, r, p, expected.length);
  return timingSafeEqual(hash, expected);
}

async function deriveWith(password: string, salt: Buffer, ln: number, r: number, p: number, bytes: number) {
  const N = 2 ** ln;
  // By default Node.js refuses more than 32 MiB; scrypt takes 128 N r bytes and a little more.
  const options = { N, r, p, maxmem: 128 * N * r + 1024 * 1024 * p };
  return derivations.add(() => derive(password.normalize('NFC'), salt, bytes, options));
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
