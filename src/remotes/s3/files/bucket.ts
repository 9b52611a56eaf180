import {
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError, hasCode, toGatewayError } from '../../../base/errors.js';
import { UNCOUNTED } from '../../../budgets/memory.js';
import { connectOf } from '../../dial/connect-times.js';
import type { MoreSessions } from '../../more-sessions.js';
import { alreadyExists } from '../../obstacles.js';
import type { RemotePath } from '../../path.js';
import { RangesAhead } from '../../ranges-ahead.js';
import { type ByteRange, type LikelyRange, WHOLE_BYTES } from '../../remote.js';
import { isWorthMore } from '../../useful-sessions.js';
import { ListingBounds } from '../../listing.js';
import { contentMd5, sendBody, streamedError } from '../client/checksums.js';
import { Calls, IDEMPOTENT_ATTEMPTS, type CallOptions, type SendOptions } from '../client/calls.js';
import { describe, descriptionOf, type Description } from './description.js';
import { bareEtag, decodeListedKey, fileKey, folderKey, wholeSeconds } from './keys.js';
import { readWhole, S3Source, type SourceOptions } from './source.js';
import { replyOf } from '../client/replies.js';
import type { S3Lease } from '../client/session.js';
import type { ObjectAnswer } from '../client/signed-requests.js';
import { StreamedRequest } from '../client/streamed-request.js';

/** Time limit for the answer to a check whether the store is there. */
const PROBE_MS = 10_000;

/** An object as HEAD, GET and listings describe it. */
export interface ObjectFacts {
  readonly size: number;
  readonly modifiedAt: Date;
  readonly etag: string | undefined;
  /** Only HEAD and GET return it. */
  readonly description?: Description;
}

export interface ListedObject extends ObjectFacts {
  readonly key: string;
}

interface Page {
  readonly objects: readonly ListedObject[];
  /** Common prefixes, each ending in the delimiter. */
  readonly prefixes: readonly string[];
  /** Names that no client could address, as the store wrote them. */
  readonly unreadable: readonly string[];
}

interface ListOptions {
  readonly prefix: string;
  /** One level only. */
  readonly oneLevel: boolean;
  readonly what: string;
  readonly pageSize?: number;
  /** A key: only later keys are listed. */
  readonly after?: string | undefined;
  /** For listings of more than one folder; absent = the bound of one. */
  readonly maxEntries?: number;
}

interface AskedObject {
  readonly key: string;
  readonly what: string;
  readonly fields: { readonly IfMatch?: string; readonly Range?: string };
  readonly signal?: EndSignal | undefined;
}

interface AnsweredObject {
  readonly answer: ObjectAnswer;
  readonly source: Readable;
  readonly roundTripMs: number;
  readonly signal: EndSignal;
}

/** The answer to a GET, whose body is not read yet. */
interface OpenObject {
  readonly facts: ObjectFacts;
  /** What the answer itself shows: which bytes, and of which object. */
  readonly contentRange: string | undefined;
  readonly etag: string | undefined;
  /** From the request to its answer. */
  readonly roundTripMs: number;
  readonly source: Readable;
  readonly length: number;
  readonly sourceOptions: SourceOptions;
}

interface HeadOptions {
  readonly bucket?: string;
  readonly signal?: AbortSignal | undefined;
}

interface PutOptions {
  /** Stores only if no object exists at the key. */
  readonly exclusive: boolean;
  readonly modifiedAt?: Date | undefined;
}

/** The requests on one bucket, in the gateway's own terms. */
export class Bucket {
  readonly name: string;
  readonly prefix: string;
  readonly #more: MoreSessions<S3Lease> | undefined;

  constructor(
    readonly calls: Calls,
    /** For long objects; absent: one connection is used. */
    more?: MoreSessions<S3Lease>,
  ) {
    this.#more = more;
    this.name = calls.connection.bucket;
    this.prefix = calls.connection.prefix;
  }

