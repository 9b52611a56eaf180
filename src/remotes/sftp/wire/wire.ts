/**
 * SFTP version 3 on the wire (draft-ietf-secsh-filexfer-02): encodes requests, decodes replies.
 * ssh2's own client is not used, because it decodes every file name as UTF-8 (the bytes of others are lost), splits big
 * reads and writes one after the other, and never calls back once its channel has closed.
 */
export const REQUEST = {
  INIT: 1,
  OPEN: 3,
  CLOSE: 4,
  READ: 5,
  WRITE: 6,
  LSTAT: 7,
  FSTAT: 8,
  SETSTAT: 9,
  FSETSTAT: 10,
  OPENDIR: 11,
  READDIR: 12,
  REMOVE: 13,
  MKDIR: 14,
  RMDIR: 15,
  REALPATH: 16,
  STAT: 17,
  RENAME: 18,
  EXTENDED: 200,
} as const;

export const REPLY = { VERSION: 2, STATUS: 101, HANDLE: 102, DATA: 103, NAME: 104, ATTRS: 105, EXTENDED: 201 } as const;

/** Flags of OPEN. */
export const OPEN = { READ: 0x01, WRITE: 0x02, CREATE: 0x08, TRUNCATE: 0x10, EXCLUSIVE: 0x20 } as const;

const ATTRIBUTE = { SIZE: 0x1, OWNER: 0x2, PERMISSIONS: 0x4, TIMES: 0x8, EXTENDED: 0x80000000 } as const;
const FILE_TYPE = { MASK: 0o170000, FOLDER: 0o040000, LINK: 0o120000 } as const;

/** The server sent something that is not an SFTP packet; later data on the channel cannot be trusted. */
export class MalformedReply extends Error {}

/** What a server reports about a file; each field may be missing. */
export interface Attributes {
  readonly size: number | undefined;
  readonly isFolder: boolean;
  readonly isLink: boolean;
  readonly modifiedAt: Date;
  /** The server reported the kind of entry: the permissions have type bits. */
  readonly hasType: boolean;
  /** Permissions with the kind of entry; 0 or absent if the server reported none. */
  readonly mode?: number;
  /** Numbers of the owner and the group, if the server reported them. */
  readonly owner?: number | undefined;
  readonly group?: number | undefined;
}

export interface NameEntry {
  readonly rawName: Buffer;
  readonly attributes: Attributes;
}

/**
 * Encodes one request: a number is a uint32, a buffer a string with its length before it. `dataBytes` are announced as
 * the last string, and the caller sends them right after.
 */
export function encodeRequest(
  type: number,
  id: number | undefined,
  fields: readonly (Buffer | number)[],
  dataBytes?: number,
): Buffer {
  let length = 1 + (id === undefined ? 0 : 4) + (dataBytes === undefined ? 0 : 4);
  for (const field of fields) length += typeof field === 'number' ? 4 : 4 + field.length;
  const packet = Buffer.allocUnsafe(4 + length);
  let at = packet.writeUInt32BE(length + (dataBytes ?? 0), 0);
  at = packet.writeUInt8(type, at);
  if (id !== undefined) at = packet.writeUInt32BE(id, at);
  for (const field of fields) {
    if (typeof field === 'number') {
      at = packet.writeUInt32BE(field >>> 0, at);
    } else {
      at = packet.writeUInt32BE(field.length, at);
      at += field.copy(packet, at);
    }
  }
  if (dataBytes !== undefined) packet.writeUInt32BE(dataBytes, at);
  return packet;
}

const TWO_32 = 2 ** 32;
/** A uint64 as the two uint32 fields of a request. */
export const uint64 = (value: number): [high: number, low: number] => [Math.floor(value / TWO_32), value % TWO_32];

/** FSETSTAT's attributes for the size only. */
export const sizeAttribute = (size: number): number[] => [ATTRIBUTE.SIZE, ...uint64(size)];

/** SETSTAT's and FSETSTAT's attributes for the times only; the time of the last access is not used. */
export function timeAttributes(modifiedAt: Date): number[] {
  const seconds = Math.floor(modifiedAt.getTime() / 1000);
  return [ATTRIBUTE.TIMES, seconds, seconds];
}

/** The attributes of OPEN, MKDIR, SETSTAT and FSETSTAT for the permissions only; without any, none. */
export const modeAttribute = (mode: number | undefined): number[] =>
  mode === undefined ? [0] : [ATTRIBUTE.PERMISSIONS, mode];

/** Reads the fields of one reply; a missing field throws MalformedReply. */
export class ReplyReader {
  readonly type: number;
  #at: number;
  readonly #packet: Buffer;

  constructor(packet: Buffer, at = 1) {
    this.#packet = packet;
    this.#at = at;
    this.type = packet[0] ?? 0;
  }

  get hasMore(): boolean {
    return this.#at < this.#packet.length;
  }

  uint32(): number {
    return this.#packet.readUInt32BE(this.#skip(4));
  }

  uint64(): number {
    return this.uint32() * TWO_32 + this.uint32();
  }

  /** A view of the packet, not a copy. */
  string(): Buffer {
    const length = this.uint32();
    const start = this.#skip(length);
    return this.#packet.subarray(start, start + length);
  }

