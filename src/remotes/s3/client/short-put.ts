/**
 * PutObject of bytes in memory, signed and sent without the SDK's twenty steps, which cost more processor time than
 * everything else about a short object. Only a plain success is handled here: any other answer is passed to the SDK as
 * if it had sent the request itself, so that errors, and what they reveal about clocks, are handled in one place.
 */
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { createHmac, hash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { crc32 } from 'node:zlib';
import { onAbort } from '../../../base/deadline.js';
import type { S3Connection } from '../../../connections/connection.js';
import { proofOf } from '../../certificate-proof.js';
import { type Answered, USER_AGENT, type Witnessed } from './bounded-handler.js';

/** In the SDK's terms. */
interface ShortObject {
  readonly Bucket: string;
  readonly Key: string;
  readonly Body: Buffer;
  readonly ContentType: string;
  readonly Metadata?: Readonly<Record<string, string>>;
  readonly IfNoneMatch?: '*';
  readonly ContentMD5?: string;
}

interface ShortPutOptions {
  readonly client: S3Client;
  readonly connection: S3Connection;
  readonly endpoint: URL;
  readonly agents: { readonly http: http.Agent; readonly https: https.Agent };
  /** The SDK would send a checksum with each body. */
  readonly hasChecksum: boolean;
}

interface SendOptions extends Witnessed {
  readonly abortSignal: AbortSignal;
}

/** The address of a bucket's objects, and the scope that their requests are signed for. */
interface Place {
  readonly url: URL;
  /** The path before the key. */
  readonly path: string;
  readonly region: string;
  readonly service: string;
}

export class ShortPuts {
  readonly #options: ShortPutOptions;
  readonly #places = new Map<string, Place | undefined>();
  #signingKey: { readonly scope: string; readonly key: Buffer } | undefined;

  constructor(options: ShortPutOptions) {
    this.#options = options;
  }

  /** Rejects with the errors of the SDK. */
  async put(object: ShortObject, options: SendOptions): Promise<{ readonly ETag?: string | undefined }> {
    const place = this.#placeOf(object.Bucket);
    const answered = place && (await this.#send(place, object, options.abortSignal));
    if (answered !== undefined && options.seen !== undefined) options.seen.proof = proofOf(answered.socket);
    if (answered?.statusCode === 200 && answered.headers['content-length'] === '0') {
      // The socket is free once the answer has ended.
      answered.resume();
      return { ETag: answered.headers.etag };
    }
    const command = new PutObjectCommand({ ...object, ContentLength: object.Body.length });
    const handed: SendOptions & Answered = { ...options, ...(answered && { answered }) };
    return this.#options.client.send(command, handed);
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
    return { url, path: `${url.pathname.replace(/\/$/, '')}/`, region, service };
  }

  #send(place: Place, object: ShortObject, signal: AbortSignal): Promise<http.IncomingMessage> {
    signal.throwIfAborted();
    const { hostname, port, protocol } = place.url;
    const path = place.path + object.Key.split('/').map(encoded).join('/');
    const isSecure = protocol === 'https:';
    return new Promise((done, fail) => {
      const request = (isSecure ? https : http).request({
        method: 'PUT',
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port,
        path,
        headers: this.#headersOf(place, path, object),
        agent: isSecure ? this.#options.agents.https : this.#options.agents.http,
      });
      request.once(
        'close',
        onAbort(signal, (reason) => request.destroy(reason)),
      );
      request.on('error', fail);
      request.once('response', done);
      request.end(object.Body);
    });
  }

  /** The headers of Signature Version 4 (AWS, "Create a signed AWS API request"). */
  #headersOf(
    { url, region, service }: Place,
    path: string,
    { Body: body, ContentType, ContentMD5, Metadata = {}, IfNoneMatch }: ShortObject,
  ): http.OutgoingHttpHeaders {
    const { client, connection, hasChecksum } = this.#options;
    const time = new Date(Date.now() + client.config.systemClockOffset).toISOString().replace(/[-:]|\.\d+/g, '');
    const digest = hash('sha256', body, 'hex');
    const signed: Record<string, string> = {
      'content-type': ContentType,
      host: url.host,
      'x-amz-content-sha256': digest,
      'x-amz-date': time,
      ...(ContentMD5 === undefined ? {} : { 'content-md5': ContentMD5 }),
      ...(IfNoneMatch === undefined ? {} : { 'if-none-match': IfNoneMatch }),
      ...(connection.sessionToken === undefined ? {} : { 'x-amz-security-token': connection.sessionToken }),
      ...(hasChecksum ? { 'x-amz-checksum-crc32': checksumOf(body), 'x-amz-sdk-checksum-algorithm': 'CRC32' } : {}),
    };
    for (const [name, value] of Object.entries(Metadata)) signed[`x-amz-meta-${name}`] = value;
    const names = Object.keys(signed).sort();
    const lines = names.map((name) => `${name}:${signed[name]}\n`);
    const request = `PUT\n${path}\n\n${lines.join('')}\n${names.join(';')}\n${digest}`;
    const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', request, 'hex')}`;
    const signature = createHmac('sha256', this.#keyFor(scope)).update(text).digest('hex');
    const credential = `Credential=${connection.accessKeyId}/${scope}`;
    return {
      ...signed,
      'content-length': body.length,
      'user-agent': USER_AGENT,
      authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
    };
  }

  /** One key is valid for a day. */
  #keyFor(scope: string): Buffer {
    if (this.#signingKey?.scope !== scope) {
      let key: Buffer = Buffer.from(`AWS4${this.#options.connection.secretAccessKey}`);
      for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
      this.#signingKey = { scope, key };
    }
    return this.#signingKey.key;
  }
}

function checksumOf(body: Buffer): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return sum.toString('base64');
}

/** Encodes all characters except the unreserved ones of RFC 3986. */
function encoded(part: string): string {
  return encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
