/**
 * The seam between what the gateway does with files and how a protocol does it.
 *
 * A Remote is a connection's file tree opened on ONE lease; it lives as long as one operation and
 * has no state that two operations could race on. All paths are RemotePath. Every call and stream
 * obeys the operation's AbortSignal (RemoteContext.signal) and has its own deadline where a server
 * may never answer. Every error is a GatewayError, translated at the protocol's edge.
 */
import type { EndSignal } from '../base/ending.js';
import type { Readable, Writable } from 'node:stream';
import type { Hold } from '../budgets/memory.js';
import type { Unverified } from '../contract/transfer.js';
import type { KnownPlaces } from './known-places.js';
import type { Leftovers } from './leftovers.js';
import type { RemotePath } from './path.js';
import type { ServerSight } from './server-sight.js';

export interface FileInfo {
  readonly name: string;
  readonly path: RemotePath;
  /** Bytes; 0 for folders. */
  readonly size: number;
  readonly isDirectory: boolean;
  /** UTC. The epoch where the server keeps no time (an S3 folder). */
  readonly modifiedAt: Date;
  /**
   * The file's own time, where a store keeps it beside that of the upload (can.keepsTimes is 'metadata'): told by stat,
   * read, copyFrom and what writes, by no listing.
   */
  readonly keptModifiedAt?: Date;
  /** Of modifiedAt, where it counts in more than seconds. */
  readonly timeResolutionMs?: number;
  /** The store's own entity tag, unquoted, where it has one. */
  readonly etag?: string;
  /** The exact bytes of a name that is not UTF-8, base64; `name` then holds replacement characters. */
  readonly rawName?: string;
  /** Of a listing's entry: it is a symbolic link, or looks like one to this server. All else tells of what it leads to. */
  readonly isLink?: boolean;
}

/** What a server can do; learned per server where the protocol does not say. */
export interface Capabilities {
  /** What a plain move onto an existing file does: it is replaced, or refused, or nobody knows yet. */
  readonly moveOnto: 'replaces' | 'refuses' | 'unknown';
  /** commit({ exclusive: true }) never replaces, even in a race with another client. */
  readonly exclusiveCreate: boolean;
  /** A file can be read while a writer of the same Remote is open. */
  readonly readsWhileWriting: boolean;
  /** Resolution of modifiedAt in listings. */
  readonly timeResolutionMs: number;
  /** And of what stat() has just told. */
  readonly statTimeResolutionMs: number;
  /**
   * What becomes of a time that a file is written with (Commit.modifiedAt): it is its modifiedAt, in listings too; its
   * keptModifiedAt; or is lost. Known from what the server announces, and from what stood there the last time.
   */
  readonly keepsTimes: 'listed' | 'metadata' | 'no';
  /** Calls of one Remote that may be under way at once. With 1, a listing has to be read to its end before the next call. */
  readonly callsAtOnce: number;
  /**
   * A listing that ends early, at the end of a line, may look whole: nothing that authenticates its end comes with it (plain
   * FTP). Two listings together are then more trustworthy than one.
   */
  readonly listingsMayEndEarly?: true;
  /** list() tells names in code-point order, a folder's as if a slash stood behind it. */
  readonly listsInOrder?: true;
  /** A folder of a listing may be a link to one. */
  readonly mayHideLinks?: true;
}

export type ServerFacts = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** First and last byte, both inclusive (RFC 9110, 14.1.2), within the file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Sees the file's facts and may choose a range, or throw; undefined = everything. */
export type SelectRange = (info: FileInfo) => ByteRange | undefined;

interface Opened {
  /** As the server reports it; where `whole` is the whole file, its size is that of the content. */
  readonly info: FileInfo;
  /** The bytes that follow: the range, or the whole file. */
  readonly range: ByteRange | undefined;
}

interface OpenStream extends Opened {
  /**
   * A range: ends only after exactly its bytes. The whole file: ends only where the server has no more of it, which is not
   * before info.size and may be behind it; whoever has announced a length has to look. A remote failure, a file that
   * shrinks meanwhile, or a range up to the end of a file that turns out to go on, destroys it with a GatewayError.
   * Destroying it frees the remote's handle.
   */
  readonly body: Readable;
  readonly whole?: undefined;
  /**
   * Once more than info.size came: whether the server reports by now that the file has grown since it was opened. The body
   * may end with it. Absent where files do not change.
   */
  readonly hasGrown?: () => Promise<boolean>;
}

