/**
 * The requests that most operations send: they store, describe, read or remove one object, or show that a name is free.
 * They are signed and sent without the SDK's twenty steps, which cost more processor time than everything else about a
 * short object. Only a plain success is handled here: any other answer is passed to the SDK as if it had sent the
 * request itself, so that errors, and what they reveal about clocks, are handled in one place.
 */
import {
  DeleteObjectCommand,
  type DeleteObjectCommandInput,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import http from 'node:http';
import https from 'node:https';
import { onAbort } from '../../../base/deadline.js';
import { type Keys, RequestSigner, uriEncoded } from '../../../base/aws-signature.js';
import type { EndSignal } from '../../../base/ending.js';
import { type Agents, refuseUpgrade, textOf, TooLong } from '../../../base/short-request.js';
import type { S3Connection } from '../../../connections/connection.js';
import { proofOf } from '../../certificate-proof.js';
import { type Added, addedHeaders } from './additions.js';
import { type AnsweredCall, USER_AGENT, type Witnessed } from './bounded-handler.js';
import { crc32InBase64 } from './crc32.js';
import type { Credentials } from './credentials.js';

/** The object that a request is about, in the SDK's terms. */
interface ObjectName extends Added {
  readonly Bucket: string;
  readonly Key: string;
}

interface ShortObject extends ObjectName {
  readonly Body: Buffer;
  readonly ContentType: string;
  readonly Metadata?: Readonly<Record<string, string>>;
  readonly IfNoneMatch?: '*';
  readonly ContentMD5?: string;
}

interface WantedObject extends ObjectName {
  readonly IfMatch?: string;
  readonly Range?: string;
}

interface KeysBelow extends Added {
  readonly Bucket: string;
  readonly Prefix: string;
}

/** What is asked of a bucket, or of an object in it. */
interface Asked extends Added {
  readonly method: string;
  readonly Bucket: string;
  /** Absent: the bucket. */
  readonly Key?: string;
  /** Encoded, its names in order. */
  readonly query?: string;
  readonly headers?: Headers;
  readonly body?: Buffer;
}

type Headers = Readonly<Record<string, string>>;

/** What an answer to HEAD or GET shows of an object. */
export type ObjectAnswer = Pick<
  Partial<GetObjectCommandOutput>,
  keyof HeadObjectCommandOutput & keyof GetObjectCommandOutput
> & { readonly Body?: unknown };

interface SignedRequestsOptions {
  readonly client: S3Client;
  readonly connection: S3Connection;
  readonly credentials: Credentials;
  readonly endpoint: URL;
  readonly agents: Agents;
  /** The SDK would send a checksum with each body. */
  readonly hasChecksum: boolean;
}

interface SendOptions extends Witnessed {
  /** Ends a request that is sent here. */
  readonly ending: EndSignal;
  /** Ends one that the SDK sends, or handles. */
  readonly abortSignal: AbortSignal;
}

/** The address of a bucket's objects, and the scope that their requests are signed for. */
interface Place {
  readonly url: URL;
  /** The path before a key. */
  readonly path: string;
  readonly bucketPath: string;
  readonly region: string;
  readonly service: string;
}

export class SignedRequests {
  readonly #options: SignedRequestsOptions;
  readonly #places = new Map<string, Place | undefined>();
  readonly #signer = new RequestSigner();

  constructor(options: SignedRequestsOptions) {
    this.#options = options;
  }

  /** Stores a short object. Each of these rejects with the errors of the SDK. */
  async put(object: ShortObject, options: SendOptions): Promise<{ readonly ETag?: string | undefined }> {
    const { Body: body, ContentType, ContentMD5, Metadata = {}, IfNoneMatch } = object;
    const headers: Record<string, string> = { 'content-type': ContentType };
    if (ContentMD5 !== undefined) headers['content-md5'] = ContentMD5;
    if (IfNoneMatch !== undefined) headers['if-none-match'] = IfNoneMatch;
    if (this.#options.hasChecksum) {
      headers['x-amz-checksum-crc32'] = crc32InBase64(body);
      headers['x-amz-sdk-checksum-algorithm'] = 'CRC32';
    }
    for (const [name, value] of Object.entries(Metadata)) headers[METADATA + name] = value;
    const answer = await this.#ask({ ...object, method: 'PUT', headers, body }, options);
    if (answer?.statusCode === 200 && answer.headers['content-length'] === '0') {
      // The socket is free once the answer has ended.
      answer.resume();
      return { ETag: answer.headers.etag };
    }
    const command = new PutObjectCommand({ ...object, ContentLength: body.length });
    return this.#options.client.send(command, handed(options, answer));
  }

  async head(object: ObjectName, options: SendOptions): Promise<ObjectAnswer> {
    const answer = await this.#ask({ ...object, method: 'HEAD' }, options);
    const found = answer && objectOf(answer);
    if (found === undefined) return this.#options.client.send(new HeadObjectCommand(object), handed(options, answer));
    answer?.resume();
    return found;
  }

  /** `Body` is a stream, which must be read or destroyed. */
  async get(object: WantedObject, options: SendOptions): Promise<ObjectAnswer> {
    const headers: Record<string, string> = {};
    if (object.IfMatch !== undefined) headers['if-match'] = object.IfMatch;
    if (object.Range !== undefined) headers['range'] = object.Range;
    const answer = await this.#ask({ ...object, method: 'GET', headers }, options);
    const found = answer && objectOf(answer);
    if (found === undefined) return this.#options.client.send(new GetObjectCommand(object), handed(options, answer));
    return { ...found, Body: answer };
  }

  async remove(object: DeleteObjectCommandInput & ObjectName, options: SendOptions): Promise<void> {
    const headers: Headers = object.IfMatch === undefined ? {} : { 'if-match': object.IfMatch };
    const answer = await this.#ask({ ...object, method: 'DELETE', headers }, options);
    if (answer?.statusCode === 204) answer.resume();
    else await this.#options.client.send(new DeleteObjectCommand(object), handed(options, answer));
  }

  /** Whether no key begins with `Prefix`. False: one does, or the answer does not plainly say so. */
  async hasNone(below: KeysBelow, options: SendOptions): Promise<boolean> {
    const query = `encoding-type=url&list-type=2&max-keys=1&prefix=${uriEncoded(below.Prefix)}`;
    const answer = await this.#ask({ ...below, method: 'GET', query }, options);
    if (answer?.statusCode === 200) return textOf(answer, SHORT_LIST_BYTES).then(isEmptyList, unlessTooLong);
    const command = new ListObjectsV2Command({ ...below, MaxKeys: 1, EncodingType: 'url' });
    const { Contents = [], IsTruncated } = await this.#options.client.send(command, handed(options, answer));
    return Contents.length === 0 && IsTruncated === false;
  }

  /** undefined: the SDK must send it. */
  async #ask(asked: Asked, { ending, seen }: SendOptions): Promise<http.IncomingMessage | undefined> {
    const place = this.#placeOf(asked.Bucket);
    if (place === undefined) return undefined;
    const { credentials } = this.#options;
    const keys = credentials.atHand() ?? (await credentials.get(ending));
    const answer = await this.#send(place, asked, ending, keys);
    if (seen !== undefined) {
      seen.socket = answer.socket;
      seen.proof = proofOf(answer.socket);
    }
    return answer;
  }

  /** undefined if the SDK signs in another way. */
  #placeOf(bucket: string): Place | undefined {
    if (!this.#places.has(bucket)) this.#places.set(bucket, this.#find(bucket));
    return this.#places.get(bucket);
  }

  /** Follows the SDK's own rules; what they refuse, the SDK reports itself. */
  #find(bucket: string): Place | undefined {
    const { client, connection, endpoint } = this.#options;
    let found: ReturnType<typeof client.config.endpointProvider>;
    try {
      found = client.config.endpointProvider({
        Bucket: bucket,
        Region: connection.region,
        Endpoint: endpoint.href,
        ForcePathStyle: connection.forcePathStyle,
        UseFIPS: false,
        UseDualStack: false,
        Accelerate: false,
        UseArnRegion: false,
        DisableS3ExpressSessionAuth: true,
      });
    } catch {
      return undefined;
    }
    const { url, properties } = found;
    const [scheme] = properties?.authSchemes ?? [];
    if (scheme?.name !== 'sigv4') return undefined;
    const { signingRegion: region, signingName: service } = scheme;
    const path = url.pathname.replace(/\/$/, '');
    return { url, path: `${path}/`, bucketPath: path === '' ? '/' : path, region, service };
  }

  #send(place: Place, asked: Asked, ending: EndSignal, keys: Keys): Promise<http.IncomingMessage> {
    ending.throwIfAborted();
    const { hostname, port, protocol } = place.url;
    const { method, Key, query, body } = asked;
    const path = Key === undefined ? place.bucketPath : place.path + Key.split('/').map(uriEncoded).join('/');
    const isSecure = protocol === 'https:';
    return new Promise((done, fail) => {
      const request = (isSecure ? https : http).request({
        method,
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port,
        path: query === undefined ? path : `${path}?${query}`,
        headers: this.#headersOf(place, path, asked, keys),
        agent: isSecure ? this.#options.agents.https : this.#options.agents.http,
      });
      request.once(
        'close',
        onAbort(ending, (reason) => request.destroy(reason)),
      );
      request.on('error', fail);
      refuseUpgrade(request, fail);
      request.once('response', done);
      request.end(body);
    });
  }

  #headersOf({ url, region, service }: Place, path: string, asked: Asked, keys: Keys): http.OutgoingHttpHeaders {
    const { client } = this.#options;
    const { method, query, body } = asked;
    const headers = { ...asked.headers, ...addedHeaders(asked) };
    const time = Date.now() + client.config.systemClockOffset;
    const request = { method, host: url.host, path, query, headers, body, time, region, service };
    const signed: http.OutgoingHttpHeaders = this.#signer.sign(request, keys);
    if (body !== undefined) signed['content-length'] = body.length;
    signed['user-agent'] = USER_AGENT;
    return signed;
  }
}

