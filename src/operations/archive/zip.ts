/**
 * A streamed ZIP archive (APPNOTE.TXT 6.3.10): entries are stored, their checksum and size follow their bytes in a data
 * descriptor, and ZIP64 is used if something is too large for 32 bits. Names are UTF-8. Only an entry's record of the
 * central directory is kept in memory, some 60 bytes and its name; the records are also sent in pieces.
 */
import { crc32 } from 'node:zlib';
import { GatewayError } from '../../base/errors.js';

export interface ZipEntry {
  /** Relative, with slashes; the name of a folder ends with one. */
  readonly name: string;
  /** The epoch = unknown. */
  readonly modifiedAt: Date;
  /**
   * The content of a file. Undefined if it cannot be read: the file is left out. `chunks` are its bytes, even if its
   * server reports another size.
   */
  readonly open?: () => Promise<{ readonly reportedSize: number; readonly chunks: AsyncIterable<Buffer> } | undefined>;
}

/** `onGrown` gets the number of bytes of the central directory in memory. */
export async function* zipOf(
  entries: AsyncIterable<ZipEntry>,
  onGrown: (bytes: number) => void = () => undefined,
): AsyncGenerator<Buffer, void> {
  const directory = new Directory();
  let offset = 0;
  for await (const { name, modifiedAt, open } of entries) {
    const file = await open?.();
    if (open !== undefined && file === undefined) continue;
    const entry: Entry = {
      name: Buffer.from(name),
      modifiedAt,
      offset,
      isFolder: open === undefined,
      isWide: (file?.reportedSize ?? 0) >= LIMIT_32,
      size: 0,
      crc: 0,
    };
    const head = localHeader(entry);
    yield head;
    if (file !== undefined) {
      for await (const chunk of file.chunks) {
        entry.crc = crc32(chunk, entry.crc);
        entry.size += chunk.length;
        if (!entry.isWide && entry.size >= LIMIT_32) throw tooLongFor(name, file.reportedSize);
        yield chunk;
      }
      if (entry.size < file.reportedSize) throw tooShort(name, entry.size, file.reportedSize);
    }
    const tail = dataDescriptor(entry);
    yield tail;
    offset += head.length + entry.size + tail.length;
    directory.add(centralRecord(entry));
    onGrown(directory.bytes);
  }
  yield* directory.pages();
  yield endOf(directory, offset);
}

interface Entry {
  readonly name: Buffer;
  readonly modifiedAt: Date;
  /** The offset of its local header. */
  readonly offset: number;
  readonly isFolder: boolean;
  /** It has ZIP64's fields for its sizes; its local header must say so before the sizes are known. */
  readonly isWide: boolean;
  size: number;
  crc: number;
}

function tooShort(name: string, size: number, reportedSize: number): GatewayError {
  const text = `${name}: ${size} bytes came of the ${reportedSize} that its server reported`;
  return new GatewayError('size_mismatch', text, { step: 'transfer' });
}

function tooLongFor(name: string, reportedSize: number): GatewayError {
  const text = `${name} has more than the ${reportedSize} bytes that its server reported, and more than 4 GiB`;
  return new GatewayError('size_mismatch', text, { step: 'transfer' });
}

const LIMIT_16 = 0xffff;
const LIMIT_32 = 0xffffffff;
/** The version needed to unpack: for data descriptors and folders, or for ZIP64. */
const [VERSION, VERSION_ZIP64] = [20, 45];
const MADE_BY_UNIX = (3 << 8) | VERSION_ZIP64;
/** Sizes and checksum follow the bytes; names in UTF-8. */
const FLAGS = (1 << 3) | (1 << 11);
const STORED = 0;
const [FILE_MODE, FOLDER_MODE] = [0o100644, 0o040755];
const DOS_FOLDER = 0x10;