/** At most WHOLE_BYTES, where they came along with the file's facts: nothing is open on the server any more. */
interface OpenWhole extends Opened {
  readonly whole: Buffer;
  readonly body?: undefined;
}

/** `streamOf` makes one form of the two. */
export type OpenFile = OpenStream | OpenWhole;

/** Up to this many bytes a file may travel in one piece, in either direction: streams would cost more than the protocol. */
export const WHOLE_BYTES = 64 * 1024;

export interface WriteOptions {
  /** Bytes to come, when known. */
  readonly size?: number | undefined;
  /** The final name may still change at commit (its field stands behind the content): nothing may appear at `path`. */
  readonly provisional?: boolean;
  /** `path` is a name of Leftovers.temporaryName already: the bytes go there at once, whatever the connection says. */
  readonly isHidden?: boolean;
  /** Known already that commit() will ask for `exclusive`: S3 takes that condition only at the start of an upload. */
  readonly exclusive?: boolean;
  /** And for this time: S3 takes it only at the start of an upload. */
  readonly modifiedAt?: Date | undefined;
  /** commit() will be given a `check`: S3 needs a place to read from that is not the final one. */
  readonly isChecked?: boolean | undefined;
}

export interface Commit {
  /** Bytes that must stand on the remote; a mismatch is size_mismatch and nothing is replaced. */
  readonly size: number;
  /** The final path, when it differs from the one that was opened (only with `provisional`). */
  readonly path?: RemotePath;
  /** Refuse with already_exists instead of replacing. Race-free where `can.exclusiveCreate`. */
  readonly exclusive?: boolean;
  /**
   * The time that the file is to have from the moment it is visible; isWritableTime. A server that keeps none is no error:
   * the FileInfo tells what stands there.
   */
  readonly modifiedAt?: Date | undefined;
  /**
   * Told of what stands on the server, complete and of the right size, before it gets its name (written in place: it has
   * taken that already). Throws where that is not what was to be stored: then nothing is replaced.
   */
  readonly check?: ((open: () => Promise<OpenFile>) => Promise<void>) | undefined;
}

/**
 * Bytes in; nothing is visible at the final path before `commit`. Used with `pipeline`; `end()` does not publish.
 * write() answers false beyond the writer's own byte budget; memory stays bounded.
 */
export interface RemoteWriter extends Writable {
  /**
   * After the stream has finished: close, compare the size, publish. Missing target folders are made.
   * Errors: size_mismatch, already_exists, is_a_folder, permission_denied, no_space, connection_lost, remote_failure.
   * After a failed commit the former file stands and abort() still has to be called. A file that the server has
   * acknowledged and that nobody may look at, or that is gone at once, is no error: RemoteContext.unverified is told.
   */
  commit(expected: Commit): Promise<FileInfo>;
  /** Leaves nothing behind. Idempotent, allowed at any time, never throws; after commit it does nothing. */
  abort(cause: Error): Promise<void>;
}

/** A file that is here whole. */
export interface PutOptions extends Pick<Commit, 'exclusive' | 'modifiedAt' | 'check'> {
  /** Told before the first byte leaves: the work must not run a second time. Never throws. */
  readonly opened?: () => void;
  /** Told when all bytes have left. Never throws. */
  readonly sent?: () => void;
}

/** Of the file that is meant: another one is left alone, with already_exists, where the store can tell them apart. */
export interface Expected {
  readonly etag?: string;
}

export interface RemoveOptions extends Expected {
  /** The session that wrote it is gone, and the server may still have some of its bytes in hand. */
  readonly isLeftover?: boolean;
}

export interface CopyOptions {
  readonly exclusive: boolean;
  readonly modifiedAt?: Date | undefined;
}

export interface MoveOptions extends Expected {
  /** Replace an existing file at the target; otherwise already_exists. */
  readonly replace: boolean;
}

