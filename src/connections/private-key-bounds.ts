/**
 * Limits for private keys from users: reads from the file how much work the key needs, without doing that work. A
 * signature is computed on the event loop, and a passphrase is derived in native code, which cannot be stopped.
 */

/** The requirement of the key and the limit; never its content. */
interface Excess {
  readonly found: string;
  readonly allowed: string;
}

/** RSA of 8,192 bits, the longest allowed key, has 6,400 characters. */
const MAX_CHARACTERS = 32_768;
/** A signature takes about 20 ms. */
const MAX_RSA_BITS = 8192;
const MAX_EXPONENT_BITS = 64;
const MAX_DSA_BITS = 4096;
const MAX_DSA_ORDER_BITS = 512;
/** Each of these takes a second or two. */
const MAX_PBKDF2_ROUNDS = 2_000_000;
const MAX_SCRYPT_COST = 2 ** 21;
const MAX_ARGON2_KIB = 65_536;
const MAX_ARGON2_COST = 2 ** 21;
const MAX_ARGON2_LANES = 16;
/** Computed in JavaScript, which can be stopped. */
const MAX_BCRYPT_ROUNDS = 1024;

const OPENSSH_MAGIC = 'openssh-key-v1\0';
/** 1.3.6.1.4.1.11591.4.11 */
const SCRYPT = '2b06010401da47040b';

export const excessText = ({ found, allowed }: Excess): string => `it is ${found}: at most ${allowed}`;

/** Undefined if the key is within the limits, or is no key: the code that uses it reports that. */
export function excessOf(privateKey: string): Excess | undefined {
  if (privateKey.length > MAX_CHARACTERS) {
    return { found: `a file of ${privateKey.length} characters`, allowed: `${MAX_CHARACTERS} characters` };
  }
  try {
    if (privateKey.trimStart().startsWith('PuTTY-User-Key-File-')) return excessOfPutty(privateKey);
    const [, label = '', body = ''] = /-----BEGIN ([A-Z ]+)-----([\s\S]*?)-----END/.exec(privateKey) ?? [];
    const bytes = Buffer.from(body.replace(/^[\w-]+:.*$/gm, ''), 'base64');
    if (label === 'OPENSSH PRIVATE KEY') return excessOfOpenssh(bytes);
    if (label === 'ENCRYPTED PRIVATE KEY') return excessOfEncryption(bytes);
    // PEM's own encryption derives the key in one round; the numbers are checked after decryption.
    return /^Proc-Type: 4,ENCRYPTED/m.test(body) ? undefined : excessOfNumbers(readDer(bytes));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function excessOfPutty(text: string): Excess | undefined {
  const field = (name: string): number => Number(new RegExp(`^${name}: ?(\\d+)\\s*$`, 'm').exec(text)?.[1] ?? 0);
  const [memory, passes, lanes] = [field('Argon2-Memory'), field('Argon2-Passes'), field('Argon2-Parallelism')];
  if (memory > MAX_ARGON2_KIB || memory * passes > MAX_ARGON2_COST || lanes > MAX_ARGON2_LANES) {
    return {
      found: `a passphrase protected by Argon2 with ${memory} KiB, ${passes} passes and ${lanes} lanes`,
      allowed: `${MAX_ARGON2_KIB} KiB, ${MAX_ARGON2_COST} KiB × passes and ${MAX_ARGON2_LANES} lanes`,
    };
  }
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith('Public-Lines:'));
  const blob = lines.slice(at + 1, at + 1 + field('Public-Lines')).join('');
  return excessOfPublic(Buffer.from(blob, 'base64'));
}

/** PROTOCOL.key of OpenSSH: the public half is not encrypted. */
function excessOfOpenssh(bytes: Buffer): Excess | undefined {
  const fields = new KeyFields(bytes);
  if (fields.take(OPENSSH_MAGIC.length).toString('latin1') !== OPENSSH_MAGIC) return undefined;
  const [, , options] = [fields.string(), fields.string(), fields.string()];
  if (options.length > 0) {
    const derivation = new KeyFields(options);
    derivation.string();
    const rounds = derivation.uint32();
    if (rounds > MAX_BCRYPT_ROUNDS) {
      return { found: `a passphrase protected by ${rounds} rounds of bcrypt`, allowed: `${MAX_BCRYPT_ROUNDS} rounds` };
    }
  }
  fields.uint32();
  return excessOfPublic(fields.string());
}

/** RFC 4253, 6.6. */
function excessOfPublic(blob: Buffer): Excess | undefined {
  const fields = new KeyFields(blob);
  const type = fields.string().toString('latin1');
  if (type === 'ssh-rsa') {
    const [exponent, modulus] = [fields.string(), fields.string()];
    return excessOfRsa([bitsOf(modulus), bitsOf(exponent)]);
  }
  if (type === 'ssh-dss') return excessOfDsa([fields.string(), fields.string(), fields.string()].map(bitsOf));
  return undefined;
}

/**
 * PKCS #8 (RFC 5958) with PBES1, PBES2 (RFC 8018) or scrypt (RFC 7914): the parameters of the derivation are in the
 * first part.
 */
function excessOfEncryption(bytes: Buffer): Excess | undefined {
  const [algorithm] = readDer(bytes).children;
  const excessIn = ({ children }: Der): Excess | undefined => {
    const [name, parameters] = children;
    if (name?.tag === TAG.OID && name.content.toString('hex') === SCRYPT) {
      const cost = numbersOf(parameters)
        .slice(0, 3)
        .reduce((product, number) => product * number, 1);
      return cost > MAX_SCRYPT_COST
        ? { found: `a passphrase protected by scrypt with N × r × p of ${cost}`, allowed: String(MAX_SCRYPT_COST) }
        : undefined;
    }
    const rounds = children.find((child) => numberOf(child) > MAX_PBKDF2_ROUNDS);
    if (rounds === undefined) return firstOf(children, excessIn);
    return { found: `a passphrase protected by ${numberOf(rounds)} rounds`, allowed: `${MAX_PBKDF2_ROUNDS} rounds` };
  };
  return algorithm === undefined ? undefined : excessIn(algorithm);
}

/** PKCS #1, SEC 1, OpenSSL's DSA, or one of them in PKCS #8: recognized by the number of consecutive integers. */
function excessOfNumbers({ children }: Der): Excess | undefined {
  const bits = children.filter(({ tag }) => tag === TAG.INTEGER).map(({ content }) => bitsOf(content));
  if (bits.length >= 9) return excessOfRsa(bits.slice(1));
  if (bits.length === 6) return excessOfDsa(bits.slice(1));
  const longest = Math.max(0, ...bits);
  if (longest > MAX_RSA_BITS) return { found: `a number of ${longest} bits`, allowed: `${MAX_RSA_BITS} bits` };
  return firstOf(children, excessOfNumbers);
}

/** n, e and, for a private key, d, p, q, dp, dq, qInv. */
function excessOfRsa([modulus = 0, exponent = 0, d = 0, ...halves]: readonly number[]): Excess | undefined {
  if (modulus > MAX_RSA_BITS) return { found: `an RSA key of ${modulus} bits`, allowed: `${MAX_RSA_BITS} bits` };
  if (exponent > MAX_EXPONENT_BITS) {
    return { found: `an RSA key with an exponent of ${exponent} bits`, allowed: `${MAX_EXPONENT_BITS} bits` };
  }
  const longest = Math.max(d / 2, ...halves);
  const half = modulus / 2 + MAX_EXPONENT_BITS;
  return longest > half
    ? { found: 'an RSA key with parts longer than itself', allowed: 'those of its length' }
    : undefined;
}

/** p, q, g and, for a private key, y and x. */
function excessOfDsa([prime = 0, order = 0, ...others]: readonly number[]): Excess | undefined {
  const longest = Math.max(prime, ...others);
  if (longest <= MAX_DSA_BITS && order <= MAX_DSA_ORDER_BITS) return undefined;
  return {
    found: `a DSA key of ${longest} bits, of an order of ${order} bits`,
    allowed: `${MAX_DSA_BITS} bits, and an order of ${MAX_DSA_ORDER_BITS}`,
  };
}

function bitsOf(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0);
  return first === -1 ? 0 : 8 * (number.length - first) - Math.clz32(number[first] as number) + 24;
}

