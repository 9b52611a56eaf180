import { once } from 'node:events';
import net from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; repeated fields are all included. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  field(name: string): string | undefined;
}

/** A socket that shows what is really on the wire. */
export class RawClient {
  received = Buffer.alloc(0);
  isClosed = false;
  readonly closed: Promise<void>;

  private constructor(readonly socket: net.Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true;
        resolve();
      });
    });
  }

  static async open(
    port: number,
    options: { readonly allowHalfOpen?: boolean; readonly localAddress?: string } = {},
  ): Promise<RawClient> {
    const socket = net.connect({ host: '127.0.0.1', port, ...options });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  send(...parts: (string | Uint8Array)[]): this {
    for (const part of parts) this.socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    return this;
  }

  /** Resolves when `isEnough` is true for the received bytes, or the connection has ended. */
  async until(isEnough: (received: Buffer) => boolean): Promise<Buffer> {
    while (!isEnough(this.received) && !this.isClosed) {
      const data = once(this.socket, 'data').catch(() => undefined);
      await Promise.race([data, this.closed]);
    }
    return this.received;
  }

  /** The next whole answer, removed from what was received. `isHead`: no body follows the head. */
  async answer({ isHead = false } = {}): Promise<RawAnswer> {
    await this.until((received) => parse(received, isHead) !== undefined);
    const parsed = parse(this.received, isHead);
    if (parsed === undefined) {
      throw new Error(
        `the connection closed without a whole answer: ${this.received.subarray(0, 400).toString('latin1')}`,
      );
    }
    this.received = this.received.subarray(parsed.length);
    return parsed.answer;
  }
}

function parse(bytes: Buffer, isHead: boolean): { answer: RawAnswer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const field = (name: string): string | undefined => headers.find(([other]) => other === name)?.[1];
  const start = end + 4;
  const whole = (body: Buffer, length: number): { answer: RawAnswer; length: number } => ({
    answer: { status, headers, body, field },
    length,
  });
  if (isHead || status < 200 || status === 204 || status === 304) return whole(Buffer.alloc(0), start);
  if (field('transfer-encoding') === 'chunked') {
    const chunked = unchunk(bytes, start);
    return chunked === undefined ? undefined : whole(chunked.body, chunked.end);
  }
  const length = Number(field('content-length') ?? 0);
  if (bytes.length < start + length) return undefined;
  return whole(Buffer.from(bytes.subarray(start, start + length)), start + length);
}

function unchunk(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), end: end + 2 };
    chunks.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}