export interface ListOptions {
  /** false: a link is listed as the entry that it is, a file with `isLink`, and broken ones are too. */
  readonly followLinks?: boolean;
  /** S3: a request for each of the folders, where only the marker objects have a time; else they have none. */
  readonly folderTimes?: boolean;
  /** Only what stands behind this name need be told: a store that can begin there does, others tell everything. */
  readonly after?: string;
  /** Called for each entry that the server lists and list() does not yield. Without it the listing is not known to be complete. */
  readonly leftOut?: (what: LeftOut) => Promise<void>;
}

/** An entry of a server's listing that list() does not yield. */
export interface LeftOut {
  /** undefined where what the server sent shows no name. It may then be any name of the folder. */
  readonly name: Buffer | undefined;
  /** Where the server says so. An unreadable entry may be a folder all the same. */
  readonly isDirectory: boolean;
  /** It has a name that no client could address, is a link that leads nowhere, or is in a form that the gateway cannot read. */
  readonly why: 'name' | 'link' | 'unreadable';
  /** What the server sent, shortened; present where `name` is undefined. */
  readonly line?: string;
}

export interface ListTreeOptions {
  /** A path below the folder, with a slash at its end where it is a folder: only what stands behind it need be told. */
  readonly after?: string;
  /** As of list(); the name is what lies below the folder. */
  readonly leftOut?: ListOptions['leftOut'];
}

export interface ExecOptions {
  readonly timeoutMs: number;
  /** For stdout and stderr together; beyond: too_large, and the command is killed. */
  readonly maxOutputBytes: number;
  /** Sees the bytes of both grow, before they are kept; what it throws ends the command. */
  readonly onOutput?: (bytes: number) => void;
}