const METADATA = 'x-amz-meta-';
/** A list of one key is shorter. */
const SHORT_LIST_BYTES = 16 * 1024;

/** What is not plain XML of an empty list does not count as one. */
function isEmptyList(text: string): boolean {
  const isComplete = text.includes('<IsTruncated>false<') && /ListBucketResult>\s*$/.test(text);
  return isComplete && !/[<:](Contents|CommonPrefixes)/.test(text);
}

function unlessTooLong(error: unknown): false {
  if (error instanceof TooLong) return false;
  throw error;
}

function handed(
  { abortSignal, seen }: SendOptions,
  answered: http.IncomingMessage | undefined,
): AnsweredCall & Witnessed & { readonly abortSignal: AbortSignal } {
  return { abortSignal, ...(seen && { seen }), ...(answered && { answered }) };
}

/** undefined if it is not a plain success: the SDK reads it. */
function objectOf({ statusCode, headers }: http.IncomingMessage): ObjectAnswer | undefined {
  const modifiedAt = new Date(headers['last-modified'] ?? NaN);
  const isPlain = (statusCode === 200 || statusCode === 206) && headers.expires === undefined;
  if (!isPlain || Number.isNaN(modifiedAt.getTime())) return undefined;
  const metadata: Record<string, string> = {};
  for (const name in headers)
    if (name.startsWith(METADATA)) metadata[name.slice(METADATA.length)] = String(headers[name]);
  const length = headers['content-length'];
  return {
    ContentLength: length === undefined ? undefined : Number(length),
    ContentRange: headers['content-range'],
    LastModified: modifiedAt,
    ETag: headers.etag,
    CacheControl: headers['cache-control'],
    ContentDisposition: headers['content-disposition'],
    ContentEncoding: headers['content-encoding'],
    ContentLanguage: headers['content-language'],
    ContentType: headers['content-type'],
    WebsiteRedirectLocation: text(headers['x-amz-website-redirect-location']),
    Metadata: metadata,
  };
}

const text = (value: string | string[] | undefined): string | undefined =>
  value === undefined ? undefined : String(value);
