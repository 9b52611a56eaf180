/**
 * Asks a proxy for a connection, on a socket that leads to it: CONNECT (RFC 9110, 9.3.6) or SOCKS5 (RFC 1928, 1929).
 * The proxy gets the name of the server and resolves it.
 */
import net from 'node:net';
import ipaddr from 'ipaddr.js';
import { waitFor } from '../../base/deadline.js';
import type { EndSignal } from '../../base/ending.js';
import { GatewayError } from '../../base/errors.js';

export interface Proxy {
  /** `http://host:port` or `socks5://host:port`. */
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** An answer that is longer is no answer of a proxy. */
const MOST_BYTES = 16 * 1024;

/** The address of a proxy whose URL has the form of the contract. */
export function addressOfProxy({ url }: Proxy): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^[a-z0-9]+:\/\/(.+):(\d+)\/?$/i.exec(url) ?? [];
  return { host, port: Number(port) };
}

export const nameOfProxy = ({ url }: Proxy): string => `the proxy ${url.replace(/\/$/, '')}`;

/**
 * Resolves when the socket leads to the server. Bytes after the proxy's answer stay in the socket.
 * Errors: login_refused, unreachable, protocol_error, or the signal's reason.
 */
export async function askProxy(
  socket: net.Socket,
  proxy: Proxy,
  host: string,
  port: number,
  signal: EndSignal,
): Promise<void> {
  const ask = new Questions(socket, proxy, `${host}:${port}`, signal);
  // A URL has the address in brackets; an option has it without.
  const server = host.replace(/^\[(.*)\]$/, '$1');
  await (proxy.url.startsWith('http:') ? askConnect(ask, proxy, server, port) : askSocks(ask, proxy, server, port));
}

/** Questions to one proxy, one after the other. */
class Questions {
  readonly #socket: net.Socket;
  readonly #proxy: Proxy;
  readonly #target: string;
  readonly #signal: EndSignal;

  constructor(socket: net.Socket, proxy: Proxy, target: string, signal: EndSignal) {
    this.#socket = socket;
    this.#proxy = proxy;
    this.#target = target;
    this.#signal = signal;
  }

  /** `lengthOf` returns the length of the answer once it is known; it may throw. */
  ask(request: string | Buffer, lengthOf: (received: Buffer) => number | undefined): Promise<Buffer> {
    const socket = this.#socket;
    return waitFor({ signal: this.#signal }, (done, fail) => {
      let received = Buffer.alloc(0);
      const read = (): void => {
        try {
          for (let bytes = socket.read() as Buffer | null; bytes !== null; bytes = socket.read() as Buffer | null) {
            received = Buffer.concat([received, bytes]);
          }
          const length = lengthOf(received);
          if (length !== undefined && length <= received.length) {
            if (length < received.length) socket.unshift(received.subarray(length));
            done(received.subarray(0, length));
          } else if (received.length > MOST_BYTES) fail(this.garbage(received));
        } catch (error) {
          fail(error as Error);
        }
      };
      const lost = (): void => fail(this.failed('unreachable', `closed the connection, asked for ${this.#target}`));
      socket.on('readable', read).on('end', lost).on('error', lost).on('close', lost);
      socket.write(request);
      return () => socket.off('readable', read).off('end', lost).off('error', lost).off('close', lost);
    });
  }

