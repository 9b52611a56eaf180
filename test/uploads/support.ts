/** A hand-written client of tus 1.0.0: the test shows everything that it sends. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import net from 'node:net';
import type { Readable } from 'node:stream';
import type { ApiAnswer, ApiClient } from '../support/gateway.js';

export const VERSION = { 'Tus-Resumable': '1.0.0' } as const;
export const PIECE = 'application/offset+octet-stream';

export function metadata(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs)
    .map(([key, value]) => (value === '' ? key : `${key} ${Buffer.from(value).toString('base64')}`))
    .join(',');
}

/** Asks for the digest of the file. */
export const WANTED = { 'Want-Repr-Digest': 'sha-256=10' } as const;

export const reprDigest = (bytes: Buffer): string => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;

type Headers = Readonly<Record<string, string>>;
type Body = Buffer | Readable;

export class Tus {
  constructor(
    readonly api: ApiClient,
    connectionId = 'c1',
    /** Where uploads begin. */
    readonly address = `/api/uploads/${connectionId}`,
  ) {}

  create(pairs: Readonly<Record<string, string>>, headers: Headers, body?: Body): Promise<ApiAnswer> {
    return this.api.send(this.address, {
      method: 'POST',
      headers: {
        ...VERSION,
        'Upload-Metadata': metadata(pairs),
        ...(body === undefined ? {} : { 'Content-Type': PIECE }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  }

  /** The URL of a new upload of this many bytes. */
  async begin(pairs: Readonly<Record<string, string>>, length: number, headers: Headers = {}): Promise<string> {
    const answer = await this.create(pairs, { 'Upload-Length': String(length), ...headers });
    assert.equal(answer.status, 201, answer.text);
    return String(answer.headers.location);
  }

  patch(url: string, offset: number, body: Body, headers: Headers = {}): Promise<ApiAnswer> {
    return this.api.send(url, {
      method: 'PATCH',
      headers: { ...VERSION, 'Content-Type': PIECE, 'Upload-Offset': String(offset), ...headers },
      body,
    });
  }

  head(url: string, headers: Headers = {}): Promise<ApiAnswer> {
    return this.api.send(url, { method: 'HEAD', headers: { ...VERSION, ...headers } });
  }

  end(url: string): Promise<ApiAnswer> {
    return this.api.send(url, { method: 'DELETE', headers: VERSION });
  }

  async offset(url: string): Promise<number> {
    const answer = await this.head(url);
    assert.equal(answer.status, 200, JSON.stringify(answer.headers));
    return Number(answer.headers['upload-offset']);
  }

  /** The head of a PATCH; the caller sends its bytes, and reads its answer. */
  sendHead(url: string, offset: number, announced: number): { readonly socket: net.Socket } {
    const socket = net.connect(this.api.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const head = { ...VERSION, 'Content-Type': PIECE, 'Upload-Offset': offset, 'Content-Length': announced };
    const fields = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `PATCH ${url} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${this.api.key}\r\n${fields.join('')}\r\n`,
    );
    return { socket };
  }
}