  fileKey(path: RemotePath): string {
    return fileKey(this.prefix, path);
  }

  folderKey(path: RemotePath): string {
    return folderKey(this.prefix, path);
  }

  /** Facts of the object; undefined when there is none. */
  async head(
    key: string,
    what: string,
    { bucket = this.name, signal }: HeadOptions = {},
  ): Promise<ObjectFacts | undefined> {
    const { requests, additions } = this.calls;
    const object = { Bucket: bucket, Key: key, ...additions.opened };
    try {
      const found = await this.calls.call((options) => requests.head(object, options), {
        step: 'open',
        what,
        attempts: IDEMPOTENT_ATTEMPTS,
        signal,
      });
      return factsOf(found, found.ContentLength ?? (await this.#sizeOf(bucket, key, what, signal)));
    } catch (error) {
      const { status, code } = replyOf(error);
      if (status === 404 && code !== 'NoSuchBucket') return undefined;
      if (status === undefined || code !== undefined || !EXPLAINED.has(status)) throw error;
      const listed = status === 400 && bucket === this.name ? await this.#withoutKey(key, what) : undefined;
      if (listed !== undefined) return listed;
      try {
        await this.#explain(bucket, key, what);
      } catch (reason) {
        // The first refusal had a cause that is gone by now, such as a clock that the client has corrected.
        if (hasCode(reason, 'not_found')) return undefined;
        throw reason;
      }
      throw error;
    }
  }

  /** An object without the key of this customer: only a listing describes it. undefined if there is none. */
  async #withoutKey(key: string, what: string): Promise<ObjectFacts | undefined> {
    if (this.calls.additions.opened.SSECustomerKey === undefined) return undefined;
    const listed = await this.firstBelow(key, what);
    return listed?.key === key ? listed : undefined;
  }

  /** The CRC32 of the object of `facts`; undefined if the store has none, or holds another object by now. */
  async checksum(key: string, what: string, facts: ObjectFacts): Promise<string | undefined> {
    const { client } = this.calls;
    const command = new HeadObjectCommand({ Bucket: this.name, Key: key, ChecksumMode: 'ENABLED' });
    const about = { step: 'verify', what, attempts: IDEMPOTENT_ATTEMPTS } as const;
    const { ChecksumCRC32, ETag } = await this.calls.call((options) => client.send(command, options), about);
    return bareEtag(ETag) === facts.etag ? ChecksumCRC32 : undefined;
  }

  /** Checks that the store is there and accepts the key. A refused HEAD gives no reason: the list request does. */
  async headBucket(): Promise<void> {
    const { client, limits } = this.calls;
    const allowMs = Math.min(PROBE_MS, limits.stallTimeoutMs);
    const options = { step: 'open', what: 'the bucket', allowMs } as const;
    try {
      await this.calls.call((send) => client.send(new HeadBucketCommand({ Bucket: this.name }), send), options);
    } catch (error) {
      if (replyOf(error).status === undefined) throw error;
      const Bucket = this.name;
      await this.calls.call((send) => client.send(new ListObjectsCommand({ Bucket, MaxKeys: 1 }), send), options);
    }
  }

  /** The first object at or below a prefix; undefined when there is none. */
  async firstBelow(prefix: string, what: string): Promise<ListedObject | undefined> {
    for await (const page of this.pages({ prefix, oneLevel: false, what, pageSize: 1 })) {
      if (page.objects[0] !== undefined) return page.objects[0];
      if (page.unreadable.length > 0) return { key: prefix, size: 0, modifiedAt: new Date(0), etag: undefined };
    }
    return undefined;
  }

  /** Whether nothing is at or below a prefix; costs less than `firstBelow` if that is so. */
  async hasNoneBelow(prefix: string, what: string): Promise<boolean> {
    const { requests, additions, traits } = this.calls;
    if (traits.now.listing === 'v2') {
      const about = { step: 'open', what, attempts: IDEMPOTENT_ATTEMPTS } as const;
      const below = { Bucket: this.name, Prefix: prefix, ...additions.every };
      try {
        if (await this.calls.call((send) => requests.hasNone(below, send), about)) return true;
      } catch (error) {
        // A store without this form of list.
        if (replyOf(error).status !== 501) throw error;
      }
    }
    return (await this.firstBelow(prefix, what)) === undefined;
  }

  /** Up to `most` of the keys at and below a prefix; a key that is not UTF-8 is the empty text. */
  async someBelow(prefix: string, what: string, most: number): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const { objects, unreadable } of this.pages({ prefix, oneLevel: false, what, pageSize: most })) {
      found.push(...objects.map(({ key }) => key), ...unreadable.map(() => ''));
      if (found.length >= most) break;
    }
    return found;
  }

  /** Every page of a listing, in key order. */
  async *pages(options: ListOptions): AsyncGenerator<Page, void, undefined> {
    const bounds = new ListingBounds(options.what, options.maxEntries);
    let after: { token?: string; marker?: string } = {};
    let before: ReadonlySet<string> = new Set();
    // A page that comes again, after however many others, is found by the one that was kept last (Brent).
    let kept: typeof after = {};
    for (let pages = 1, keepAt = 1; ; pages++) {
      const { page: listedPage, next } = await this.#page(options, after);
      bounds.add(listedPage.objects.length + listedPage.prefixes.length + listedPage.unreadable.length, PAGE_KEYS);
      const page = await this.#complete(listedPage, before, options.what);
      before = namesOf(listedPage);
      yield page;
      if (next === undefined) return;
      if (next.token === kept.token && next.marker === kept.marker) {
        throw new GatewayError('protocol_error', `${options.what}: the store repeats the same pages forever`, {
          step: 'transfer',
        });
      }
      if (pages === keepAt) {
        kept = next;
        keepAt *= 2;
      }
      after = next;
    }
  }

  /**
   * Opens the object's bytes. With `facts` it must still be that object, or the error is remote_failure; the size is
   * that of this answer, not HEAD's.
   */
  async get(
    key: string,
    what: string,
    facts?: ObjectFacts,
    range?: ByteRange,
  ): Promise<{ facts: ObjectFacts; body: Readable }> {
    const opened = await this.#open(key, what, facts, range);
    return { facts: opened.facts, body: this.#bodyOf(opened, key, what, range?.start) };
  }

  /** The same for a whole object, which is read at once if it is short. */
  async getShort(
    key: string,
    what: string,
  ): Promise<{ facts: ObjectFacts } & ({ whole: Buffer; body?: undefined } | { body: Readable; whole?: undefined })> {
    const opened = await this.#open(key, what);
    const { facts, source, length, sourceOptions } = opened;
    if (length > WHOLE_BYTES) return { facts, body: this.#bodyOf(opened, key, what) };
    return { facts, whole: await readWhole(source, length, sourceOptions) };
  }

  /** What is probably wanted of an object that was not looked at; undefined if the answer does not show its size. */
  async getLikely(
    key: string,
    what: string,
    likely: LikelyRange,
  ): Promise<{ facts: ObjectFacts; range: ByteRange; body: Readable } | undefined> {
    if (!this.calls.traits.now.answersRanges) return undefined;
    const Range = 'last' in likely ? `bytes=-${likely.last}` : `bytes=${likely.start}-${likely.end ?? ''}`;
    const asked = await this.#ask({ key, what, fields: { Range } }).catch((error: unknown) => {
      // It has no such bytes.
      if (replyOf(error).status !== 416) throw error;
    });
    if (asked === undefined) return undefined;
    const { answer, source } = asked;
    const { range, total: size } = contentRangeOf(answer.ContentRange);
    const length = range === undefined ? NaN : range.end - range.start + 1;
    if (range === undefined || size === undefined || answer.ContentLength !== length) {
      source.destroy();
      return undefined;
    }
    const opened = this.#opened(asked, what, factsOf(answer, size), length);
    return { facts: opened.facts, range, body: this.#bodyOf(opened, key, what, range.start) };
  }

  #bodyOf(
    { facts, source, length, sourceOptions, etag, roundTripMs }: OpenObject,
    key: string,
    what: string,
    start = 0,
  ): Readable {
    const first = new S3Source(source, length, sourceOptions);
    const { traits, connection, limits, context } = this.calls;
    const more = this.#more;
    if (more === undefined || more.most === 0 || !isWorthMore(length, roundTripMs)) return first;
    if (etag === undefined || !traits.now.answersRanges) return first;
    return new RangesAhead({
      first,
      start,
      end: start + length,
      roundTripMs,
      signal: sourceOptions.signal,
      more,
      memory: traits.line,
      hold: context.hold?.() ?? UNCOUNTED,
      open: (range, lease, ending) => {
        const bucket = lease === undefined ? this : new Bucket(new Calls(lease, connection, limits, context));
        return bucket.#openRange(key, what, { ...facts, etag }, range, ending);
      },
    });
  }

  /** A range of the very object of `facts`. @throws GatewayError remote_failure if it is another one by now */
  async #openRange(
    key: string,
    what: string,
    facts: ObjectFacts,
    range: ByteRange,
    ending: EndSignal,
  ): Promise<Readable> {
    const opened = await this.#open(key, what, facts, range, ending);
    // Not every store obeys If-Match.
    const isSame = opened.etag === facts.etag;
    if (isSame && isRange(opened.contentRange, range))
      return new S3Source(opened.source, opened.length, opened.sourceOptions);
    opened.source.destroy();
    throw isSame
      ? otherBytes(what)
      : new GatewayError('remote_failure', `${what}: the object changed while it was in use`, { step: 'transfer' });
  }

  async #open(
    key: string,
    what: string,
    facts?: ObjectFacts,
    range?: ByteRange,
    signal?: EndSignal,
  ): Promise<OpenObject> {
    const fields = {
      ...(facts?.etag === undefined ? {} : { IfMatch: `"${facts.etag}"` }),
      ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }),
    };
    const asked = await this.#ask({ key, what, fields, signal });
    const { answer, source } = asked;
    const wanted = range === undefined ? undefined : range.end - range.start + 1;
    const length = answer.ContentLength ?? wanted ?? facts?.size;
    if (length === undefined) {
      // The answer is chunked, and the size is unknown so far.
      source.destroy();
      const known = await this.head(key, what);
      if (known === undefined) throw changedMeanwhile(what);
      return this.#open(key, what, known);
    }
    const isWanted = wanted === undefined || length === wanted;
    if (!isWanted || (answer.ContentLength === undefined && !isRange(answer.ContentRange, range))) {
      source.destroy();
      if (range !== undefined && answer.ContentRange === undefined) {
        this.calls.traits.learn('answersRanges', false, 'answered a range with the whole object');
      }
      throw otherBytes(what);
    }
    const size = range === undefined ? length : (contentRangeOf(answer.ContentRange).total ?? facts?.size);
    const found = { ...(facts ?? factsOf(answer, length)), ...(size === undefined ? {} : { size }) };
    return this.#opened(asked, what, found, length);
  }

  async #ask({ key, what, fields, signal = this.#signal }: AskedObject): Promise<AnsweredObject> {
    const { requests, additions, seen } = this.calls;
    const about: CallOptions = { step: 'open', what, attempts: IDEMPOTENT_ATTEMPTS, signal };
    const input = { Bucket: this.name, Key: key, ...additions.opened, ...fields };
    let askedAt = 0;
    const ask = (options: SendOptions): Promise<ObjectAnswer> => {
      askedAt = performance.now();
      return requests.get(input, options);
    };
    const answer = await this.calls.call(ask, about);
    const roundTripMs = performance.now() - askedAt - connectMs(seen.socket, askedAt);
    return { answer, source: answer.Body as Readable, roundTripMs, signal };
  }

  #opened(
    { answer, source, roundTripMs, signal }: AnsweredObject,
    what: string,
    facts: ObjectFacts,
    length: number,
  ): OpenObject {
    const { stallTimeoutMs: stallMs } = this.calls.limits;
    const lost = (cause?: unknown): GatewayError =>
      new GatewayError('connection_lost', `${what}: the store cut the download`, { step: 'transfer', cause });
    const sourceOptions = {
      signal,
      stallMs,
      stalled: () => this.calls.stalled({ step: 'transfer', what }, stallMs),
      lost,
      tooLong: () =>
        new GatewayError('protocol_error', `${what}: the store sends more than it announced`, { step: 'transfer' }),
    };
    return {
      facts,
      contentRange: answer.ContentRange,
      etag: bareEtag(answer.ETag),
      roundTripMs,
      source,
      length,
      sourceOptions,
    };
  }

  get #signal(): EndSignal {
    return this.calls.context.ending ?? this.calls.context.signal;
  }

  /** Stores a small object whole; with `exclusive`, already_exists instead of replacing. Resolves with its etag. */
  async put(key: string, body: Buffer, what: string, options: PutOptions): Promise<string | undefined> {
    const { requests, additions, traits } = this.calls;
    const { exclusive, modifiedAt } = options;
    const object = { Bucket: this.name, Key: key, Body: body, ...describe(key, modifiedAt), ...additions.made(key) };
    const sendOnce = async (condition: boolean, withMd5: boolean): Promise<string | undefined> => {
      const wanted = {
        ...object,
        ...(condition ? { IfNoneMatch: '*' as const } : {}),
        ...(withMd5 ? { ContentMD5: contentMd5(body) } : {}),
      };
      // With a condition, a second try would find the object that an unanswered first try stored.
      const attempts = condition ? 1 : IDEMPOTENT_ATTEMPTS;
      const answer = await this.calls.call((options) => requests.put(wanted, options), {
        step: 'publish',
        what,
        attempts,
        allowMs: this.calls.copyAllowanceMs(body.length),
      });
      return bareEtag(answer.ETag);
    };
    const send = (condition: boolean): Promise<string | undefined> =>
      sendBody(this.calls, body.length, (withMd5) => sendOnce(condition, withMd5));
    if (!exclusive || traits.now.exclusivePut === 'no') return send(false);
    try {
      return await send(true);
    } catch (error) {
      if (!this.isConditionUnknown(error, 'exclusivePut')) throw this.conditionError(error, 'exclusivePut', what);
      return send(false);
    }
  }

  /**
   * Starts to store an object of `size` bytes, which are written as they arrive. It is visible only after the last
   * byte.
   */
  openPut(key: string, size: number, what: string, options: PutOptions): StreamedRequest<string | undefined> {
    const { calls } = this;
    const { exclusive, modifiedAt } = options;
    const { client, context, limits } = calls;
    const about = { step: 'transfer', what } as const;
    return new StreamedRequest(
      async (body, options) => {
        const command = new PutObjectCommand({
          Bucket: this.name,
          Key: key,
          Body: body,
          ContentLength: size,
          ...describe(key, modifiedAt),
          ...(exclusive ? { IfNoneMatch: '*' } : {}),
        });
        const { ETag } = await client.send(command, options);
        calls.traits.learnChecksums(this.name, 'no');
        return bareEtag(ETag);
      },
      {
        signal: context.signal,
        seen: calls.seen,
        stallMs: limits.stallTimeoutMs,
        enter: (signal) => calls.gate.enter(signal),
        stalled: (waitedMs) => calls.stalled(about, waitedMs),
        translate: (error) => {
          const failure = streamedError(calls, calls.translate(error, about), about);
          return exclusive ? toGatewayError(this.conditionError(failure, 'exclusivePut', what)) : failure;
        },
      },
    );
  }

  /**
   * Removes the object; a missing object is no error. `etag`: already_exists if another object is there, as far as the
   * store checks it.
   */
  async remove(key: string, what: string, signal?: AbortSignal, etag?: string): Promise<void> {
    const { requests, additions, traits } = this.calls;
    const isConditional = etag !== undefined && traits.now.deleteIfMatch;
    const condition = isConditional ? { IfMatch: `"${etag}"` } : {};
    const object = { Bucket: this.name, Key: key, ...additions.every, ...condition };
    try {
      await this.calls.call((options) => requests.remove(object, options), {
        step: 'publish',
        what,
        attempts: IDEMPOTENT_ATTEMPTS,
        signal,
      });
    } catch (error) {
      const { status } = replyOf(error);
      if (!isConditional || (status !== 412 && status !== 501)) throw error;
      if ((await this.head(key, what))?.etag !== etag) throw changedMeanwhile(what, error);
      traits.learn('deleteIfMatch', false, `answered ${status} for an object that had not changed`);
      await this.remove(key, what, signal);
    }
  }

  /** The error of a call with If-None-Match: already_exists if that is the store's answer. */
  conditionError(error: unknown, trait: ConditionTrait, what: string): unknown {
    const { status, code } = replyOf(error);
    if (status !== 412 && code !== 'ConditionalRequestConflict') return error;
    this.calls.traits.learn(trait, 'yes', `answered ${status}`);
    return alreadyExists(what, error);
  }

  /** Whether a call was refused because the store does not know If-None-Match; remembers it. */
  isConditionUnknown(error: unknown, trait: ConditionTrait): boolean {
    if (replyOf(error).status !== 501) return false;
    this.calls.traits.learn(trait, 'no', 'answered 501 to If-None-Match');
    return true;
  }

  /** HEAD answers have no body, so no reason: the same question by GET has one. Throws it if GET is refused as well. */
  async #explain(bucket: string, key: string, what: string): Promise<void> {
    const { client } = this.calls;
    const answer = await this.calls.call(
      (options) => client.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range: 'bytes=0-0' }), options),
      { step: 'open', what },
    );
    (answer.Body as Readable).destroy();
  }

  /** The size of an object whose HEAD has none: from the answer for its first byte, or from a listing. */
  async #sizeOf(bucket: string, key: string, what: string, signal: AbortSignal | undefined): Promise<number> {
    const { client } = this.calls;
    const about = { step: 'open', what, attempts: IDEMPOTENT_ATTEMPTS, signal } as const;
    const command = new GetObjectCommand({ Bucket: bucket, Key: key, Range: 'bytes=0-0' });
    try {
      const answer = await this.calls.call((options) => client.send(command, options), about);
      (answer.Body as Readable).destroy();
      const { total } = contentRangeOf(answer.ContentRange);
      if (total !== undefined) return total;
      // The store ignored the range.
      if (answer.ContentLength !== undefined && answer.$metadata.httpStatusCode === 200) return answer.ContentLength;
    } catch (error) {
      // An empty object has no first byte.
      if (replyOf(error).status === 416) return 0;
      throw error;
    }
    const list = new ListObjectsCommand({ Bucket: bucket, Prefix: key, MaxKeys: 1, EncodingType: 'url' });
    const { page } = pageOf(await this.calls.call((options) => client.send(list, options), about), what);
    const [first] = page.objects;
    if (first?.key === key && first.size !== undefined) return first.size;
    throw new GatewayError('protocol_error', `${what}: the store does not say how large the file is`, { step: 'open' });
  }

  /** Removes what the page before has already listed, as some stores repeat it; adds missing sizes. */
  async #complete(listedPage: ListedPage, before: ReadonlySet<string>, what: string): Promise<Page> {
    const objects: ListedObject[] = [];
    for (const object of listedPage.objects) {
      if (before.has(object.key)) continue;
      if (hasSize(object)) {
        objects.push(object);
        continue;
      }
      // An object that is gone by now is not an entry.
      const facts = await this.head(object.key, what);
      if (facts !== undefined) objects.push({ ...facts, key: object.key });
    }
    const prefixes = [...new Set(listedPage.prefixes)].filter((prefix) => !before.has(prefix));
    return { objects, prefixes, unreadable: listedPage.unreadable };
  }

  async #page(
    options: ListOptions,
    after: { token?: string; marker?: string },
  ): Promise<{ page: ListedPage; next: { token?: string; marker?: string } | undefined }> {
    const { client, traits } = this.calls;
    const about: CallOptions = { step: 'open', what: options.what, attempts: IDEMPOTENT_ATTEMPTS };
    const input = {
      Bucket: this.name,
      Prefix: options.prefix,
      // Keys may contain characters that XML cannot.
      EncodingType: 'url' as const,
      ...(options.oneLevel ? { Delimiter: '/' } : {}),
      MaxKeys: options.pageSize ?? PAGE_KEYS,
    };
    if (traits.now.listing === 'v2' && after.marker === undefined) {
      try {
        const answer = await this.calls.call(
          (send) =>
            client.send(
              new ListObjectsV2Command({
                ...input,
                ...(after.token === undefined ? {} : { ContinuationToken: after.token }),
                ...(after.token === undefined && options.after !== undefined ? { StartAfter: options.after } : {}),
              }),
              send,
            ),
          about,
        );
        const { page, last } = pageOf(answer, options.what);
        const token = answer.NextContinuationToken;
        if (!(answer.IsTruncated ?? (token !== undefined && token !== ''))) return { page, next: undefined };
        if (token !== undefined && token !== '') return { page, next: { token } };
        // An old store ignores list-type=2 and answers in the old form, which continues by marker.
        traits.learn('listing', 'v1', 'answered a version 2 listing without a token');
        return { page, next: { marker: goesOnAfter(last, options.what) } };
      } catch (error) {
        if (replyOf(error).status !== 501 || after.token !== undefined) throw error;
        traits.learn('listing', 'v1', 'answered 501 to a version 2 listing');
      }
    }
    const from = after.marker ?? options.after;
    const answer = await this.calls.call(
      (send) =>
        client.send(new ListObjectsCommand({ ...input, ...(from === undefined ? {} : { Marker: from }) }), send),
      about,
    );
    const { page, last } = pageOf(answer, options.what);
    if (answer.IsTruncated !== true) return { page, next: undefined };
    const named = decodeListedKey(answer.NextMarker ?? '', answer.EncodingType === 'url');
    const marker = named === undefined || named === '' ? last : named;
    return { page, next: { marker: goesOnAfter(marker, options.what) } };
  }
}

