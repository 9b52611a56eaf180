/**
 * The seam between what the gateway does with files and how a protocol does it.
 *
 * A Remote is the file tree of a connection, opened on ONE lease. It lives as long as one operation and has no state
 * that two operations could race on. All paths are RemotePath. Every call and stream obeys the operation's AbortSignal
 * (RemoteContext.signal) and has its own deadline if a server may never answer. Every error is a GatewayError,
 * translated at the protocol's edge.
 */
import type { EndSignal } from '../base/ending.js';
import type { Readable, Writable } from 'node:stream';
import type { Hold } from '../budgets/memory.js';
import type { Unverified } from '../contract/transfer.js';
import type { PartLayout } from '../contract/upload.js';
import type { KnownPlaces } from './known-places.js';
import type { Leftovers } from './leftovers.js';
import type { RemotePath } from './path.js';
import type { ProbeResult } from './probe-result.js';

/** Who may use a file, as far as the server reports it. */
export interface Rights {
  /** The permission bits, without the kind of file. */
  readonly mode?: number | undefined;
  /** A name, or a number if the server reports no name. */
  readonly owner?: string | undefined;
  readonly group?: string | undefined;
}

export interface FileInfo extends Rights {
  readonly name: string;
  readonly path: RemotePath;
  /** Bytes; 0 for folders. */
  readonly size: number;
  readonly isDirectory: boolean;
  /** UTC; the epoch if the server keeps no time (an S3 folder). */
  readonly modifiedAt: Date;
  /**
   * The file's own time, if a store keeps it beside the time of the upload (can.keepsTimes is 'metadata'): returned by
   * stat, read, copyFrom and the calls that write, but not by listings.
   */
  readonly keptModifiedAt?: Date;
  /** The resolution of modifiedAt, if it is coarser than seconds. */
  readonly timeResolutionMs?: number;
  /** The store's own entity tag, unquoted, if it has one. */
  readonly etag?: string;
  /** The exact bytes of a name that is not UTF-8, base64; `name` then holds replacement characters. */
  readonly rawName?: string;
  /**
   * In a listing: the entry is a symbolic link, or looks like one to this server. All other fields describe its target.
   */
  readonly isLink?: boolean;
}

/** What a server can do; learned per server if the protocol does not define it. */
export interface Capabilities {
  /** The effect of a plain move onto an existing file: it is replaced, or refused, or not known yet. */
  readonly moveOnto: 'replaces' | 'refuses' | 'unknown';
  /** commit({ exclusive: true }) never replaces, even in a race with another client. */
  readonly exclusiveCreate: boolean;
  /** A file can be read while a writer of the same Remote is open. */
  readonly readsWhileWriting: boolean;
  /** Resolution of modifiedAt in listings. */
  readonly timeResolutionMs: number;
  /** Resolution of modifiedAt in answers of stat(). */
  readonly statTimeResolutionMs: number;
  /**
   * What becomes of the time that a file is written with (Commit.modifiedAt): it is the file's modifiedAt, even in
   * listings; its keptModifiedAt; or is lost. Known from what the server announces, and from the last file written with
   * a time.
   */
  readonly keepsTimes: 'listed' | 'metadata' | 'no';
  /** Calls of one Remote that may run at once. With 1, a listing must be read to its end before the next call. */
  readonly callsAtOnce: number;
  /**
   * A listing that ends early, at the end of a line, may look complete: nothing authenticates its end (plain FTP). Two
   * equal listings are then more trustworthy than one.
   */
  readonly listingsMayEndEarly?: true;
  /** list() returns names in code-point order; a folder sorts as if a slash followed its name. */
  readonly listsInOrder?: true;
  /** A folder in a listing may be a link to a folder. */
  readonly mayHideLinks?: true;
}