  failed(code: 'login_refused' | 'unreachable' | 'protocol_error', what: string, remote?: string): GatewayError {
    return new GatewayError(code, `${nameOfProxy(this.#proxy)} ${what}`, {
      step: 'proxy',
      ...(remote === undefined ? {} : { remote: { text: this.#withoutLogin(remote) } }),
    });
  }

  refused(why: string, remote?: string): GatewayError {
    return this.failed('unreachable', `does not connect to ${this.#target}: ${why}`, remote);
  }

  loginRefused(remote?: string): GatewayError {
    const { username, password } = this.#proxy;
    const isGiven = username !== undefined || password !== undefined;
    return this.failed('login_refused', isGiven ? 'refused its login' : 'asks for a login (proxy.username)', remote);
  }

  garbage(received: Buffer): GatewayError {
    const kind = this.#proxy.url.startsWith('http:') ? 'an HTTP proxy' : 'a SOCKS5 proxy';
    const shown = JSON.stringify(this.#withoutLogin(received.toString('latin1')).slice(0, 80));
    return this.failed('protocol_error', `does not answer like ${kind}; its answer begins with ${shown}`);
  }

  /** An answer may repeat the question, and with it the login. */
  #withoutLogin(text: string): string {
    const { password = '' } = this.#proxy;
    const secrets = [loginOf(this.#proxy), password].filter((secret) => secret !== '');
    return secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text);
  }
}

/** For Basic authentication (RFC 7617). */
function loginOf({ username, password }: Proxy): string {
  return Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64');
}

const HTTP = 'HTTP/1.';

async function askConnect(ask: Questions, proxy: Proxy, host: string, port: number): Promise<void> {
  const target = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
  const hasLogin = proxy.username !== undefined || proxy.password !== undefined;
  const head = [
    `CONNECT ${target} HTTP/1.1`,
    `Host: ${target}`,
    ...(hasLogin ? [`Proxy-Authorization: Basic ${loginOf(proxy)}`] : []),
  ];
  const answer = await ask.ask(`${head.join('\r\n')}\r\n\r\n`, (received) => {
    const text = received.toString('latin1');
    if (!text.startsWith(HTTP.slice(0, text.length))) throw ask.garbage(received);
    const end = /\r?\n\r?\n/.exec(text);
    return end === null ? undefined : end.index + end[0].length;
  });
  const [line, status = ''] = /^HTTP\/1\.\d (\d{3})[^\r\n]*/.exec(answer.toString('latin1')) ?? [];
  if (line === undefined) throw ask.garbage(answer);
  // tinyproxy answers 401 to a wrong login.
  if (status === '407' || status === '401') throw ask.loginRefused(line);
  // A refusal has a body, which nothing reads: the socket is closed.
  if (!status.startsWith('2')) throw ask.refused(HTTP_WORDS[status] ?? `it answered ${status}`, line);
}

const HTTP_WORDS: Readonly<Record<string, string>> = {
  '403': 'its rules forbid it',
  '405': 'it does not allow CONNECT',
  '502': 'it cannot reach the server',
  '503': 'it cannot reach the server',
  '504': 'the server did not answer it in time',
};

async function askSocks(ask: Questions, { username, password }: Proxy, host: string, port: number): Promise<void> {
  const hasLogin = username !== undefined || password !== undefined;
  const reply = (length: (received: Buffer) => number | undefined, version: number) => (received: Buffer) => {
    if (received.length > 0 && received[0] !== version) throw ask.garbage(received);
    return length(received);
  };
  const [, method] = await ask.ask(
    Buffer.from(hasLogin ? [5, 2, 0, 2] : [5, 1, 0]),
    reply(() => 2, 5),
  );
  if (method === 0xff || (method === 2 && !hasLogin)) throw ask.loginRefused();
  if (method === 2) {
    const login = Buffer.concat([Buffer.from([1]), sized(ask, username ?? ''), sized(ask, password ?? '')]);
    const [, status] = await ask.ask(
      login,
      reply(() => 2, 1),
    );
    if (status !== 0) throw ask.loginRefused();
  } else if (method !== 0)
    throw ask.failed('protocol_error', `chose the login method ${method}, which was not offered`);
  const target = Buffer.concat([
    Buffer.from([5, 1, 0]),
    socksAddress(ask, host),
    Buffer.from([port >> 8, port & 0xff]),
  ]);
  await ask.ask(
    target,
    // A refusal may lack the address.
    reply((received) => {
      const [, code = 0, , kind, length = 0] = received;
      if (received.length >= 2 && code !== 0) throw ask.refused(SOCKS_WORDS[code] ?? `it answered ${code}`);
      if (received.length < 5) return undefined;
      const address = kind === 1 ? 4 : kind === 4 ? 16 : kind === 3 ? length + 1 : undefined;
      if (address === undefined) throw ask.garbage(received);
      return address + 6;
    }, 5),
  );
}

function socksAddress(ask: Questions, host: string): Buffer {
  if (net.isIPv4(host)) return Buffer.from([1, ...host.split('.').map(Number)]);
  if (net.isIPv6(host)) return Buffer.from([4, ...ipaddr.parse(host).toByteArray()]);
  if (Buffer.byteLength(host) > MOST_NAME_BYTES) throw ask.refused('the name is too long for SOCKS5');
  return Buffer.concat([Buffer.from([3]), sized(ask, host)]);
}

/** Names, user names and passwords have their length in one byte. */
const MOST_NAME_BYTES = 255;

/** A text and its length in one byte. */
function sized(ask: Questions, text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > MOST_NAME_BYTES)
    throw ask.failed('login_refused', 'takes user names and passwords of at most 255 bytes');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

const SOCKS_WORDS: Readonly<Record<number, string>> = {
  1: 'it failed',
  2: 'its rules forbid it',
  3: 'the network is unreachable',
  4: 'the host is unreachable',
  5: 'connection refused',
  6: 'the time to live has expired',
  7: 'it does not know CONNECT',
  8: 'it does not know this kind of address',
};
