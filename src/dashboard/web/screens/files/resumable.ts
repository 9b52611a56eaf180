/**
 * Uploads large files in pieces. They resume after a broken connection, after a laptop wakes up, and after a reload if the
 * user chooses the same file again.
 */
import { retryDelay } from '../../../../base/retry-schedule.ts';
import { sendByTus, type TusLine, VERSION } from '../../../../client/tus.ts';
import { PASSING } from '../../../../contract/derived/error-lists.ts';
import { ApiError, fetchAnswer, segment } from '../../api/client.ts';
import { sendBytes } from '../../api/send.ts';
import { t } from '../../texts/texts.ts';
import { noLongerInterrupted } from './interrupted.ts';
import { forgetUpload, keepUpload, keptUpload, keyOf, whileSending } from './kept-uploads.ts';

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

/** Failures in a row without any progress. */
const MOST_FAILURES = 20;
const RETRIES = { firstMs: 500, longestMs: 30_000 };
/** `offline` is the dashboard's own code. An answer without a code is not the gateway's. */
const REPEATED: readonly string[] = ['offline', '', ...PASSING];

/** @throws ApiError, or the Error of a connection that stays broken */
export async function uploadResumable(upload: ResumableUpload): Promise<void> {
  const { file, handle, connectionId, folder, name: filename, overwrite, signal, onBytes } = upload;
  const { size, lastModified } = file;
  const place = { ...upload, size, lastModified };
  const key = keyOf(place);
  await whileSending(key, async () => {
    noLongerInterrupted(key);
    // If the browser does not store it, it lasts as long as the page.
    let url = (await keptUpload(place))?.url;
    try {
      await sendByTus(lineOf(signal), {
        path: `/api/uploads/${segment(connectionId)}`,
        size,
        metadata: { filename, path: folder === '' ? undefined : folder, overwrite },
        url,
        onUrl: async (given) => {
          url = given;
          await keepUpload(place, given, handle);
        },
        piece: (offset) => ({ body: file.slice(offset), size: size - offset }),
        signal,
        onBytes,
      });
      await forgetUpload(key);
    } catch (error) {
      // The server discards an upload whose name is taken at its end.
      const isGone = error instanceof ApiError && error.code === 'already_exists';
      if (signal.aborted || isGone) await discardUpload(url, key);
      throw error;
    }
  });
}

/** Removes the upload here and on the server. */
export async function discardUpload(url: string | undefined, key: string): Promise<void> {
  await forgetUpload(key);
  if (url !== undefined) await fetchAnswer('DELETE', url, undefined, undefined, VERSION).catch(() => undefined);
}

function lineOf(signal: AbortSignal): TusLine<Blob> {
  return {
    send: async ({ method, path: target, headers, piece }) => {
      if (piece !== undefined) return sendBytes({ method, target, headers, signal, ...piece });
      const answer = await fetchAnswer(method, target, undefined, signal, headers);
      return (name) => answer.headers.get(name);
    },
    notOurs: () => new Error(t.common.away.broke),
    delayAfter: (error, failures) => {
      const isPassing = !(error instanceof ApiError) || REPEATED.includes(error.code);
      return isPassing && failures <= MOST_FAILURES ? retryDelay(RETRIES, failures) : undefined;
    },
  };
}
