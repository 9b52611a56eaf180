/**
 * What an operation can prove afterwards: the digest of its file, the identity of its servers, and how that was
 * checked.
 */
import type { Connection } from '../connections/connection.js';
import type { RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Remote, ServerProof } from '../remotes/remote.js';
import type { TransferType } from '../contract/transfer.js';
import type { ReceiptFacts, ReceiptSource, ServerIdentity } from '../storage/storage.js';
import type { DigestGap, Unverified } from '../contract/transfer.js';
import { ContentHash } from './content-hash.js';

/** Whether each kind of operation has a receipt after success, with digests switched on. */
export const HAS_RECEIPT: Readonly<Record<TransferType, boolean>> = {
  upload: true,
  download: true,
  read: true,
  write: true,
  append: true,
  copy: true,
  move: true,
  delete: true,
  // No file is transferred.
  mkdir: false,
  list: false,
  exists: false,
  poll: false,
  // The gateway does not know what a command has done.
  exec: false,
};
const STORING: ReadonlySet<TransferType> = new Set(['upload', 'write', 'append', 'copy', 'move']);
/** Nothing was stored, so nothing was compared. */
const UNSTORED: ReadonlySet<DigestGap> = new Set(['server_side_copy', 'server_side_move', 'earlier_try']);

interface Digest {
  readonly value: Buffer;
}

export class Evidence {
  readonly #connection: Connection;
  #isWanted: boolean;
  #hash: Digest | undefined;
  #read = 0;
  #why: DigestGap | undefined;
  #wasReadBack = false;
  #unseen: Unverified | undefined;
  #proof: ServerProof = {};
  /** The proof of the other remote, if two are used. */
  #sourceProof: ServerProof | undefined;
  #from: { readonly connection: Connection; readonly path: string } | undefined;
  #url: { readonly host: string; readonly proof: ServerProof } | undefined;
  #facts: Pick<ReceiptFacts, 'deleted' | 'movedTo' | 'paths'> = {};

  constructor(connection: Connection, isAsked: boolean) {
    this.#connection = connection;

    this.#isWanted = isAsked || connection.digests === 'always';
  }

  /**
   * A hash for all bytes of the file, from the first one, if their digest is wanted; the last hash that was created
   * counts.
   */
  hashing(): ContentHash | undefined {
    this.#why = undefined;
    const hash = this.#isWanted ? new ContentHash() : undefined;
    this.#hash = hash;
    return hash;
  }

  /** The operation itself wants the digest, not only its connection or this request. */
  ask(): void {
    this.#isWanted = true;
  }

  get isAsked(): boolean {
    return this.#isWanted;
  }

  /**
   * The digest was computed elsewhere, over all bytes of the file; `readBytes` of them were read back from the server.
   */
  taken(value: Buffer, readBytes: number): void {
    this.#why = undefined;
    this.#hash = this.#isWanted ? { value } : undefined;
    this.#read = readBytes;
  }

  /** Its bytes do not pass through the gateway, or not all of them. */
  undigested(why: DigestGap): void {
    this.#why = this.#isWanted ? why : undefined;
    this.#hash = undefined;
  }

  get digest(): Buffer | undefined {
    return this.#hash?.value;
  }

  /** Those of the digest. */
  get readBytes(): number | undefined {
    return this.#hash === undefined ? undefined : this.#read;
  }

  get gap(): DigestGap | undefined {
    return this.#why;
  }

  /** The stored bytes have been read again, and match what was sent. */
  readBack(): void {
    this.#wasReadBack = true;
  }

  /** The server has acknowledged the stored file, but does not show it. */
  unverified(why: Unverified): void {
    this.#unseen = why;
  }

  get whyUnverified(): Unverified | undefined {
    return this.#unseen;
  }

  /** Also if the connection that it reads from asks for it. */
  reads(source: Connection): void {
    this.#isWanted ||= source.digests === 'always';
  }

  /** The file that it copies or moves; of another connection if one is given. */
  readFrom(path: RemotePath, connection = this.#connection): void {
    this.reads(connection);
    this.#from = { connection, path: path.toWellFormed() };
  }

  /** Its server renames it, or did so in an earlier try. */
  moves(from: RemotePath, to: RemotePath): void {
    this.readFrom(from);
    this.undigested('server_side_move');
    this.#facts = { ...this.#facts, movedTo: to.toWellFormed() };
  }

  /** The server of a url; only its host is recorded, because the rest may be a secret. */
  fetchedFrom(host: string, proof: ServerProof): void {
    this.#url = { host, proof };
  }

  /** All paths of one request. */
  covers(paths: readonly RemotePath[]): void {
    this.#facts = { ...this.#facts, paths: paths.map((path) => path.toWellFormed()) };
  }

  /** The number of entries, including everything below the path. */
  deleted(entries: number): void {
    this.#facts = { ...this.#facts, deleted: entries };
  }

  /** Records the proofs of the servers. */
  async witness<R>(target: Remote, source: Remote | undefined, work: () => Promise<R>): Promise<R> {
    if (!this.#isWanted) return work();
    // A session may end with the work, and a store may prove its identity only during it.
    this.#see(target, source);
    const result = await work();
    this.#see(target, source);
    return result;
  }

  #see(target: Remote, source: Remote | undefined): void {
    this.#proof = target.proof;
    this.#sourceProof = source?.proof;
  }

  /** undefined if no receipt is wanted. */
  receiptOf(type: TransferType, remotes: Pick<Remotes, 'host'>): ReceiptFacts | undefined {
    if (!this.#isWanted || !HAS_RECEIPT[type]) return undefined;
    const factsOf = (connection: Connection, proof: ServerProof): ServerIdentity => ({
      type: connection.type,
      host: remotes.host(connection),
      ...proof,
    });
    const isStored = STORING.has(type) && (this.#why === undefined || !UNSTORED.has(this.#why));
    const source = this.#sourceOf(factsOf);
    return {
      ...factsOf(this.#connection, this.#proof),
      verified: this.#unseen !== undefined ? 'acknowledged' : this.#wasReadBack ? 'readback' : isStored ? 'size' : null,
      ...this.#facts,
      ...(source && { source }),
    };
  }

  #sourceOf(factsOf: (connection: Connection, proof: ServerProof) => ServerIdentity): ReceiptSource | undefined {
    const url = this.#url;
    const from = this.#from;
    if (url !== undefined) return { type: 'url', host: url.host, ...url.proof };
    if (from === undefined) return undefined;
    const { connection, path } = from;
    const proof = this.#sourceProof ?? (connection.id === this.#connection.id ? this.#proof : {});
    return { connectionId: connection.id, path, ...factsOf(connection, proof) };
  }
}
