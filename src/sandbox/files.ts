/** What a channel may be asked of a tree of files, and what refuses it. */
import ssh2, { type Attributes, type FileEntry } from 'ssh2';

export const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

/** A failure that has an SFTP status of its own. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** In place of an answer: the server closes the channel. */
export class Cut extends Error {}

export interface OpenFile {
  /** Empty at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>;
  write(data: Buffer, offset: number): Promise<void>;
  stat(): Promise<Attributes>;
  change(wanted: Partial<Attributes>): Promise<void>;
  close(): Promise<void>;
}

export interface OpenFolder {
  /** Empty once all were told. */
  next(): Promise<FileEntry[]>;
  close(): Promise<void>;
}

/** Paths are as the client sent them. Each call rejects with a Refusal, a Cut or an error of node:fs. */
export interface Files {
  /** `channel` aborts when the channel has closed. */
  open(path: string, flags: number, mode: number | undefined, channel: AbortSignal): Promise<OpenFile>;
  openFolder(path: string): Promise<OpenFolder>;
  stat(path: string): Promise<Attributes>;
  lstat(path: string): Promise<Attributes>;
  change(path: string, wanted: Partial<Attributes>): Promise<void>;
  realPath(path: string): Promise<string>;
  remove(path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  removeFolder(path: string): Promise<void>;
  /** Like OpenSSH: it never replaces. */
  rename(from: string, to: string): Promise<void>;
}
