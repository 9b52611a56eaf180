/** The calls of a file tree that a channel makes, and the errors that they reject with. */
import ssh2, { type Attributes, type FileEntry } from 'ssh2';

export const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

/** A failure with its own SFTP status. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The server closes the channel instead of answering. */
export class Cut extends Error {}

export interface SandboxFile {
  /** Empty at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>;
  write(data: Buffer, offset: number): Promise<void>;
  stat(): Promise<Attributes>;
  change(wanted: Partial<Attributes>): Promise<void>;
  close(): Promise<void>;
}

export interface SandboxFolder {
  /** Empty after all entries. */
  next(): Promise<FileEntry[]>;
  close(): Promise<void>;
}

/** Paths are as the client sent them. Each call rejects with a Refusal, a Cut or an error of node:fs. */
export interface Files {
  /** `channel` aborts when the channel has closed. */
  open(path: string, flags: number, mode: number | undefined, channel: AbortSignal): Promise<SandboxFile>;
  openFolder(path: string): Promise<SandboxFolder>;
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
