/** Versions of a file, so that bytes of two versions are never combined (RFC 9110, 8.8). */
import { FtgError } from './errors.js';
import type { Call, Transport } from './transport.js';

/** Plain values, which can be stored and used by another process. */
export interface FileVersion {
  /** The size of the whole file. */
  readonly size: number;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** The tolerance for unknown clocks and time zones of servers. */
const CLOCK_DOUBT_MS = 86_400_000;

/**
 * The file version of an answer; undefined if another version might look the same. The gateway sends an ETag, weak or
 * strong, only once it would reveal every later change. A date without a tag counts if it is much older than that of
 * the answer (8.8.2.2).
 */
export function versionOf(answer: Response): FileVersion | undefined {
  const version = factsOf(answer);
  if (version === undefined || version.etag !== undefined) return version;
  const age = Date.parse(answer.headers.get('date') ?? '') - Date.parse(version.lastModified ?? '');
  return age >= CLOCK_DOUBT_MS ? version : undefined;
}

function factsOf({ status, headers }: Response): FileVersion | undefined {
  // Offsets would refer to the encoded bytes.
  if (headers.has('content-encoding')) return undefined;
  const total = status === 206 ? headers.get('content-range')?.split('/')[1] : headers.get('content-length');
  if (total === null || total === undefined || !/^\d+$/.test(total)) return undefined;
  const [etag, lastModified] = [headers.get('etag') ?? undefined, headers.get('last-modified') ?? undefined];
  return { size: Number(total), etag, lastModified };
}

function isStrong({ etag }: FileVersion): boolean {
  return etag?.startsWith('"') === true;
}

/** A node that has known the file only for a short time does not send its weak tag yet, but the same size and time. */
function isSame(version: FileVersion, answer: Response): boolean {
  const now = factsOf(answer);
  if (now === undefined || now.size !== version.size) return false;
  const haveTags = version.etag !== undefined && now.etag !== undefined;
  if (isStrong(version) || haveTags) return now.etag === version.etag;
  return version.lastModified !== undefined && now.lastModified === version.lastModified;
}

/** Gets more bytes of one version of a file; fails for any other version. */
export class SameFile {
  readonly #transport: Transport;
  /** A plain GET of the file. */
  readonly #call: Call;

  constructor(
    transport: Transport,
    call: Call,
    readonly version: FileVersion,
  ) {
    this.#transport = transport;
    this.#call = call;
  }

  /** Gets a range, both ends inclusive. Rejects with FtgError; `file_changed` if the file is another one now. */
  bytes(start: number, end: number, signal: AbortSignal | undefined): Promise<Response> {
    const { etag } = this.version;
    const headers = { Range: `bytes=${start}-${end}`, 'If-Range': isStrong(this.version) ? etag : undefined };
    return this.#ask({ headers }, signal, async (answer) => {
      const range = `bytes ${start}-${end}/${this.version.size}`;
      if (answer.status === 206 && answer.headers.get('content-range') === range && isSame(this.version, answer))
        return answer;
      await answer.body?.cancel();
      throw this.#changed();
    });
  }

  /**
   * Call after the last byte. With a weak version, each answer's version was read before the file was opened; this
   * shows whether the file was replaced in between.
   */
  async confirm(signal: AbortSignal | undefined): Promise<void> {
    if (isStrong(this.version)) return;
    await this.#ask({ method: 'HEAD' }, signal, async (answer) => {
      if (!isSame(this.version, answer)) throw this.#changed();
    });
  }

  /** Milliseconds to wait after this number of consecutive failures; undefined = give up. */
  delayAfter(error: FtgError, failures: number): number | undefined {
    return this.#transport.delayAfter(error, failures);
  }

  async #ask<T>(
    changes: Partial<Call>,
    signal: AbortSignal | undefined,
    read: (answer: Response) => Promise<T>,
  ): Promise<T> {
    const options = { ...this.#call.options, ...(signal === undefined ? {} : { signal }) };
    try {
      return await this.#transport.send({ ...this.#call, ...changes, options }, read);
    } catch (thrown) {
      throw thrown instanceof FtgError && thrown.code === 'bad_range' ? this.#changed() : thrown;
    }
  }

  #changed(): FtgError {
    const text = 'the file is another one than that which was begun; nothing of the two was put together';
    return new FtgError(text, { status: 0, code: 'file_changed' });
  }
}