function localHeader(entry: Entry): Buffer {
  const { name } = entry;
  // The sizes are in the descriptor; with this field it has 8 bytes for each (4.3.9.2).
  const extra = Buffer.concat([...timeField(entry), ...(entry.isWide ? [zip64Field([0, 0])] : [])]);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(entry.isWide ? VERSION_ZIP64 : VERSION, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt16LE(STORED, 8);
  header.writeUInt32LE(dosTime(entry), 10);
  if (entry.isWide) header.fill(0xff, 18, 26);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

function dataDescriptor(entry: Entry): Buffer {
  const { size, crc } = entry;
  const descriptor = Buffer.alloc(entry.isWide ? 24 : 16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(crc, 4);
  if (entry.isWide) {
    descriptor.writeBigUInt64LE(BigInt(size), 8);
    descriptor.writeBigUInt64LE(BigInt(size), 16);
  } else {
    descriptor.writeUInt32LE(size, 8);
    descriptor.writeUInt32LE(size, 12);
  }
  return descriptor;
}

function centralRecord(entry: Entry): Buffer {
  const { name, size, crc, offset, isFolder } = entry;
  const isFar = offset >= LIMIT_32;
  const wide = [...(entry.isWide ? [size, size] : []), ...(isFar ? [offset] : [])];
  const extra = Buffer.concat([...timeField(entry), ...(wide.length > 0 ? [zip64Field(wide)] : [])]);
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(MADE_BY_UNIX, 4);
  record.writeUInt16LE(wide.length > 0 ? VERSION_ZIP64 : VERSION, 6);
  record.writeUInt16LE(FLAGS, 8);
  record.writeUInt16LE(STORED, 10);
  record.writeUInt32LE(dosTime(entry), 12);
  record.writeUInt32LE(crc, 16);
  record.writeUInt32LE(entry.isWide ? LIMIT_32 : size, 20);
  record.writeUInt32LE(entry.isWide ? LIMIT_32 : size, 24);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE((((isFolder ? FOLDER_MODE : FILE_MODE) << 16) | (isFolder ? DOS_FOLDER : 0)) >>> 0, 38);
  record.writeUInt32LE(Math.min(offset, LIMIT_32), 42);
  return Buffer.concat([record, name, extra]);
}

const DIRECTORY_PAGE = 64 * 1024;

/** Keeps records in few large pieces: many small ones would take more memory than their bytes. */
class Directory {
  readonly #full: Buffer[] = [];
  #page = Buffer.allocUnsafe(DIRECTORY_PAGE);
  #used = 0;
  #size = 0;
  entries = 0;

  /** Bytes of the records. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.#full.length * DIRECTORY_PAGE + DIRECTORY_PAGE;
  }

  /** Shorter than a page: a path has at most 4,096 bytes. */
  add(record: Buffer): void {
    if (this.#used + record.length > DIRECTORY_PAGE) {
      this.#full.push(this.#page.subarray(0, this.#used));
      this.#page = Buffer.allocUnsafe(DIRECTORY_PAGE);
      this.#used = 0;
    }
    this.#used += record.copy(this.#page, this.#used);
    this.#size += record.length;
    this.entries += 1;
  }

  *pages(): Generator<Buffer> {
    yield* this.#full;
    yield this.#page.subarray(0, this.#used);
  }
}

/** `offset`: where the directory begins. */
function endOf({ size, entries }: Directory, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries, LIMIT_16), 8);
  end.writeUInt16LE(Math.min(entries, LIMIT_16), 10);
  end.writeUInt32LE(Math.min(size, LIMIT_32), 12);
  end.writeUInt32LE(Math.min(offset, LIMIT_32), 16);
  if (entries < LIMIT_16 && size < LIMIT_32 && offset < LIMIT_32) return end;

  const wide = Buffer.alloc(56);
  wide.writeUInt32LE(0x06064b50, 0);
  wide.writeBigUInt64LE(BigInt(wide.length - 12), 4);
  wide.writeUInt16LE(MADE_BY_UNIX, 12);
  wide.writeUInt16LE(VERSION_ZIP64, 14);
  wide.writeBigUInt64LE(BigInt(entries), 24);
  wide.writeBigUInt64LE(BigInt(entries), 32);
  wide.writeBigUInt64LE(BigInt(size), 40);
  wide.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([wide, locator, end]);
}

/** ZIP64 extended information: the values that do not fit into their normal fields, in the order of those (4.5.3). */
function zip64Field(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(0x0001, 0);
  field.writeUInt16LE(8 * values.length, 2);
  values.forEach((value, index) => field.writeBigUInt64LE(BigInt(value), 4 + 8 * index));
  return field;
}

/** Extended timestamp: seconds in UTC. The older field has no time zone, and even seconds from 1980 on. */
function timeField({ modifiedAt }: Entry): Buffer[] {
  const seconds = Math.floor(modifiedAt.getTime() / 1_000);
  if (seconds === 0 || seconds !== (seconds | 0)) return [];
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x5455, 0);
  field.writeUInt16LE(5, 2);
  field.writeUInt8(1, 4);
  field.writeInt32LE(seconds, 5);
  return [field];
}

/** Time and date in the format of MS-DOS, in UTC. */
function dosTime({ modifiedAt }: Entry): number {
  const at = new Date(Math.min(Math.max(modifiedAt.getTime(), Date.UTC(1980, 0, 1)), Date.UTC(2107, 11, 31)));
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}