export type ServerFacts = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** First and last byte, both inclusive (RFC 9110, 14.1.2), within the file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Gets the file's facts and may choose a range, or throw; undefined = everything. */
export interface SelectRange {
  (info: FileInfo): ByteRange | undefined;
  /** It throws or reads everything, so no range has to be prepared. */
  readonly isCheck?: boolean;
  /** What it chooses in a file that is long enough, and that it does not refuse. */
  readonly likely?: LikelyRange | undefined;
}

/** A range of a file whose size is not known yet: from `start` on, to `end` or the end of the file, or its last bytes. */
export type LikelyRange = { readonly start: number; readonly end?: number } | { readonly last: number };

interface Opened {
  /** As the server reports it; if `whole` is the whole file, its size is that of the content. */
  readonly info: FileInfo;
  /** The bytes of `body` or `whole`: the range, or undefined for the whole file. */
  readonly range: ByteRange | undefined;
}

interface OpenStream extends Opened {
  /**
   * A range ends only after exactly its bytes. A whole file ends only when the server has no more bytes, which is at
   * info.size or later; a caller that has announced a length must check it. A GatewayError destroys the stream on a
   * remote failure, when the file shrinks meanwhile, or when a range up to the end of the file turns out not to end it.
   * Destroying the stream frees the remote's handle.
   */
  readonly body: Readable;
  readonly whole?: undefined;
  /**
   * Call after more than info.size bytes: whether the server now reports that the file has grown since it was opened.
   * The body may end with this call. Absent if files do not change.
   */
  readonly hasGrown?: () => Promise<boolean>;
}

/** A file of at most WHOLE_BYTES whose bytes came with its facts: nothing is open on the server any more. */
interface OpenWhole extends Opened {
  readonly whole: Buffer;
  readonly body?: undefined;
}

/** `streamOf` turns both forms into a stream. */
export type OpenFile = OpenStream | OpenWhole;

/**
 * A file of up to this many bytes may be moved in one piece, in either direction: streams would cost more than the
 * protocol.
 */
export const WHOLE_BYTES = 64 * 1024;

export interface WriteOptions {
  /** Bytes to come, when known. */
  readonly size?: number | undefined;
  /** The final name may still change at commit (its field follows the content): nothing may appear at `path`. */
  readonly provisional?: boolean;
  /**
   * `path` is already a name from Leftovers.temporaryName: the bytes go there at once, regardless of the connection's
   * settings.
   */
  readonly isHidden?: boolean;
  /** commit() will ask for `exclusive`: S3 takes that condition only at the start of an upload. */
  readonly exclusive?: boolean;
  /** commit() will ask for this time: S3 takes it only at the start of an upload. */
  readonly modifiedAt?: Date | undefined;
  /** commit() will get a `check`: S3 needs a place to read from that is not the final one. */
  readonly isChecked?: boolean | undefined;
}

export interface Commit {
  /** The size that the file on the remote must have; a mismatch is size_mismatch, and nothing is replaced. */
  readonly size: number;
  /** The final path, if it differs from the opened one (only with `provisional`). */
  readonly path?: RemotePath;
  /** Refuse with already_exists instead of replacing. Race-free where `can.exclusiveCreate`. */
  readonly exclusive?: boolean;
  /**
   * The time of the file from the moment it is visible; isWritableTime. A server that keeps no times is no error: the
   * FileInfo shows what it stored.
   */
  readonly modifiedAt?: Date | undefined;
  /**
   * Called with the stored bytes, complete and of the right size, before the file is published (a file written in place
   * is published already). It throws if they are not what was to be stored: then nothing is replaced.
   */
  readonly check?: ((open: () => Promise<OpenFile>) => Promise<void>) | undefined;
}

/**
 * Takes the bytes of a file; nothing is visible at the final path before `commit`. Used with `pipeline`; `end()` does
 * not publish. write() returns false beyond the writer's own byte budget; memory stays bounded.
 */
