/**
 * Requests over one kept connection per client, without node:http: with it the load would cost more than a cheap
 * answer.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { ownName, type Driver, type HttpCall } from './spec.js';

const END_OF_HEAD = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';
const READ_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

export async function httpDriver(call: HttpCall, clients: number): Promise<Driver> {
  const requests = new Requests(call);
  const { hostname, port } = new URL(call.url);
  const connections = await Promise.all(
    Array.from({ length: clients }, () => KeptConnection.open(hostname, Number(port))),
  );
  return {
    call: (client, turn) => {
      const connection = connections[client];
      if (connection === undefined) throw new Error(`there is no connection ${client}`);
      return connection.ask(requests.of(ownName(client, turn)));
    },
    close: () => connections.forEach((connection) => connection.close()),
  };
}

/** Each request is built once: names repeat after a while. */
class Requests {
  readonly #call: HttpCall;
  readonly #known = new Map<string, Buffer>();
  readonly #body: Buffer | undefined;

  constructor(call: HttpCall) {
    this.#call = call;

    this.#body = call.bodyFile === undefined ? undefined : readFileSync(call.bodyFile);
  }

  of(name: string): Buffer {
    const key = this.#call.url.includes('{n}') ? name : '';
    const known = this.#known.get(key) ?? this.#make(name);
    this.#known.set(key, known);
    return known;
  }

  #make(name: string): Buffer {
    const { method, url, headers } = this.#call;
    const { host, origin } = new URL(url);
    const length = this.#body === undefined ? {} : { 'Content-Length': String(this.#body.length) };
    const fields = Object.entries({ Host: host, ...headers, ...length });
    const lines = [`${method} ${url.slice(origin.length).replace('{n}', name)} HTTP/1.1`];
    for (const [field, value] of fields) lines.push(`${field}: ${value}`);
    return Buffer.concat([Buffer.from(lines.join('\r\n') + END_OF_HEAD, 'latin1'), this.#body ?? NOTHING]);
  }
}

class KeptConnection {
  #socket: net.Socket | undefined;
  #arrived: Buffer = NOTHING;
  #failure: Error | undefined;
  #asking: { done(): void; failed(error: Error): void } | undefined;

  static async open(host: string, port: number): Promise<KeptConnection> {
    const connection = new KeptConnection();
    const onread = {
      // One buffer for all reads: Node.js would allocate one of this size for each.
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (bytes: number, buffer: Uint8Array) => {
        connection.#take(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
        return true;
      },
    };
    const socket = net.connect({ host, port, noDelay: true, onread });
    connection.#socket = socket;
    await once(socket, 'connect');
    socket.on('error', (error) => connection.#fail(error));
    socket.on('close', () => connection.#fail(new Error('the connection was closed')));
    return connection;
  }

  ask(request: Buffer): Promise<void> {
    return new Promise((done, failed) => {
      if (this.#failure !== undefined) return failed(this.#failure);
      this.#asking = { done, failed };
      this.#socket?.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #take(chunk: Buffer): void {
    const bytes = this.#arrived.length === 0 ? chunk : Buffer.concat([this.#arrived, chunk]);
    const endOfHead = bytes.indexOf(END_OF_HEAD);
    const head = endOfHead === -1 ? '' : bytes.toString('latin1', 0, endOfHead);
    if (head === '' || !isWhole(head, bytes.subarray(endOfHead + END_OF_HEAD.length))) {
      // A copy: the next read writes into the same memory.
      this.#arrived = bytes === chunk ? Buffer.from(chunk) : bytes;
      return;
    }
    this.#arrived = NOTHING;
    const asking = this.#asking;
    this.#asking = undefined;
    if (/^HTTP\/1\.1 2/.test(head)) asking?.done();
    else asking?.failed(new Error(`an answer was not 2xx: ${bytes.toString('latin1', 0, 600)}`));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#asking?.failed(error);
  }
}

function isWhole(head: string, body: Buffer): boolean {
  const length = /\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return body.length >= Number(length);
  if (/\ntransfer-encoding: *chunked/i.test(head))
    return body.subarray(-LAST_CHUNK.length).toString('latin1') === LAST_CHUNK;
  return true;
}