  attributes(): Attributes {
    const flags = this.uint32();
    const size = (flags & ATTRIBUTE.SIZE) === 0 ? undefined : this.uint64();
    const hasOwner = (flags & ATTRIBUTE.OWNER) !== 0;
    const owner = hasOwner ? this.uint32() : undefined;
    const group = hasOwner ? this.uint32() : undefined;
    const mode = (flags & ATTRIBUTE.PERMISSIONS) === 0 ? 0 : this.uint32();
    let modifiedSeconds = 0;
    if ((flags & ATTRIBUTE.TIMES) !== 0) {
      this.#skip(4);
      modifiedSeconds = this.uint32();
    }
    if ((flags & ATTRIBUTE.EXTENDED) !== 0) {
      for (let pairs = this.uint32(); pairs > 0; pairs -= 1) {
        this.string();
        this.string();
      }
    }
    const type = mode & FILE_TYPE.MASK;
    return {
      size,
      isFolder: type === FILE_TYPE.FOLDER,
      isLink: type === FILE_TYPE.LINK,
      modifiedAt: new Date(modifiedSeconds * 1000),
      hasType: type !== 0,
      mode,
      owner,
      group,
    };
  }

  names(): Names {
    const start = this.#at;
    const count = this.uint32();
    for (let left = count; left > 0; left -= 1) this.#skipName();
    return new Names(new ReplyReader(this.#packet, start), count);
  }

  name(): NameEntry {
    const rawName = this.string();
    this.#skip(this.uint32()); // See longNameOf.
    return { rawName, attributes: this.attributes() };
  }

  /** Skips the fields of `name`, without an object for any of them. */
  #skipName(): void {
    this.#skip(this.uint32());
    this.#skip(this.uint32());
    const flags = this.uint32();
    if ((flags & ATTRIBUTE.SIZE) !== 0) this.#skip(8);
    if ((flags & ATTRIBUTE.OWNER) !== 0) this.#skip(8);
    if ((flags & ATTRIBUTE.PERMISSIONS) !== 0) this.#skip(4);
    if ((flags & ATTRIBUTE.TIMES) !== 0) this.#skip(8);
    if ((flags & ATTRIBUTE.EXTENDED) !== 0) {
      for (let strings = 2 * this.uint32(); strings > 0; strings -= 1) this.#skip(this.uint32());
    }
  }

  #skip(bytes: number): number {
    const start = this.#at;
    if (start + bytes > this.#packet.length) throw new MalformedReply('an SFTP reply ends in the middle of a field');
    this.#at = start + bytes;
    return start;
  }
}

/**
 * The names of a reply whose form has been checked. They stay in the packet until they are read, once: a listing that
 * waits holds few objects, which would otherwise move to the old part of the heap with every waiting batch.
 */
export class Names implements Iterable<NameEntry> {
  readonly #reader: ReplyReader;

  constructor(
    reader: ReplyReader,
    readonly length: number,
  ) {
    this.#reader = reader;
    reader.uint32();
  }

  *[Symbol.iterator](): Generator<NameEntry, void> {
    for (let left = this.length; left > 0; left -= 1) yield this.#reader.name();
  }
}

/** An `ls -l` line for people, which follows the name in the packet. Its format differs by server. */
export function longNameOf({ rawName }: NameEntry): string {
  const { buffer, byteOffset, length } = rawName;
  const behind = Buffer.from(buffer, byteOffset + length);
  return behind.toString('utf8', 4, 4 + Math.min(behind.readUInt32BE(), LONGEST_LINE));
}

/** Owner and group are before the name of the file. */
const LONGEST_LINE = 200;

/** Cuts the byte stream of a channel into packets. A packet that arrived in one piece is passed on without a copy. */
export class PacketAssembler {
  readonly #maxBytes: number;
  readonly #onPacket: (packet: Buffer) => void;
  readonly #head = Buffer.alloc(4);
  #headBytes = 0;
  #packet: Buffer | undefined;
  #packetBytes = 0;

  constructor(maxBytes: number, onPacket: (packet: Buffer) => void) {
    this.#maxBytes = maxBytes;
    this.#onPacket = onPacket;
  }

  /** Throws MalformedReply if the stream is not SFTP. */
  feed(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#packet !== undefined) {
        const copied = bytes.copy(this.#packet, this.#packetBytes, at);
        at += copied;
        this.#packetBytes += copied;
        if (this.#packetBytes === this.#packet.length) this.#deliver(this.#packet);
        continue;
      }
      const missing = 4 - this.#headBytes;
      this.#headBytes += bytes.copy(this.#head, this.#headBytes, at, Math.min(at + missing, bytes.length));
      at = Math.min(at + missing, bytes.length);
      if (this.#headBytes < 4) return;
      const length = this.#head.readUInt32BE(0);
      if (length < 1 || length > this.#maxBytes) {
        throw new MalformedReply(
          `the server sent ${printable(this.#head, bytes.subarray(at))} where SFTP was expected`,
        );
      }
      if (bytes.length - at >= length) {
        const packet = bytes.subarray(at, at + length);
        at += length;
        this.#deliver(packet);
      } else {
        this.#packet = Buffer.allocUnsafe(length);
        this.#packetBytes = 0;
      }
    }
  }

  #deliver(packet: Buffer): void {
    this.#headBytes = 0;
    this.#packet = undefined;
    this.#onPacket(packet);
  }
}

/** Login scripts that print are the usual cause, so their text is the best help. */
function printable(...parts: Buffer[]): string {
  const text = Buffer.concat(parts).toString('latin1', 0, 120);
  return /^[\x20-\x7e\r\n\t]+$/.test(text) ? `the text "${text.trim()}"` : 'a packet of impossible length';
}