export interface RemoteWriter extends Writable {
  /**
   * Call after the stream has finished: closes the file, compares the size, publishes. Makes missing target folders.
   * Errors: size_mismatch, already_exists, is_a_folder, permission_denied, no_space, connection_lost, remote_failure.
   * After a failed commit the former file is still there, and abort() must still be called. A file that the server has
   * acknowledged but that cannot be looked up, or that is gone at once, is no error: RemoteContext.unverified is
   * called.
   */
  commit(expected: Commit): Promise<FileInfo>;
  /** Leaves nothing behind. Idempotent, allowed at any time, never throws; after a commit it does nothing. */
  abort(cause: Error): Promise<void>;
}

/** Options for a file that is completely in memory. */
export interface PutOptions extends Pick<Commit, 'exclusive' | 'modifiedAt' | 'check'> {
  /** Called before the first byte is sent: the work must not run a second time. Never throws. */
  readonly opened?: () => void;
  /** Called when all bytes have been sent. Never throws. */
  readonly sent?: () => void;
}

/**
 * Identifies the file that is meant: another one is left alone, with already_exists, if the store can tell them apart.
 */
export interface Expected {
  readonly etag?: string;
}

export interface RemoveOptions extends Expected {
  /** The session that wrote the file is gone, and the server may still be writing some of its bytes. */
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
  /** false: a link is listed as the entry that it is, a file with `isLink`; broken links are also listed. */
  readonly followLinks?: boolean;
  /** S3: sends a request for each folder, because only marker objects have a time; otherwise folders have none. */
  readonly folderTimes?: boolean;
  /** Only entries after this name are needed: a store that can begin there does so, others list everything. */
  readonly after?: string;
  /**
   * Called for each entry that the server lists and list() does not yield. Without it, the listing is not known to be
   * complete.
   */
  readonly leftOut?: (what: LeftOut) => Promise<void>;
}

/** An entry of a server's listing that list() does not yield. */
export interface LeftOut {
  /** undefined if the server's text shows no name. The entry may then be any name of the folder. */
  readonly name: Buffer | undefined;
  /** Whether the server lists it as a folder. An unreadable entry may still be a folder. */
  readonly isDirectory: boolean;
  /** No client could address its name, it is a link that leads nowhere, or its format is unreadable. */
  readonly why: 'name' | 'link' | 'unreadable';
  /** What the server sent, shortened; present if `name` is undefined. */
  readonly line?: string;
}

export interface ListTreeOptions {
  /** A path below the folder, with a slash at its end if it is a folder: only entries after it are needed. */
  readonly after?: string;
  /** As for list(); the name is the path below the folder. */
  readonly leftOut?: ListOptions['leftOut'];
}

export interface ExecOptions {
  readonly timeoutMs: number;
  /** Limit for stdout and stderr together; beyond it: too_large, and the command is killed. */
  readonly maxOutputBytes: number;
  /** Called as both grow, before the bytes are kept; an error that it throws ends the command. */
  readonly onOutput?: (bytes: number) => void;
}

