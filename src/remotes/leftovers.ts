/** What a crash or a dead session leaves on a remote, and how it is found again. */
import type { RemotePath } from './path.js';

export interface MultipartNote {
  /** The upload is no longer open. */
  done(): void;
  /** It could not be aborted now: that is tried again later. */
  abortLater(): void;
}

/**
 * Finds again what a crash or a dead session left on a remote. Names carry this process's tag, so that a folder
 * noted once covers every temporary file in it; the note is durable before the file is created.
 */
export interface Leftovers {
  /** A hidden name for a file on its way to `name`: `.ftg-<tag>-<random>.<name>`, cut to fit 255 bytes. */
  temporaryName(name: string): string;
  /** Resolves when `folder` stands in the durable list of folders this process writes temporary names to. */
  expect(folder: RemotePath): Promise<void>;
  /** Durable note of an open multipart upload. */
  expectMultipart(path: RemotePath, uploadId: string): Promise<MultipartNote>;
  /** The session died before this name could be removed: remove it later on another one. */
  removeLater(path: RemotePath): void;
}
