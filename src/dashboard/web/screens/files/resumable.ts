/**
 * Uploads large files by tus 1.0.0. They resume after a broken connection, after a laptop wakes up, and after a reload if
 * the user
 * chooses the same file again.
 */
import { PASSING } from '../../../../contract/derived/error-lists.ts';
import { retryDelay } from '../../../../base/retry-schedule.ts';
import { wait } from '../../../../client/wait.ts';
import { ApiError, fetchAnswer, segment } from '../../api/client.ts';
import { sendBytes } from '../../api/send.ts';
import { noLongerInterrupted } from './interrupted.ts';
import { forgetUpload, keepUpload, keptUpload, keyOf, type UploadPlace, whileSending } from './kept-uploads.ts';

interface ResumableUpload {
  readonly file: File;
  readonly handle: FileSystemFileHandle | undefined;
  readonly connectionId: string;
  readonly folder: string;
  readonly name: string;
  readonly overwrite: boolean;
  readonly signal: AbortSignal;
  readonly onBytes: (sent: number) => void;
}

/** Repeating a smaller upload costs less than the extra requests. */
export const RESUMABLE_BYTES = 64 * 1024 * 1024;
/** Failures in a row without any progress. */
const MOST_FAILURES = 20;
const RETRIES = { firstMs: 500, longestMs: 30_000 };
const VERSION = { 'Tus-Resumable': '1.0.0' };
/** `offline` is the dashboard's own code. An answer without a code is not the gateway's. */
const REPEATED: readonly string[] = ['offline', '', ...PASSING];

/** @throws ApiError, or the Error of a connection that stays broken */
export async function uploadResumable(upload: ResumableUpload): Promise<void> {
  const kept = new Kept(upload);
  await whileSending(kept.key, async () => {
    noLongerInterrupted(kept.key);
    try {
      await goOn(upload, kept);
      await kept.forget();
    } catch (error) {
      // The server discards an upload whose name is taken at its end.
      const isGone = error instanceof ApiError && error.code === 'already_exists';
      if (upload.signal.aborted || isGone) await discardUpload(await kept.read(), kept.key);
      throw error;
    }
  });
}

/** Removes the upload here and on the server. */
export async function discardUpload(url: string | undefined, key: string): Promise<void> {
  await forgetUpload(key);
  if (url !== undefined) await fetchAnswer('DELETE', url, undefined, undefined, VERSION).catch(() => undefined);
}

async function goOn(upload: ResumableUpload, kept: Kept): Promise<void> {
  let reached = 0;
  for (let failures = 0; ;) {
    try {
      for (let at = await find(upload, kept); !at.isComplete; at = await sendRest(upload, kept, at.offset)) {
        if (at.offset > reached) failures = 0;
        reached = Math.max(reached, at.offset);
        upload.onBytes(at.offset);
      }
      return;
    } catch (error) {
      failures += 1;
      const isPassing = !(error instanceof ApiError) || REPEATED.includes(error.code);
      const delayMs = failures > MOST_FAILURES ? undefined : retryDelay(RETRIES, failures);
      if (upload.signal.aborted || !isPassing || delayMs === undefined) throw error;
      await wait(delayMs, upload.signal);
    }
  }
}

interface UploadState {
  readonly offset: number;
  readonly isComplete: boolean;
}

async function find(upload: ResumableUpload, kept: Kept): Promise<UploadState> {
  const { signal } = upload;
  const url = await kept.read();
  if (url === undefined) return begin(upload, kept);
  try {
    const { headers } = await fetchAnswer('HEAD', url, undefined, signal, VERSION);
    return stateOf((field) => headers.get(field));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'unknown_upload') throw error;
    return begin(upload, kept);
  }
}

async function begin(upload: ResumableUpload, kept: Kept): Promise<UploadState> {
  const { file, connectionId, folder: path, name: filename, overwrite, signal } = upload;
  const pairs = Object.entries({ filename, path, overwrite: String(overwrite) })
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key} ${base64(value)}`);
  const target = `/api/uploads/${segment(connectionId)}` as const;
  const { headers } = await fetchAnswer('POST', target, undefined, signal, {
    ...VERSION,
    'Upload-Length': String(file.size),
    'Upload-Metadata': pairs.join(','),
  });
  await kept.write(headers.get('Location') ?? '');
  return stateOf((field) => headers.get(field));
}

async function sendRest({ file, signal, onBytes }: ResumableUpload, kept: Kept, offset: number): Promise<UploadState> {
  const header = await sendBytes({
    method: 'PATCH',
    target: (await kept.read()) ?? '',
    headers: { ...VERSION, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) },
    body: file.slice(offset),
    signal,
    onBytes: (sent) => onBytes(offset + sent),
  });
  return stateOf(header);
}

function stateOf(header: (field: string) => string | null): UploadState {
  return { offset: Number(header('Upload-Offset')), isComplete: header('X-Transfer-Id') !== null };
}

/** The URL of the upload. If the browser does not store it, it lasts as long as the page. */
class Kept {
  readonly #upload: ResumableUpload;
  readonly key: string;
  readonly #place: UploadPlace;
  #url: string | undefined;

  constructor(upload: ResumableUpload) {
    this.#upload = upload;

    const { size, lastModified } = upload.file;
    this.#place = { ...upload, size, lastModified };
    this.key = keyOf(this.#place);
  }

  async read(): Promise<string | undefined> {
    this.#url ??= (await keptUpload(this.#place))?.url;
    return this.#url;
  }

  async write(url: string): Promise<void> {
    this.#url = url;
    await keepUpload(this.#place, url, this.#upload.handle);
  }

  async forget(): Promise<void> {
    this.#url = undefined;
    await forgetUpload(this.key);
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