const TAG = { INTEGER: 0x02, OCTETS: 0x04, OID: 0x06, CONSTRUCTED: 0x20 } as const;
const MAX_DEPTH = 16;

interface Der {
  readonly tag: number;
  readonly content: Buffer;
  /** Elements of a constructed element, or of octets with elements in them. */
  readonly children: readonly Der[];
}

/** The first element. @throws RangeError if it is not DER */
function readDer(bytes: Buffer): Der {
  const [element] = elementsOf(bytes, 0, 1);
  if (element === undefined) throw new RangeError('no DER');
  return element;
}

function elementsOf(bytes: Buffer, depth: number, most = Infinity): Der[] {
  if (depth > MAX_DEPTH) throw new RangeError('DER of too many levels');
  const fields = new KeyFields(bytes);
  const elements: Der[] = [];
  while (!fields.isAtEnd && elements.length < most) {
    const tag = fields.take(1).readUInt8(0);
    const content = fields.take(fields.derLength());
    elements.push({ tag, content, children: childrenOf(tag, content, depth + 1) });
  }
  return elements;
}

function childrenOf(tag: number, content: Buffer, depth: number): Der[] {
  if ((tag & TAG.CONSTRUCTED) !== 0) return elementsOf(content, depth);
  if (tag !== TAG.OCTETS) return [];
  try {
    return elementsOf(content, depth);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function numbersOf(sequence: Der | undefined): number[] {
  return (sequence?.children ?? []).filter(({ tag }) => tag === TAG.INTEGER).map(numberOf);
}

function numberOf({ tag, content }: Der): number {
  return tag === TAG.INTEGER && content.length > 0 ? Number(`0x${content.toString('hex')}`) : 0;
}

function firstOf(elements: readonly Der[], excessOf: (element: Der) => Excess | undefined): Excess | undefined {
  for (const element of elements) {
    const excess = excessOf(element);
    if (excess !== undefined) return excess;
  }
  return undefined;
}

/** Reads fields one after the other. @throws RangeError if the bytes end early */
class KeyFields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('the bytes end before');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  uint32(): number {
    return this.take(4).readUInt32BE(0);
  }

  derLength(): number {
    const first = this.take(1).readUInt8(0);
    if (first < 0x80) return first;
    const bytes = first & 0x7f;
    // Files of this size need no longer length, and DER has no indefinite length.
    if (bytes === 0 || bytes > 4) throw new RangeError('no DER');
    return this.take(bytes).readUIntBE(0, bytes);
  }

  /** SSH's string (RFC 4251, 5). */
  string(): Buffer {
    return this.take(this.uint32());
  }
}