type ConditionTrait = 'exclusivePut' | 'exclusiveComplete';

/** Stores return up to 1,000; parsing those blocks for 15 ms. */
const PAGE_KEYS = 500;
/** Statuses of a HEAD that can have several causes. */
const EXPLAINED = new Set([301, 307, 400, 401, 403]);

export function changedMeanwhile(what: string, cause?: unknown): GatewayError {
  return new GatewayError('already_exists', `${what} is another file by now`, { step: 'publish', cause });
}

/** @throws GatewayError protocol_error if nothing says where the next page begins: the listing would look complete */
function goesOnAfter(marker: string | undefined, what: string): string {
  if (marker !== undefined) return marker;
  const text = `${what}: the store lists only a part, and does not say where to go on`;
  throw new GatewayError('protocol_error', text, { step: 'transfer' });
}

function otherBytes(what: string): GatewayError {
  const text = `${what}: the store sends another length than it was asked for`;
  return new GatewayError('protocol_error', text, { step: 'open' });
}

/** The part of a request's time that its socket took to connect. */
function connectMs(socket: Socket | undefined, askedAt: number): number {
  const connect = socket && connectOf(socket);
  return connect === undefined || connect.startedAt < askedAt ? 0 : connect.ms;
}

function factsOf(answer: ObjectAnswer, size: number): ObjectFacts {
  return {
    size,
    modifiedAt: wholeSeconds(answer.LastModified),
    etag: bareEtag(answer.ETag),
    description: descriptionOf(answer),
  };
}