export interface ExecResult {
  /** 128 + the signal's number when a signal ended the command. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/*
 * A file that comes in pieces, each on whatever session, node and day: its bytes go to a hidden name, or a store's multipart
 * upload, that no process owns. Whoever has a `PiecedFile` goes on with it, publishes it or takes it away.
 */

/** What is kept of a part of it that a store has taken: S3 alone has such. */
export interface StoredPart {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  /** As the store wants it told again. */
  readonly checksum: string | null;
}

/** Too short to be a part as yet: it stands as an object of its own. */
export interface StoredTail {
  /** Of those objects. */
  readonly slot: number;
  /** The number of the part that will hold it. */
  readonly part: number;
  /** Where in that part it begins. */
  readonly start: number;
  readonly size: number;
}

/** The parts of a file, kept beside it. */
export interface PartJournal {
  /** In the order of their numbers. */
  parts(): Promise<readonly StoredPart[]>;
  /** The last of each slot, whether or not it counts any more. */
  tails(): Promise<readonly StoredTail[]>;
  /** Resolves when they are durable. One of the same number takes the place of the former. */
  add(parts: readonly StoredPart[]): Promise<void>;
  /** Resolves when it is durable. It takes the place of the former one of its slot. */
  keep(tail: StoredTail): Promise<void>;
}

export interface PiecedFile {
  /** Where it belongs. */
  readonly path: RemotePath;
  /** Its hidden name, in the same folder. */
  readonly hidden: RemotePath;
  /** What begin() has said of it: the name that a store gave it, or how the server goes on in it. */
  readonly storeId: string;
  /** Bytes in all, once known. */
  readonly length: number | undefined;
  readonly journal: PartJournal;
}

export interface Standing {
  /** Bytes that were told to stand. */
  readonly offset: number;
  /** What stands behind them was not compared with what was sent, and is not to be counted. */
  readonly isUnproven: boolean;
}

export interface Settled {
  /** Bytes of the file that stand now. */
  readonly offset: number;
  /** Nothing else stands behind them. */
  readonly isClean: boolean;
}

/** Takes bytes as a RemoteWriter does, and leaves what it took where it is. */
export interface PieceWriter extends Writable {
  /** While it writes: bytes of the file that are sure to stand, whatever the server tells of its size later. */
  readonly safeOffset: number;
  /**
   * Once, after the last write, whether or not `end` was called: waits for what is on its way. `keep`: the bytes of this
   * piece count; else they are taken back, as far as the server can. Rejects when nobody knows what stands.
   */
  settle(keep: boolean): Promise<Settled>;
}

/** The digest of a file while it comes. */
export interface RunningHash {
  update(bytes: Buffer): void;
  /** Where it is now it can be gone on with later: what was passed on so far may turn out to be all that stands. */
  keep(): void;
}

/** How the bytes of a piece are taken. */
export interface PieceOptions {
  /** Else none of them is to count before settle(true), even after a crash. */
  readonly isProven: boolean;
  /** Sees what the writer takes, in order. Where nothing can be read back it is told to keep where each part ends. */
  readonly hash?: RunningHash | undefined;
}

export interface BeginOptions {
  readonly modifiedAt: Date | undefined;
  /** publish() will be given a `check`. */
  readonly isChecked: boolean;
}

export interface PieceCommit extends Omit<Commit, 'path'> {
  /** Somebody has tried before, and nobody saw how that ended: where it is done already, that is told. */
  readonly isAgain: boolean;
}

export interface Pieces {
  /** What stands under the hidden name can be read before it is published. */
  readonly canBeRead: boolean;
  /**
   * Makes its hidden beginning, and missing folders. Resolves with the `storeId`. Errors: resume_unsupported where the server
   * cannot go on in a file; those of write().
   */
  begin(file: Omit<PiecedFile, 'storeId' | 'journal'>, options: BeginOptions): Promise<string>;
  /** How much of it stands when its last writer has died; undefined = nothing of it is there any more. */
  measure(file: PiecedFile, told: Standing): Promise<number | undefined>;
  /** Takes bytes from `from.offset` on; what stands behind it makes way. */
  resume(file: PiecedFile, from: Standing, options: PieceOptions): Promise<PieceWriter>;
  /** All of its bytes stand. Errors: those of RemoteWriter.commit. */
  publish(file: PiecedFile, commit: PieceCommit): Promise<FileInfo>;
  /** Leaves nothing behind; one that is gone is no error. */
  discard(file: PiecedFile): Promise<void>;
}

/** Fingerprint of its host key (SHA256:…), or the SHA-256 of its certificate in hexadecimal. */
export interface ServerProof {
  readonly hostKey?: string;
  readonly certificate?: string;
}

export interface Remote {
  readonly can: Capabilities;
  /** What is known of the server, for people to read: its software, extensions, limits. Complete after the first request. */
  readonly facts: ServerFacts;
  /** What the server of the session has proven itself with; empty where it did not have to. */
  readonly proof: ServerProof;
  /** One small request that any login may make, with a deadline of its own; what it shows costs no other. */
  look(): Promise<ServerSight>;
  /** The login folder, seen from the connection's root; "/" where it lies outside or the store has none. */
  home(): Promise<RemotePath>;
  /** Follows symbolic links. not_found when absent; folders too. */
  stat(path: RemotePath): Promise<FileInfo>;
  /** One level, streamed, unsorted, without "." and "..". not_found, not_a_folder. */
  list(folder: RemotePath, options?: ListOptions): AsyncIterable<FileInfo>;
  /**
   * Everything below a folder in one listing, where the store can: by path in code-point order, a folder as if a slash
   * stood behind it, and all below it following it. Errors: those of list().
   */
  listTree?(folder: RemotePath, options?: ListTreeOptions): AsyncIterable<FileInfo>;
  /**
   * Opens a file. A protocol that can open without asking first calls `select` only when given; its bad_range counts only
   * where the file ends at its reported size. A file that goes on behind it is opened whole, whatever was chosen; one that
   * has grown meanwhile is chosen from again. not_found, is_a_folder, permission_denied.
   */
  read(path: RemotePath, select?: SelectRange): Promise<OpenFile>;
  /** Opens a writer for a file that is to be created or replaced. Missing folders are made. */
  write(path: RemotePath, options: WriteOptions): Promise<RemoteWriter>;
  /**
   * What write(), end() and commit() do for these bytes, at most WHOLE_BYTES, in fewer steps; absent where there are no
   * fewer. Errors: theirs. Whatever it rejects with, the former file stands and nothing is left behind, as after abort().
   * Asked for by `putWhole`.
   */
  put?(path: RemotePath, bytes: Buffer, options: PutOptions): Promise<FileInfo>;
  /**
   * Appends to an existing file; absent where the store cannot. commit({ size }) takes the appended bytes. undefined where
   * this server would lose what stands in the file, or writes nowhere but at its beginning. not_found, is_a_folder.
   */
  append?(path: RemotePath): Promise<RemoteWriter | undefined>;
  /** Files that come in pieces; absent where the protocol knows none. */
  readonly pieces?: Pieces;
  /** Files and folders. Makes missing target folders. not_found, already_exists, is_a_folder. */
  move(from: RemotePath, to: RemotePath, options: MoveOptions): Promise<FileInfo>;
  /** Files, and links whatever they lead to. not_found; is_a_folder. */
  remove(path: RemotePath, options?: RemoveOptions): Promise<void>;
  /**
   * A folder with nothing in it; a link to one is none. not_found; not_a_folder; not_empty; bad_path for the root. S3: the
   * folder's marker, without which an empty folder is gone by itself, and not_found.
   */
  removeFolder(path: RemotePath): Promise<void>;
  /**
   * A folder with all below it, where the store can in fewer requests than one for each entry; `removed` is told of entries
   * that are gone. not_found; not_a_folder; not_empty where names are in the way that nobody can address.
   */
  removeTree?(folder: RemotePath, removed: (entries: number) => void): Promise<void>;
  /**
   * With parents; a race with another maker is no error. `isLasting`: one that is there for what lies in it alone stays when
   * all of that goes. not_a_folder when a file stands there.
   */
  makeFolder(path: RemotePath, options?: { readonly isLasting?: boolean }): Promise<{ readonly created: boolean }>;
  /**
   * Copy inside the store, without moving bytes through the gateway; undefined where `source` is not in reach of it. The
   * copy has the source's own time, unless it is given another.
   */
  copyFrom?(source: Remote, from: RemotePath, to: RemotePath, options: CopyOptions): Promise<FileInfo | undefined>;
  /** Takes away a multipart upload that a dead operation left open (Leftovers.expectMultipart); a gone one is no error. */
  abortMultipart?(path: RemotePath, uploadId: string): Promise<void>;
  /** Only where the protocol has a shell. command_timeout, too_large, unsupported_operation. */
  exec?(command: string, options: ExecOptions): Promise<ExecResult>;
}

/** What an operation hands to the Remote that is opened for it. */
export interface RemoteContext {
  /** Ends everything: the client left, the gateway drains, a deadline passed. `reason` is a GatewayError. */
  readonly signal: AbortSignal;
  /** The same, where a wait needs no AbortSignal: none is made then. */
  readonly ending?: EndSignal;
  readonly leftovers: Leftovers;
  /** From now on this stage runs. A protocol tells of `rename` alone; the others are seen from outside of it. Never throws. */
  readonly mark?: Mark | undefined;
  /**
   * Told before the one request that puts a file in its place or takes it away. Cut then, nobody could tell whether it was
   * done: from here on `signal` does not fire any more, and the protocol's own deadlines end what hangs. Throws what
   * `signal` has fired with before.
   */
  readonly irrevocable?: (() => void) | undefined;
  /** Called with the reason where a file counts as stored that could not be looked at. Never throws. */
  readonly unverified?: ((why: Unverified) => void) | undefined;
  /** For what a stream keeps in memory of its own accord: windows, parts. Without room it makes do with less. */
  readonly hold?: () => Hold;
  /** What its batch knows already of where its files go. */
  readonly places?: KnownPlaces | undefined;
}

/**
 * What the time of an operation goes to: fetching the url of an upload, waiting for a session, opening one (connect,
 * auth), opening the file, moving bytes (or the work itself, where none move), closing and measuring, putting the file in
 * its place (S3: completing the object), and making the history item durable.
 */
export type Stage = 'fetch' | 'queue' | 'connect' | 'auth' | 'open' | 'transfer' | 'verify' | 'rename' | 'record';

/** `at`: its begin on the clock of performance.now(), not before that of the stage before it; absent = now. */
export type Mark = (stage: Stage, at?: number) => void;
