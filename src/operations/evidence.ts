/** What an operation can prove of itself afterwards: the digest of its file, who its servers were, and how that was checked. */
import type { Connection } from '../connections/connection.js';
import type { RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { Remote, ServerProof } from '../remotes/remote.js';
import type { TransferType } from '../contract/transfer.js';
import type { ReceiptFacts, ReceiptSource, ServerFacts } from '../storage/storage.js';
import type { DigestGap, Unverified } from '../contract/transfer.js';
import { ContentHash } from './content-hash.js';

/** What each kind of operation has with digests on, where it succeeds. */
export const HAS_RECEIPT: Readonly<Record<TransferType, boolean>> = {
  upload: true,
  download: true,
  read: true,
  write: true,
  append: true,
  copy: true,
  move: true,
  delete: true,
  // No file goes anywhere.
  mkdir: false,
  list: false,
  exists: false,
  poll: false,
  // What a command has done the gateway does not know.
  exec: false,
};
const STORING: ReadonlySet<TransferType> = new Set(['upload', 'write', 'append', 'copy', 'move']);
/** Nothing has been stored, and so nothing compared. */
const UNSTORED: ReadonlySet<DigestGap> = new Set(['server_side_copy', 'server_side_move', 'earlier_try']);

interface Digest {
  readonly value: Buffer;
}

export class Evidence {
  private isWanted: boolean;
  private hash: Digest | undefined;
  private read = 0;
  private why: DigestGap | undefined;
  private wasReadBack = false;
  private unseen: Unverified | undefined;
  private proof: ServerProof = {};
  /** Of the other remote, where two are used. */
  private sourceProof: ServerProof | undefined;
  private from: { readonly connection: Connection; readonly path: string } | undefined;
  private url: { readonly host: string; readonly proof: ServerProof } | undefined;
  private told: Pick<ReceiptFacts, 'deleted' | 'movedTo' | 'paths'> = {};

  constructor(
    private readonly connection: Connection,
    isAsked: boolean,
  ) {
    this.isWanted = isAsked || connection.digests === 'always';
  }

  /** For all bytes of the file, from the first one, where their digest is wanted; the hash asked for last counts. */
  hashing(): ContentHash | undefined {
    this.why = undefined;
    const hash = this.isWanted ? new ContentHash() : undefined;
    this.hash = hash;
    return hash;
  }

  /** Whoever asks for it, and not only its connection and this request. */
  ask(): void {
    this.isWanted = true;
  }

  get isAsked(): boolean {
    return this.isWanted;
  }

  /** Taken elsewhere, of all bytes of the file; so many of them were read back from the server. */
  taken(value: Buffer, readBytes: number): void {
    this.why = undefined;
    this.hash = this.isWanted ? { value } : undefined;
    this.read = readBytes;
  }

  /** Its bytes do not pass, or not all of them. */
  undigested(why: DigestGap): void {
    this.why = this.isWanted ? why : undefined;
    this.hash = undefined;
  }

  get digest(): Buffer | undefined {
    return this.hash?.value;
  }

  /** Of the digest. */
  get readBytes(): number | undefined {
    return this.hash === undefined ? undefined : this.read;
  }

  get gap(): DigestGap | undefined {
    return this.why;
  }

  /** What was stored has been read again, and is what was sent. */
  readBack(): void {
    this.wasReadBack = true;
  }

  /** The server has acknowledged what was stored, and does not show it. */
  unverified(why: Unverified): void {
    this.unseen = why;
  }

  get whyUnverified(): Unverified | undefined {
    return this.unseen;
  }

  /** Also where the connection that it reads from says so. */
  reads(source: Connection): void {
    this.isWanted ||= source.digests === 'always';
  }

  /** The file that it copies or moves; of another connection where that is told. */
  readFrom(path: RemotePath, connection = this.connection): void {
    this.reads(connection);
    this.from = { connection, path: path.toWellFormed() };
  }

  /** Its server gives it another path, or had done so in an earlier try. */
  moves(from: RemotePath, to: RemotePath): void {
    this.readFrom(from);
    this.undigested('server_side_move');
    this.told = { ...this.told, movedTo: to.toWellFormed() };
  }

  /** The server of a url, of which no more is told than its host: the rest may be a secret. */
  fetchedFrom(host: string, proof: ServerProof): void {
    this.url = { host, proof };
  }

  /** All that was asked for at once. */
  covers(paths: readonly RemotePath[]): void {
    this.told = { ...this.told, paths: paths.map((path) => path.toWellFormed()) };
  }

  /** So many entries, with all below the path. */
  deleted(entries: number): void {
    this.told = { ...this.told, deleted: entries };
  }

  /** Notes what the servers prove themselves with. */
  async witness<R>(target: Remote, source: Remote | undefined, work: () => Promise<R>): Promise<R> {
    if (!this.isWanted) return work();
    // A session may end with the work, and a store prove itself only in it.
    this.see(target, source);
    const result = await work();
    this.see(target, source);
    return result;
  }

  private see(target: Remote, source: Remote | undefined): void {
    this.proof = target.proof;
    this.sourceProof = source?.proof;
  }

  /** undefined where nobody wants one. */
  receiptOf(type: TransferType, remotes: Pick<Remotes, 'host'>): ReceiptFacts | undefined {
    if (!this.isWanted || !HAS_RECEIPT[type]) return undefined;
    const factsOf = (connection: Connection, proof: ServerProof): ServerFacts => ({
      ...{ type: connection.type, host: remotes.host(connection), ...proof },
    });
    const isStored = STORING.has(type) && (this.why === undefined || !UNSTORED.has(this.why));
    const source = this.sourceOf(factsOf);
    return {
      ...factsOf(this.connection, this.proof),
      verified: this.unseen !== undefined ? 'acknowledged' : this.wasReadBack ? 'readback' : isStored ? 'size' : null,
      ...this.told,
      ...(source && { source }),
    };
  }

  private sourceOf(factsOf: (connection: Connection, proof: ServerProof) => ServerFacts): ReceiptSource | undefined {
    const { url, from } = this;
    if (url !== undefined) return { type: 'url', host: url.host, ...url.proof };
    if (from === undefined) return undefined;
    const { connection, path } = from;
    const proof = this.sourceProof ?? (connection.id === this.connection.id ? this.proof : {});
    return { connectionId: connection.id, path, ...factsOf(connection, proof) };
  }
}