interface ListAnswer {
  readonly EncodingType?: string | undefined;
  readonly Contents?:
    | readonly {
        readonly Key?: string | undefined;
        readonly Size?: number | undefined;
        readonly LastModified?: Date | undefined;
        readonly ETag?: string | undefined;
      }[]
    | undefined;
  readonly CommonPrefixes?: readonly { readonly Prefix?: string | undefined }[] | undefined;
  /** The store's own count of keys and prefixes in the page. */
  readonly KeyCount?: number | undefined;
  readonly Name?: string | undefined;
  readonly MaxKeys?: number | undefined;
  readonly IsTruncated?: boolean | undefined;
}

/** A page as the store returns it. */
/** Not every store shows the size. */
type ShownObject = Omit<ListedObject, 'size'> & { readonly size: number | undefined };

interface ListedPage extends Omit<Page, 'objects'> {
  readonly objects: readonly ShownObject[];
}

const hasSize = (object: ShownObject): object is ListedObject => object.size !== undefined;

const namesOf = ({ objects, prefixes }: ListedPage): ReadonlySet<string> =>
  new Set([...objects.map(({ key }) => key), ...prefixes]);

/** Whether an answer without a length has the requested range. */
function isRange(contentRange: string | undefined, range: ByteRange | undefined): boolean {
  if (range === undefined) return true;
  const sent = contentRangeOf(contentRange).range;
  return sent?.start === range.start && sent.end === range.end;
}

