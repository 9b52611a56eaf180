/** The CRC of two pieces as one, from the CRC of each: nothing is read again. */

/** Generator polynomials, bits reversed. */
const POLYNOMIALS: Readonly<Record<string, { readonly bits: number; readonly polynomial: bigint }>> = {
  crc32: { bits: 32, polynomial: 0xedb88320n },
  crc32c: { bits: 32, polynomial: 0x82f63b78n },
  crc64nvme: { bits: 64, polynomial: 0x9a6c9329ac4bc9b5n },
};

export const isCombined = (algorithm: string): boolean => Object.hasOwn(POLYNOMIALS, algorithm);

type Combine = (first: Buffer, second: Buffer, secondBytes: number) => Buffer;

/** For many pieces in a row: most have the same length, for which the most work is done once. */
export function combine(algorithm: string): Combine {
  const field = POLYNOMIALS[algorithm];
  if (field === undefined) throw new Error(`${algorithm} cannot be combined`);
  const { bits, polynomial } = field;
  const top = 1n << BigInt(bits - 1);
  const times = (a: bigint, b: bigint): bigint => {
    let product = 0n;
    for (let bit = top; bit > 0n; bit >>= 1n) {
      if ((a & bit) !== 0n) product ^= b;
      b = (b & 1n) === 0n ? b >> 1n : (b >> 1n) ^ polynomial;
    }
    return product;
  };
  const shifts = new Map<number, bigint>();
  /** x to the power of 8 × bytes: appends this many zero bytes. */
  const shiftOf = (bytes: number): bigint => {
    const known = shifts.get(bytes);
    if (known !== undefined) return known;
    let power = top;
    let square = top >> 8n;
    for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) power = times(power, square);
      square = times(square, square);
    }
    shifts.clear();
    shifts.set(bytes, power);
    return power;
  };
  return (first, second, secondBytes) => {
    const joined = times(shiftOf(secondBytes), numberIn(first)) ^ numberIn(second);
    return Buffer.from(joined.toString(16).padStart(bits / 4, '0'), 'hex');
  };
}

const numberIn = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);
