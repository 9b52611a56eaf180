/** Requests to the S3 front, signed by an own hand: an attack changes any part of them, before or after the signature. */
import { createHmac, hash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

export interface Pair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Shot {
  readonly method?: string;
  /** As it is sent and signed, with the prefix of the front. */
  readonly path: string;
  /** The path in the signature, where the one that is sent must not be sent as it is signed. */
  readonly signedPath?: string;
  /** As it is sent and signed: sorted. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  readonly pair?: Pair;
  readonly time?: number;
  readonly region?: string;
  readonly service?: string;
  readonly payload?: string;
  /** The names that are signed, in addition to all that have a value here. */
  readonly unsigned?: readonly string[];
}

export interface Signed {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly signature: string;
  readonly date: string;
  readonly scope: string;
  readonly key: Buffer;
}

const HOST = '127.0.0.1';
const stamp = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

function keyOf({ secretAccessKey }: Pair, scope: string): Buffer {
  return scope.split('/').reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secretAccessKey}`));
}

export function signatureOf(key: Buffer, text: string): string {
  return hmac(key, text).toString('hex');
}

export class Signer {
  readonly #port: number;
  readonly #pair: Pair;

  constructor(port: number, pair: Pair) {
    this.#port = port;
    this.#pair = pair;
  }

  /** With the signature in its Authorization field. */
  sign(shot: Shot): Signed {
    const { method = 'GET', path, query = '', headers = {}, pair = this.#pair, time = Date.now() } = shot;
    const { region = 'us-east-1', service = 's3', unsigned = [], signedPath = path } = shot;
    const body = Buffer.from(shot.body ?? '');
    const date = stamp(time);
    const payload = shot.payload ?? hash('sha256', body, 'hex');
    const all: Record<string, string> = {
      host: `${HOST}:${this.#port}`,
      'x-amz-content-sha256': payload,
      'x-amz-date': date,
      ...headers,
    };
    const names = Object.keys(all)
      .filter((name) => !unsigned.includes(name))
      .sort();
    const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
    const lines = names.map((name) => `${name}:${all[name]?.trim()}\n`).join('');
    const text = `${method}\n${signedPath}\n${query}\n${lines}\n${names.join(';')}\n${payload}`;
    const key = keyOf(pair, scope);
    const signature = signatureOf(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', text, 'hex')}`);
    const credential = `Credential=${pair.accessKeyId}/${scope}`;
    all['authorization'] = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    return { method, path, query, headers: all, body, signature, date, scope, key };
  }

  /** With the signature in its query. */
  presign(shot: Shot & { readonly expires?: string }): Signed {
    const { method = 'GET', path, headers = {}, pair = this.#pair, time = Date.now(), expires = '60' } = shot;
    const body = Buffer.from(shot.body ?? '');
    const date = stamp(time);
    const scope = `${date.slice(0, 8)}/us-east-1/s3/aws4_request`;
    const all = { host: `${HOST}:${this.#port}`, ...headers };
    const names = Object.keys(all).sort();
    const parameters = [
      ...(shot.query === undefined ? [] : shot.query.split('&')),
      'X-Amz-Algorithm=AWS4-HMAC-SHA256',
      `X-Amz-Credential=${encodeURIComponent(`${pair.accessKeyId}/${scope}`)}`,
      `X-Amz-Date=${date}`,
      `X-Amz-Expires=${expires}`,
      `X-Amz-SignedHeaders=${encodeURIComponent(names.join(';'))}`,
    ];
    const query = parameters.sort().join('&');
    const lines = Object.entries(all)
      .sort()
      .map(([name, value]) => `${name}:${value}\n`)
      .join('');
    const text = `${method}\n${path}\n${query}\n${lines}\n${names.join(';')}\nUNSIGNED-PAYLOAD`;
    const key = keyOf(pair, scope);
    const signature = signatureOf(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', text, 'hex')}`);
    return {
      method,
      path,
      query: `${query}&X-Amz-Signature=${signature}`,
      headers: all,
      body,
      signature,
      date,
      scope,
      key,
    };
  }

  send(shot: Signed | Shot, more: readonly string[] = []): Promise<S3Answer> {
    const signed = 'signature' in shot ? shot : this.sign(shot);
    return this.raw(bytesOf(signed, more));
  }

  /** These bytes over a socket of their own; `isEnd`: the client closes its side after them. */
  async raw(bytes: Buffer, isEnd = false): Promise<S3Answer> {
    const socket = net.connect(this.#port, HOST);
    const received: Buffer[] = [];
    socket.on('data', (piece) => received.push(piece));
    // What the gateway refuses early, it does not read.
    socket.on('error', () => undefined);
    if (isEnd) socket.end(bytes);
    else socket.write(bytes);
    await new Promise<void>((done) => {
      socket.once('close', () => done());
      const isHead = bytes.toString('latin1', 0, 5) === 'HEAD ';
      socket.on('data', () => isWhole(Buffer.concat(received), isHead) && done());
    });
    socket.destroy();
    return answerIn(Buffer.concat(received));
  }

  /** Sends all of this, and resets the connection when `until` is done. */
  async leave(bytes: Buffer, until: () => Promise<unknown>): Promise<void> {
    const socket = net.connect(this.#port, HOST);
    socket.on('error', () => undefined);
    socket.write(bytes);
    await until();
    const closed = once(socket, 'close');
    socket.resetAndDestroy();
    await closed;
  }
}

/** `more`: header lines besides those that are signed, as they are sent. */
export function bytesOf({ method, path, query, headers, body }: Signed, more: readonly string[] = []): Buffer {
  const given = Object.keys(headers);
  const sized = given.some((name) => /^(content-length|transfer-encoding)$/i.test(name));
  const lines = [
    `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1`,
    ...given.map((name) => `${name}: ${headers[name]}`),
    ...(sized || body.length === 0 ? [] : [`content-length: ${body.length}`]),
    ...more,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

export interface S3Answer {
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  /** The code in the XML; "" without one. */
  readonly code: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

function answerIn(bytes: Buffer): S3Answer {
  const [head = '', ...rest] = bytes.toString('latin1').split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = new Map(
    fields.map((field) => [field.split(':', 1)[0]?.toLowerCase() ?? '', field.replace(/^[^:]*: ?/, '')]),
  );
  const text = rest.join('\r\n\r\n');
  return { status: Number(line.split(' ')[1] ?? 0), code: /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '', headers, text };
}

function isWhole(bytes: Buffer, isHead: boolean): boolean {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0 || isHead) return end >= 0;
  const head = bytes.toString('latin1', 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return bytes.length >= end + 4 + Number(length);
  return /\r\ntransfer-encoding/i.test(head) ? bytes.subarray(-5).toString() === '0\r\n\r\n' : true;
}

/** A body in chunks as S3 has them, each signed on the one before. */
export function chunksOf({ key, date, scope, signature }: Signed, pieces: readonly string[]): string[] {
  const empty = hash('sha256', '', 'hex');
  let previous = signature;
  return [...pieces, ''].map((piece) => {
    const text = `AWS4-HMAC-SHA256-PAYLOAD\n${date}\n${scope}\n${previous}\n${empty}\n${hash('sha256', piece, 'hex')}`;
    previous = signatureOf(key, text);
    return `${piece.length.toString(16)};chunk-signature=${previous}\r\n${piece}\r\n`;
  });
}