/** @throws GatewayError protocol_error if the answer has nothing of a listing: it would look like an empty folder */
function pageOf(answer: ListAnswer, what: string): { page: ListedPage; last: string | undefined } {
  const { Contents, CommonPrefixes, KeyCount, Name, MaxKeys, IsTruncated } = answer;
  if ((Contents ?? CommonPrefixes ?? KeyCount ?? Name ?? MaxKeys ?? IsTruncated) === undefined) {
    throw new GatewayError('protocol_error', `${what}: the store answered a listing with something else`, {
      step: 'transfer',
    });
  }
  const isEncoded = answer.EncodingType === 'url';
  const unreadable: string[] = [];
  const decode = (text = ''): string | undefined => {
    const key = decodeListedKey(text, isEncoded);
    if (key !== undefined && key !== '') return key;
    unreadable.push(text);
    return undefined;
  };
  const objects: ShownObject[] = [];
  for (const { Key, Size: size, LastModified, ETag } of answer.Contents ?? []) {
    const key = decode(Key);
    if (key !== undefined) objects.push({ key, size, modifiedAt: wholeSeconds(LastModified), etag: bareEtag(ETag) });
  }
  const prefixes = (answer.CommonPrefixes ?? []).flatMap(({ Prefix }) => decode(Prefix) ?? []);
  const counted = objects.length + prefixes.length + unreadable.length;
  // Entries that the store counts but does not show have no name here.
  for (let missing = (answer.KeyCount ?? 0) - counted; missing > 0; missing--) unreadable.push('');
  const ends = [objects.at(-1)?.key, prefixes.at(-1)].filter((key) => key !== undefined);
  // Stores sort keys by their UTF-8 bytes, which is not the order of JavaScript's strings.
  const last = ends.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).at(-1);
  return { page: { objects, prefixes, unreadable }, last };
}

/** A Content-Range (RFC 9110, 14.4): its range, and the size of the whole object, if the store gives them. */
function contentRangeOf(field = ''): { readonly range?: ByteRange; readonly total?: number } {
  const [, start, end, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(field) ?? [];
  if (start === undefined || end === undefined) return {};
  const range = { start: Number(start), end: Number(end) };
  return total === '*' ? { range } : { range, total: Number(total) };
}
