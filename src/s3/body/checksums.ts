/** What a client promises of a body: Content-MD5 and the x-amz-checksum fields ("Checking object integrity"). */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { crc32 } from 'node:zlib';
import type { IHasher } from 'hash-wasm';
import { S3Error } from '../errors.js';

/** A checksum that is computed as the bytes pass. */
interface Sum {
  update(bytes: Buffer): void;
  /** In base64. Called once, after the last bytes. */
  value(): string;
}

const ALGORITHMS = {
  md5: { bytes: 16, open: () => Promise.resolve(digestOf('md5')) },
  sha1: { bytes: 20, open: () => Promise.resolve(digestOf('sha1')) },
  sha256: { bytes: 32, open: () => Promise.resolve(digestOf('sha256')) },
  crc32: { bytes: 4, open: () => Promise.resolve(crc32Sum()) },
  crc32c: { bytes: 4, open: async () => wasmSum(await openCrc32c()) },
  crc64nvme: { bytes: 8, open: async () => wasmSum(await openCrc64Nvme()) },
} as const;

type Algorithm = keyof typeof ALGORITHMS;

export const isAlgorithm = (name: string): boolean => name !== 'md5' && Object.hasOwn(ALGORITHMS, name);

const FIELD = /^x-amz-checksum-(sha1|sha256|crc32|crc32c|crc64nvme)$/;
/** Also one of an algorithm that is not known here. */
export const CHECKSUM = /^x-amz-checksum-(?!(?:type|algorithm|mode)$)/;

/** One promise about a body. */
export class Checksum {
  readonly #field: string;
  readonly #sum: Sum;
  readonly #bytes: number;
  #expected: string | undefined;
  /** Kept: the checksum is verified and then answered, and some hashers end with their first value. */
  #value: string | undefined;

  private constructor(field: string, sum: Sum, bytes: number) {
    this.#field = field;
    this.#sum = sum;
    this.#bytes = bytes;
  }

  /** `expected` absent: it comes in the trailer. @throws S3Error InvalidDigest, InvalidRequest */
  static async open(field: string, expected?: string): Promise<Checksum> {
    const algorithm = field === 'content-md5' ? 'md5' : (FIELD.exec(field)?.[1] as Algorithm | undefined);
    if (algorithm === undefined) throw new S3Error('InvalidRequest', `${field.slice(0, 60)} is not a known checksum`);
    const { bytes, open } = ALGORITHMS[algorithm];
    const checksum = new Checksum(field, await open(), bytes);
    if (expected !== undefined) checksum.expect(expected);
    return checksum;
  }

  get field(): string {
    return this.#field;
  }

  /** @throws S3Error InvalidDigest */
  expect(value: string): void {
    const bytes = Buffer.from(value, 'base64');
    if (bytes.length !== this.#bytes || bytes.toString('base64') !== value) {
      const code = this.#field === 'content-md5' ? 'InvalidDigest' : 'InvalidRequest';
      throw new S3Error(code, `${this.#field} must be ${this.#bytes} bytes in base64`);
    }
    this.#expected = value;
  }

  update(bytes: Buffer): void {
    this.#sum.update(bytes);
  }

  /** The value to be answered. @throws S3Error BadDigest */
  verify(): string {
    const value = this.value();
    if (value !== this.#expected) {
      throw new S3Error('BadDigest', `the body does not match its ${this.#field}`, 'digest_mismatch');
    }
    return value;
  }

  /** In base64. Call it after the last bytes. */
  value(): string {
    return (this.#value ??= this.#sum.value());
  }
}

/** The promises in the head of a request. `isOfObject`: its checksums are not those of the body. @throws S3Error */
export async function checksumsOf(headers: ReadonlyMap<string, string>, isOfObject: boolean): Promise<Checksum[]> {
  const fields = [...headers].filter(([name]) => name === 'content-md5' || (!isOfObject && CHECKSUM.test(name)));
  return Promise.all(fields.map(([name, value]) => Checksum.open(name, value)));
}

function digestOf(algorithm: 'md5' | 'sha1' | 'sha256'): Sum {
  const hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), value: () => hash.digest('base64') };
}

function crc32Sum(): Sum {
  let sum = 0;
  return {
    update: (bytes) => void (sum = crc32(bytes, sum)),
    value: () => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(sum);
      return bytes.toString('base64');
    },
  };
}

function wasmSum(hasher: IHasher): Sum {
  hasher.init();
  return {
    update: (bytes) => void hasher.update(bytes),
    value: () => Buffer.from(hasher.digest('binary')).toString('base64'),
  };
}

// Loaded when a client asks for one of these: most do not.
function openCrc32c(): Promise<IHasher> {
  const { createCRC32 } = createRequire(import.meta.url)('hash-wasm/dist/crc32.umd.min.js') as {
    createCRC32: (polynomial: number) => Promise<IHasher>;
  };
  return createCRC32(0x82f63b78);
}

function openCrc64Nvme(): Promise<IHasher> {
  const { createCRC64 } = createRequire(import.meta.url)('hash-wasm/dist/crc64.umd.min.js') as {
    createCRC64: (polynomial: string) => Promise<IHasher>;
  };
  return createCRC64('9a6c9329ac4bc9b5');
}
