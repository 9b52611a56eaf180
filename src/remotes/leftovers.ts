/** Records what a crash or a lost session may leave on a remote, so that it is found again. */
import type { RemotePath } from './path.js';

/** How temporary names begin. */
export const TEMPORARY_PREFIX = '.ftg-';

/** Whether the last part of an object's key is a temporary name. */
export const isTemporaryKey = (key: string): boolean => key.startsWith(TEMPORARY_PREFIX, key.lastIndexOf('/') + 1);

export interface MultipartNote {
  /** The upload is no longer open. */
  done(): void;
  /** The upload could not be aborted now: it is tried again later. */
  abortLater(): void;
}

interface AsideNote {
  /** Nothing is aside any more. */
  done(): void;
  /** The former file could not be moved back, or removed, now: it is tried again later. */
  settleLater(): void;
}

/**
 * Finds what a crash or a lost session left on a remote. Names contain this process's tag, so one note of a folder
 * covers every temporary file in it; the note is durable before the file is created.
 */
export interface Leftovers {
  /** A hidden name for a file that will become `name`: `.ftg-<tag>-<random>.<name>`, cut to 255 bytes. */
  temporaryName(name: string): string;
  /** Resolves when `folder` is in the durable list of folders to which this process writes temporary names. */
  expect(folder: RemotePath): Promise<void>;
  /** Makes a durable note of an open multipart upload. */
  expectMultipart(path: RemotePath, uploadId: string): Promise<MultipartNote>;
  /**
   * Makes a durable note that the file at `path` is renamed to `aside` until another one takes its place. If none does,
   * it is moved back.
   */
  expectAside(aside: RemotePath, path: RemotePath): Promise<AsideNote>;
  /** The session was lost before this name could be removed: removes it later in another session. */
  removeLater(path: RemotePath): void;
}
