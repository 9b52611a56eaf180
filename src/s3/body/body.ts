/** The body of a request as its signature describes it: plain, in chunks, with checksums. It ends only if all are right. */
import type { Readable, TransformCallback } from 'node:stream';
import { type Borrower, type Lender, lendPast } from '../../base/lent.js';
import type { HttpRequest } from '../../http/types.js';
import { isAnnouncedShort, takeShort } from '../../http/whole-body.js';
import type { ExpectedDigest, WholeBody } from '../../operations/pump.js';
import { S3Error } from '../errors.js';
import { type SignedRequest, UNSIGNED } from '../signature/signed-request.js';
import { Checksum, checksumsOf } from './checksums.js';
import { ChunkedBody } from './chunks.js';
import { BodyStage } from './stage.js';

const STREAMING = {
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD': { isSigned: true, hasTrailer: false },
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER': { isSigned: true, hasTrailer: true },
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER': { isSigned: false, hasTrailer: true },
} as const;

type Streaming = keyof typeof STREAMING;

const isStreaming = (payload: string): payload is Streaming => Object.hasOwn(STREAMING, payload);

/** A body whose bytes have not been read yet. */
export interface S3Body {
  /** Bytes of the content. */
  readonly size: number;
  /** The bytes; a short body can be taken whole. It fails if a promise about them is not kept. */
  readonly bytes: Readable | WholeBody;
  /** The digest that the signature promises. The caller compares it. */
  readonly digest: ExpectedDigest | undefined;
  /** The fields of its checksums. */
  readonly promised: readonly string[];
  /** Fields of the answer, once the bytes have been read. */
  readonly checksums: () => Readonly<Record<string, string>>;
}

/** `isOfObject`: checksums in the head are not those of the body. @throws S3Error */
export async function s3BodyOf(
  request: HttpRequest,
  signed: SignedRequest,
  key: Buffer,
  isOfObject: boolean,
): Promise<S3Body> {
  const { headers } = request;
  const { payload } = signed;
  refuseForeignCoding(headers, isStreaming(payload));
  const checksums = await checksumsOf(headers, isOfObject);
  if (!isStreaming(payload)) return plainBody(request, payload, checksums);
  const { isSigned, hasTrailer } = STREAMING[payload];
  const field = headers.get('x-amz-trailer')?.trim().toLowerCase();
  if (hasTrailer && field === undefined) throw new S3Error('InvalidRequest', 'x-amz-trailer is missing');
  const trailing = hasTrailer && field !== undefined ? await Checksum.open(field) : undefined;
  const size = sizeIn(headers.get('x-amz-decoded-content-length'), 'x-amz-decoded-content-length');
  const { date, scope, signature: seed } = signed;
  const signer = isSigned ? { key, date, scope, seed } : undefined;
  const content = new ChunkedBody(request.body, { size, signer, trailing });
  const promised = trailing === undefined ? checksums : [...checksums, trailing];
  return { size, bytes: checked(content, promised), digest: undefined, ...answeredOf(promised) };
}

function plainBody(request: HttpRequest, payload: string, checksums: readonly Checksum[]): S3Body {
  if (payload !== UNSIGNED && !/^[\da-f]{64}$/i.test(payload)) {
    throw /^STREAMING-/.test(payload)
      ? new S3Error('NotImplemented', `x-amz-content-sha256 ${payload.slice(0, 60)} is not implemented`)
      : new S3Error(
          'InvalidArgument',
          'x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a SHA-256 in hexadecimal digits',
        );
  }
  const size = request.contentLength ?? (request.hasBody ? undefined : 0);
  if (size === undefined) throw new S3Error('MissingContentLength', 'Content-Length is missing');
  const digest: ExpectedDigest | undefined =
    payload === UNSIGNED
      ? undefined
      : { field: 'x-amz-content-sha256', algorithm: 'sha256', value: Buffer.from(payload, 'hex') };
  const bytes = isAnnouncedShort(request) ? wholeOf(request, checksums) : checked(request.body, checksums);
  return { size, bytes, digest, ...answeredOf(checksums) };
}

function wholeOf(request: HttpRequest, checksums: readonly Checksum[]): WholeBody {
  return async () => {
    const bytes = await takeShort(request);
    for (const checksum of checksums) {
      checksum.update(bytes);
      checksum.verify();
    }
    return bytes;
  };
}

const checked = (body: Readable, checksums: readonly Checksum[]): Readable =>
  checksums.length === 0 ? body : new CheckedBody(body, checksums);

/** Passes bytes through, and adds them to checksums. */
export class SummedBody extends BodyStage implements Lender {
  protected readonly checksums: readonly Checksum[];

  constructor(source: Readable, checksums: readonly Checksum[]) {
    super(source);
    this.checksums = checksums;
  }

  lendTo(borrower: Borrower): void {
    lendPast(this, { source: this.source, borrower }, (chunk) => {
      const taken = borrower.borrow(chunk);
      if (taken > 0) this.#add(chunk.subarray(0, taken));
      return taken;
    });
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#add(bytes);
    done(null, bytes);
  }

  #add(bytes: Buffer): void {
    for (const checksum of this.checksums) checksum.update(bytes);
  }
}

/** Ends only if every checksum is right. */
class CheckedBody extends SummedBody {
  override _flush(done: TransformCallback): void {
    try {
      for (const checksum of this.checksums) checksum.verify();
      done();
    } catch (error) {
      done(error as Error);
    }
  }
}

function answeredOf(checksums: readonly Checksum[]): Pick<S3Body, 'promised' | 'checksums'> {
  const shown = checksums.filter(({ field }) => field !== 'content-md5');
  return {
    promised: shown.map(({ field }) => field),
    checksums: () => Object.fromEntries(shown.map((checksum) => [checksum.field, checksum.verify()])),
  };
}

/** A body with another coding would be stored as it is, and no key says so. @throws S3Error NotImplemented */
export function refuseForeignCoding(headers: ReadonlyMap<string, string>, isChunked: boolean): void {
  const codings = (headers.get('content-encoding') ?? '').split(',').map((coding) => coding.trim().toLowerCase());
  const allowed = isChunked ? ['', 'identity', 'aws-chunked'] : ['', 'identity'];
  const foreign = codings.find((coding) => !allowed.includes(coding));
  if (foreign === undefined) return;
  throw new S3Error(
    'NotImplemented',
    `Content-Encoding ${foreign.slice(0, 40)} cannot be kept: send the bytes as they are`,
  );
}

function sizeIn(text: string | undefined, field: string): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text);
  throw new S3Error('MissingContentLength', `${field} must be a number of bytes`);
}
