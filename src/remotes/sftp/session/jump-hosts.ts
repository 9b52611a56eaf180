import type net from 'node:net';
import type { Client, ClientChannel } from 'ssh2';
import { orAbort, waitFor, withDeadline } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError, hasCode, toGatewayError } from '../../../base/errors.js';
import type { SftpConnection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import { wayOf } from '../../dial/dial.js';
import { type Jumps, nameOfJump, type TunnelOptions } from '../../dial/tunnel.js';
import type { ProtocolDeps } from '../../protocol.js';
import { unknownServer } from '../memory.js';
import { type Login, logIn } from './login.js';
import { acknowledgePromptly } from './prompt-acknowledgements.js';
import { asSocket } from './tunnel-socket.js';

/**
 * Connections that share one SSH connection, as one process of the jump host encrypts for all of them. More share it
 * once there are `maxSessions`.
 */
const MOST_CHANNELS = 8;
const IDLE_MS = 30_000;
const NEVER_ABORTED = new AbortController().signal;
/** Reasons to refuse a channel (RFC 4254, 5.1). */
const PROHIBITED = 1;

/** An SSH connection to a jump host. */
interface Line {
  readonly login: Promise<Login>;
  /** Open connections, and those that are being opened. */
  channels: number;
  readonly sockets: Set<net.Socket>;
  idle: NodeJS.Timeout | undefined;
}

/**
 * The SSH connections to jump hosts: each carries several connections to servers (direct-tcpip), and is closed once it
 * has been unused for a while.
 */
export class JumpHosts implements Jumps {
  readonly #deps: ProtocolDeps;
  readonly #limitsOf: (jump: SftpConnection) => PoolLimits;
  readonly #lines = new Map<string, Line[]>();

  constructor(
    { observer: _other, ...deps }: Omit<ProtocolDeps, 'jumps'>,
    limitsOf: (jump: SftpConnection) => PoolLimits,
  ) {
    // A jump host may be behind another one.
    this.#deps = { ...deps, jumps: this };
    this.#limitsOf = limitsOf;
  }

  async connect(jump: SftpConnection, host: string, port: number, options: TunnelOptions): Promise<net.Socket> {
    const name = nameOfJump(jump);
    const target = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    const line = this.#lineTo(jump);
    line.channels += 1;
    clearTimeout(line.idle);
    const late = (): GatewayError =>
      failure('connect_timeout', `${name} did not connect to ${target} within ${options.timeoutMs} ms`);
    let isSilent = (): boolean => false;
    try {
      const channel = await withDeadline({ signal: options.signal, ms: options.timeoutMs, late }, async (limit) => {
        const { client, socket } = await orAbort(line.login, limit);
        const heard = socket.bytesRead;
        isSilent = () => socket.bytesRead === heard;
        return openChannel(client, { host, port, name, target }, limit);
      });
      const socket = asSocket(channel, host);
      line.sockets.add(socket);
      socket.once('close', () => {
        line.sockets.delete(socket);
        this.#left(jump, line);
      });
      return socket;
    } catch (error) {
      // It may be dead, which its keep-alives show a minute later: the next connection gets another line.
      if (hasCode(error, 'connect_timeout') && isSilent()) this.#forget(keyOf(jump), line);
      this.#left(jump, line);
      throw error;
    }
  }

  close(): void {
    for (const lines of this.#lines.values()) for (const line of lines) end(line);
    this.#lines.clear();
  }

  #lineTo(jump: SftpConnection): Line {
    const key = keyOf(jump);
    const lines = this.#lines.get(key) ?? [];
    this.#lines.set(key, lines);
    const limits = this.#limitsOf(jump);
    const quietest = (): Line | undefined => lines.toSorted((a, b) => a.channels - b.channels)[0];
    const free = lines.find(({ channels }) => channels < MOST_CHANNELS);
    const shared = free ?? (lines.length < limits.maxSessions ? undefined : quietest());
    if (shared !== undefined) return shared;
    const login = logIn(jump, limits, this.#deps, unknownServer(), NEVER_ABORTED).catch((thrown: unknown) => {
      const error = toGatewayError(thrown);
      throw new GatewayError(error.code, `${nameOfJump(jump)}: ${error.message}`, {
        step: error.step,
        cause: error,
      });
    });
    const line: Line = { login, channels: 0, sockets: new Set(), idle: undefined };
    lines.push(line);
    const forget = (): void => this.#forget(key, line);
    login.then(({ client, socket }) => {
      client.on('error', forget);
      client.once('end', forget);
      client.once('close', () => {
        forget();
        cut(line);
      });
      acknowledgePromptly(client, socket);
      // It may have closed between the login and these listeners.
      if (socket.destroyed) forget();
    }, forget);
    return line;
  }

  #left(jump: SftpConnection, line: Line): void {
    line.channels -= 1;
    if (line.channels > 0) return;
    line.idle = setTimeout(() => {
      this.#forget(keyOf(jump), line);
      end(line);
    }, IDLE_MS).unref();
  }

  #forget(key: string, line: Line): void {
    const others = (this.#lines.get(key) ?? []).filter((one) => one !== line);
    if (others.length > 0) this.#lines.set(key, others);
    else this.#lines.delete(key);
  }
}

/** What two connections must have in common to share the way to a jump host. */
const keyOf = (jump: SftpConnection): string => wayOf({ jump }).join();

interface Way {
  readonly host: string;
  readonly port: number;
  /** The jump host, and the server, for people. */
  readonly name: string;
  readonly target: string;
}

function openChannel(client: Client, { host, port, name, target }: Way, limit: EndSignal): Promise<ClientChannel> {
  return waitFor({ signal: limit }, (done, fail) => {
    let isGivenUp = false;
    const lost = (): void => fail(failure('unreachable', `${name} cut the connection`));
    client.once('close', lost);
    try {
      client.forwardOut('127.0.0.1', 0, host, port, (error, opened) => {
        if (error !== undefined) fail(refusalOf(error, name, target));
        else if (isGivenUp) opened.destroy();
        else done(opened);
      });
    } catch {
      // ssh2 throws if the connection has ended and is not closed yet.
      lost();
    }
    return (error) => {
      isGivenUp = error !== undefined;
      client.off('close', lost);
    };
  });
}

/** ssh2 would end them as their servers do, so that half a listing counted as a whole one. */
function cut({ sockets }: Line): void {
  for (const socket of sockets) {
    socket.destroy(Object.assign(new Error('the connection to the jump host was cut'), { code: 'ECONNRESET' }));
  }
}

function end(line: Line): void {
  clearTimeout(line.idle);
  line.login.then(
    ({ client }) => client.end(),
    () => undefined,
  );
}

function failure(code: 'unreachable' | 'connect_timeout', text: string): GatewayError {
  return new GatewayError(code, text, { step: 'connect' });
}

function refusalOf(error: Error & { readonly reason?: unknown }, name: string, target: string): GatewayError {
  const why =
    error.reason === PROHIBITED
      ? 'its rules forbid it (AllowTcpForwarding, PermitOpen)'
      : `it cannot reach it (${error.message.slice(0, 200)})`;
  return new GatewayError('unreachable', `${name} does not connect to ${target}: ${why}`, {
    step: 'connect',
    cause: error,
  });
}