export interface ExecResult {
  /** 128 + the signal's number if a signal ended the command. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/*
 * A file that arrives in pieces, each on any session, node and day: its bytes go to a hidden name, or to a store's
 * multipart upload, that no process owns. Any caller with the `PiecedFile` can continue, publish or discard it.
 */

/** A part that a store has taken, as recorded; only S3 has parts. */
export interface StoredPart {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  /** The checksum that the store wants repeated at the end. */
  readonly checksum: string | null;
}

/** Bytes that are too few for a part so far: they are an object of their own. */
export interface StoredTail {
  /** The index of the object. */
  readonly slot: number;
  /** The number of the part that will contain it. */
  readonly part: number;
  /** Its offset in that part. */
  readonly start: number;
  readonly size: number;
}

/** The parts of a file, recorded beside it. */
export interface PartJournal {
  /** Sorted by number. */
  parts(): Promise<readonly StoredPart[]>;
  /** The latest of each slot, even if it no longer counts. */
  tails(): Promise<readonly StoredTail[]>;
  /** Resolves when they are durable. A part replaces the former one of its number. */
  add(parts: readonly StoredPart[]): Promise<void>;
  /** Resolves when it is durable. It replaces the former one of its slot. */
  keep(tail: StoredTail): Promise<void>;
}

export interface PiecedFile {
  /** The final path. */
  readonly path: RemotePath;
  /** Its hidden name, in the same folder. */
  readonly hidden: RemotePath;
  /** What begin() has found. */
  readonly storeId: string;
  /** Total bytes, once known. */
  readonly length: number | undefined;
  readonly journal: PartJournal;
}

export interface StoredBytes {
  /** Bytes that were acknowledged as stored. */
  readonly offset: number;
  /** Bytes after the offset were not compared with what was sent, and must not be counted. */
  readonly isUnproven: boolean;
}

export interface Settled {
  /** Bytes of the file that are stored now. */
  readonly offset: number;
  /** No other bytes follow them. */
  readonly isClean: boolean;
}

/** Takes bytes like a RemoteWriter, and leaves them where they are. */
export interface PieceWriter extends Writable {
  /**
   * During the writing: bytes of the file that are certainly stored, regardless of the size that the server reports
   * later.
   */
  readonly safeOffset: number;
  /**
   * Call once, after the last write, with or without `end`: waits for the bytes under way. `keep`: the bytes of this
   * piece count; otherwise they are taken back, as far as the server can. Rejects if it is unknown what is stored.
   */
  settle(keep: boolean): Promise<Settled>;
}

/** The digest of a file, updated as it arrives. */
export interface RunningHash {
  update(bytes: Buffer): void;
  /**
   * Saves the current state, so that hashing can continue from here: the bytes so far may turn out to be all that are
   * stored.
   */
  keep(): void;
}

/** How a piece's bytes are stored. */
export interface PieceOptions {
  /** If not set, none of them counts before settle(true), even after a crash. */
  readonly isProven: boolean;
  /** They lie between other parts: the file is not truncated after them, and may end before `from.offset`. */
  readonly isAmid?: boolean;
  /**
   * Gets the bytes that the writer takes, in order. If nothing can be read back, `keep` is called at the end of each
   * part.
   */
  readonly hash?: RunningHash | undefined;
}

export interface BeginOptions {
  readonly modifiedAt: Date | undefined;
  /** publish() will get a `check`. */
  readonly isChecked: boolean;
  /** The caller can store parts in files of their own, so an upload can begin even if the server cannot append. */
  readonly canBeApart?: boolean;
}

export interface BegunFile {
  /** The id that a store gave it, or how the server continues it. */
  readonly storeId: string;
  /** How it stores parts that come at once, in any order. */
  readonly layout: PartLayout;
}

export interface PieceCommit extends Omit<Commit, 'path'> {
  /** An earlier try ended without a known result: if it was successful, its result is returned. */
  readonly isAgain: boolean;
  /** The parts that make the file, if they were sent by sendPart(): the journal has none. */
  readonly parts?: readonly StoredPart[] | undefined;
}

/** Takes the bytes of one part. */
export interface PartWriter extends Writable {
  /** Call once, after the last write: the store keeps the part. */
  taken(): Promise<StoredPart>;
  /** The store keeps nothing of it. Idempotent, never throws. */
  dropped(cause: Error): Promise<void>;
}

export interface Pieces {
  /** The bytes under the hidden name can be read before they are published. */
  readonly canBeRead: boolean;
  /**
   * Makes its hidden file, unless its parts are apart, and missing folders. Errors: resume_unsupported if the server
   * cannot continue a file, and `canBeApart` is not set; those of write().
   */
  begin(file: Omit<PiecedFile, 'storeId' | 'journal'>, options: BeginOptions): Promise<BegunFile>;
  /** Bytes that are stored after its last writer has died; undefined = none of it exists any more. */
  measure(file: PiecedFile, acknowledged: StoredBytes): Promise<number | undefined>;
  /** Takes bytes from `from.offset` on; stored bytes after it are dropped. */
  resume(file: PiecedFile, from: StoredBytes, options: PieceOptions): Promise<PieceWriter>;
  /**
   * Takes a part that replaces the former one of its number; absent unless the layout is `store`. Several may be sent at
   * once.
   */
  sendPart?(file: PiecedFile, part: Pick<StoredPart, 'number' | 'size'>): Promise<PartWriter>;
  /** Call when all of its bytes are stored. Errors: those of RemoteWriter.commit. */
  publish(file: PiecedFile, commit: PieceCommit): Promise<FileInfo>;
  /** Leaves nothing behind; a file that is gone is no error. */
  discard(file: PiecedFile): Promise<void>;
}

/** The fingerprint of its host key (SHA256:…), or the SHA-256 of its certificate in hexadecimal. */
export interface ServerProof {
  readonly hostKey?: string;
  readonly certificate?: string;
}

export interface Remote {
  readonly can: Capabilities;
  /** Facts about the server for people to read: its software, extensions, limits. Complete after the first request. */
  readonly facts: ServerFacts;
  /** The proof of identity that the session's server has given; empty if it did not have to give one. */
  readonly proof: ServerProof;
  /**
   * Sends one small request that any login may make, with its own deadline; reading its result sends no other request.
   */
  probe(): Promise<ProbeResult>;
  /** The login folder, as a path below the connection's root; "/" if it is outside or the store has none. */
  home(): Promise<RemotePath>;
  /** Follows symbolic links. Also for folders. not_found when absent. */
  stat(path: RemotePath): Promise<FileInfo>;
  /**
   * The rights of a file or folder, as four octal digits; undefined if the server shows none. Absent if the protocol has
   * no rights.
   */
  rightsOf?(path: RemotePath): Promise<string | undefined>;
  /**
   * One level, unsorted, without "." and "..", in batches as they arrive: passing entries on one by one takes longer
   * than reading them. A batch may be empty. not_found, not_a_folder.
   */
  list(folder: RemotePath, options?: ListOptions): AsyncIterable<readonly FileInfo[]>;
  /**
   * Lists everything below a folder in one listing, if the store can: by path in code-point order, where a folder sorts
   * as if a slash followed its name, directly before everything below it. Errors: those of list().
   */
  listTree?(folder: RemotePath, options?: ListTreeOptions): AsyncIterable<readonly FileInfo[]>;
  /**
   * Opens a file. A protocol that can open a file without a lookup calls `select` only if it is given; a bad_range from
   * it counts only if the file ends at its reported size. A file that continues beyond it is opened whole, regardless
   * of the choice; for a file that has grown meanwhile, `select` is called again. not_found, is_a_folder,
   * permission_denied.
   */
  read(path: RemotePath, select?: SelectRange): Promise<OpenFile>;
  /** Opens a writer for a file to create or replace. Makes missing folders. */
  write(path: RemotePath, options: WriteOptions): Promise<RemoteWriter>;
  /**
   * Does what write(), end() and commit() do, for at most WHOLE_BYTES, in fewer steps; absent if there are no fewer.
   * Errors: theirs. After any error the former file is still there and nothing is left behind, as after abort(). Called
   * by `putWhole`.
   */
  put?(path: RemotePath, bytes: Buffer, options: PutOptions): Promise<FileInfo>;
  /**
   * Appends to an existing file; absent if the store cannot. commit({ size }) takes the number of appended bytes.
   * undefined if this server would lose the file's content, or can only write at its beginning. not_found, is_a_folder.
   */
  append?(path: RemotePath): Promise<RemoteWriter | undefined>;
  /** Files that arrive in pieces; absent if the protocol does not support them. */
  readonly pieces?: Pieces;
  /**
   * Gives a file another time without writing its bytes, and resolves with its facts then. A server that keeps no times
   * is no error, as in Commit.modifiedAt. Absent if the protocol has no times. not_found, is_a_folder.
   */
  setTime?(path: RemotePath, modifiedAt: Date): Promise<FileInfo>;
  /** Moves files and folders. Makes missing target folders. not_found, already_exists, is_a_folder. */
  move(from: RemotePath, to: RemotePath, options: MoveOptions): Promise<FileInfo>;
  /** Removes files, and links to anything. not_found; is_a_folder. */
  remove(path: RemotePath, options?: RemoveOptions): Promise<void>;
  /**
   * Removes an empty folder; a link to a folder is not one. not_found; not_a_folder; not_empty; bad_path for the root.
   * S3: removes the folder's marker. An empty folder without one does not exist: not_found.
   */
  removeFolder(path: RemotePath): Promise<void>;
  /**
   * Removes a folder with everything below it, if the store needs fewer requests than one for each entry; calls
   * `removed` with the number of entries that are gone. not_found; not_a_folder; not_empty if names block it that no
   * client could address.
   */
  removeTree?(folder: RemotePath, removed: (entries: number) => void): Promise<void>;
  /**
   * Makes the folder and its parents; a race with another client is no error. `isLasting`: a folder that exists only
   * through its files stays when they are removed. not_a_folder when a file exists there.
   */
  makeFolder(path: RemotePath, options?: { readonly isLasting?: boolean }): Promise<{ readonly created: boolean }>;
  /**
   * Copies inside the store, without moving bytes through the gateway; undefined if `source` is out of its reach. The
   * copy has the source's own time, unless another is given.
   */
  copyFrom?(source: Remote, from: RemotePath, to: RemotePath, options: CopyOptions): Promise<FileInfo | undefined>;
  /**
   * Aborts a multipart upload that a dead operation left open (Leftovers.expectMultipart); a missing one is no error.
   */
  abortMultipart?(path: RemotePath, uploadId: string): Promise<void>;
  /** Runs a command; only if the protocol has a shell. command_timeout, too_large, unsupported_operation. */
  exec?(command: string, options: ExecOptions): Promise<ExecResult>;
}

/** What an operation passes to the Remote that is opened for it. */
export interface RemoteContext {
  /** Ends everything: the client left, the gateway drains, or a deadline passed. `reason` is a GatewayError. */
  readonly signal: AbortSignal;
  /** The same, for a wait that needs no AbortSignal: none is created then. */
  readonly ending?: EndSignal;
  readonly leftovers: Leftovers;
  /** This stage begins now. A protocol marks `rename` only; the others are marked by the caller. Never throws. */
  readonly mark?: Mark | undefined;
  /**
   * Call just before the one request that publishes a file or removes it. If that request were cut, its outcome would
   * be unknown: from here on `signal` no longer fires, and the protocol's own deadlines end what hangs. Throws the
   * reason if `signal` has fired before.
   */
  readonly irrevocable?: (() => void) | undefined;
  /** Called with the reason if a file counts as stored but could not be looked up. Never throws. */
  readonly unverified?: ((why: Unverified) => void) | undefined;
  /** Counts the memory of the stream itself: windows, parts. Without room the stream uses less. */
  readonly hold?: () => Hold;
  /** What the batch already knows about its target folders. */
  readonly places?: KnownPlaces | undefined;
}

/**
 * What an operation spends its time on: fetching the url of an upload, waiting for a session, opening one (connect,
 * auth), opening the file, moving bytes (or the work itself, if none move), closing and measuring, publishing the file
 * (S3: completing the object), and making the history item durable.
 */
export type Stage = 'fetch' | 'queue' | 'connect' | 'auth' | 'open' | 'transfer' | 'verify' | 'rename' | 'record';

/** `at`: when the stage began, on the clock of performance.now(), not before the previous stage; absent = now. */
export type Mark = (stage: Stage, at?: number) => void;
