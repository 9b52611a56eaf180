/**
 * Sends a large file in pieces to the address of the page. It continues by itself when the line or the gateway comes
 * back, and after a reload when its file is chosen again. Only the id is kept for that: the address is the secret.
 */
import { retryDelay } from '../../../base/retry-schedule.ts';
import { sendByTus } from '../../../client/tus.ts';
import { PASSING } from '../../../contract/derived/error-lists.ts';
import type { DroppedFile } from '../sending/dropped.ts';
import { ask, Refused } from './ask.ts';

/** Repeating a smaller file costs less than the extra requests. */
export const PIECES_FROM_BYTES = 8 * 1024 * 1024;
const RETRIES = { firstMs: 500, longestMs: 10_000 };
/** Failures in a row with an answer. Without one it continues as long as the page is open. */
const MOST_FAILURES = 20;
const REPEATED: readonly string[] = PASSING;
/** The server, or the link, takes no more uploads in pieces. */
const NOT_IN_PIECES: readonly string[] = ['resume_unsupported', 'share_exceeded'];

/** The names of a file, as the gateway takes them. */
export const namesOf = ({ name }: File, below: string): Record<string, string> => ({
  filename: name,
  ...(below === '' ? {} : { folder: below }),
});

interface PiecesHooks {
  readonly onBytes: (sent: number) => void;
  /** It waits, and then continues. */
  readonly onBreak: () => void;
}

/** Resolves with the Repr-Digest of the stored file; undefined: it has to be sent whole. @throws Refused */
export async function sendInPieces(
  { file, below }: Pick<DroppedFile, 'file' | 'below'>,
  { onBytes, onBreak }: PiecesHooks,
): Promise<string | undefined> {
  const { size, name, lastModified } = file;
  const key = JSON.stringify(['upload', below, name, size, lastModified]);
  const here = location.pathname;
  const known = kept(key);
  try {
    const fields = await sendByTus<Blob>(
      {
        send: async ({ method, path: target, headers, piece }) => {
          const answer = await ask({ method, target, headers, body: piece?.body, onBytes: piece?.onBytes });
          return (field) => {
            const value = answer.getResponseHeader(field);
            // A proxy may have put the gateway below another path.
            return field === 'location' && value !== null ? `${here}/${idIn(value)}` : value;
          };
        },
        notOurs: () => new Refused(502, '', undefined),
        delayAfter: (error, failures) => {
          if (!isPassing(error, failures)) return undefined;
          onBreak();
          return retryDelay(RETRIES, failures, error.askedMs);
        },
      },
      {
        path: here,
        size,
        metadata: namesOf(file, below),
        headers: { 'Want-Repr-Digest': 'sha-256=1' },
        url: known ? `${here}/${known}` : undefined,
        onUrl: (url) => keep(key, idIn(url)),
        piece: (offset) => ({ body: file.slice(offset), size: size - offset }),
        onBytes,
        signal: undefined,
      },
    );
    keep(key, undefined);
    return fields('Repr-Digest') ?? '';
  } catch (error) {
    // After any other error a new try continues the upload.
    if (!isPassing(error, 0)) keep(key, undefined);
    if (error instanceof Refused && NOT_IN_PIECES.includes(error.code)) return undefined;
    throw error;
  }
}

function isPassing(error: unknown, failures: number): error is Refused {
  if (!(error instanceof Refused)) return false;
  const { status, code, askedMs } = error;
  if (status === 0) return true;
  if (failures > MOST_FAILURES || (code === 'share_exceeded' && askedMs === undefined)) return false;
  // An answer without a code is not the gateway's.
  return code === '' ? status >= 502 : REPEATED.includes(code);
}

const idIn = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** A browser may refuse it, or be full; then an upload lasts as long as its page. `id` undefined: forgets it. */
function keep(key: string, id: string | undefined): void {
  try {
    if (id === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, id);
  } catch {
    // The upload continues without it.
  }
}
