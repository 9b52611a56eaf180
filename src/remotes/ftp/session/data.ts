/**
 * Data connections: always passive, always to the host of the control connection, through its proxy, and always through
 * the dialler.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { within } from '../../../base/deadline.js';
import { GatewayError, hasCode, systemCodeOf, toGatewayError } from '../../../base/errors.js';
import { onBehalfOf } from '../../dial/dial.js';
import type { CommandExchange } from './control.js';
import type { FtpOperation } from './operation.js';
import { parseExtendedPort, parsePort } from './passive-replies.js';
import { outOfStep, refusedBy, isPositive, type Reply } from './replies.js';
import { type Security, tlsError } from './security.js';

interface DataConnection {
  readonly socket: Socket;
  /** Resolves when bytes may flow; with TLS, after the handshake. Never rejects: failures are errors of the socket. */
  readonly ready: Promise<unknown>;
}

interface Opened extends DataConnection {
  /** The reply to REST, if it was sent. */
  readonly restart: Reply | undefined;
}

/** A command whose data is flowing, or has already ended. */
export interface FtpTransfer extends DataConnection {
  readonly exchange: CommandExchange;
  readonly first: Reply;
  /** The offset of the first byte: `restartAt`, or 0 if the server refuses REST. */
  readonly startsAt: number;
}

/**
 * Opens a data connection, sends the command and waits for its first reply. A refusal is returned as that reply, with
 * the socket destroyed; the caller decides what it means.
 */
export async function beginTransfer(
  operation: FtpOperation,
  command: string,
  restartAt = 0,
  { mustRestart = false } = {},
): Promise<FtpTransfer> {
  const { control } = operation.lease;
  const verb = command.slice(0, 4);
  // A listing is split into lines in small steps: large reads would block the event loop.
  const { socket, ready, restart } = await openDataConnection(operation, verb, restartAt);
  try {
    const restarted = restart?.code === 350;
    // A STOR from the beginning would empty the file.
    if (mustRestart && restart !== undefined && !restarted) throw refusedBy(restart, 'open', `REST ${restartAt}`);
    const exchange = control.begin(command);
    const first = await control.obey(operation.signal, control.answerInTime(exchange.started, verb));
    if (first.code >= 300) {
      socket.destroy();
      if (first.code < 400) throw control.giveUp(outOfStep(operation.host, first, verb));
    }
    return { socket, ready, exchange, first, startsAt: restarted ? restartAt : 0 };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** How long a broken data connection waits for the server's own reply, which says more than ECONNRESET. */
const LAST_WORDS_MS = 2_000;

/** The final reply of an exchange whose data has ended badly; undefined when none comes soon. */
export function lastWords(exchange: CommandExchange): Promise<Reply | undefined> {
  const reply = exchange.finished.catch(() => undefined);
  return within(reply, LAST_WORDS_MS, () => undefined);
}

const TLS_FAILURE = /^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|HOSTNAME)/;

/** Translates the error that ended a data socket. */
export function dataError(operation: FtpOperation, error: Error): GatewayError {
  if (error instanceof GatewayError) return error;
  if (TLS_FAILURE.test(systemCodeOf(error))) return tlsError(operation.host, error, 'transfer');
  return new GatewayError('connection_lost', `the data connection to ${operation.host} was lost`, {
    step: 'transfer',
    cause: error,
  });
}

async function openDataConnection(operation: FtpOperation, verb: string, restartAt: number): Promise<Opened> {
  const { memory } = operation.lease;
  const open = async (way: 'EPSV' | 'PASV'): Promise<Opened> =>
    restartWhile(operation, restartAt, connectTo(operation, await askPort(operation, way), verb));
  if (memory.passive === 'PASV') return open('PASV');
  let refused: unknown;
  try {
    return await open('EPSV');
  } catch (error) {
    // EPSV is unknown to the server, or rewritten by a firewall that only understands PASV. PASV has no IPv6.
    if (!(isRefused(operation, error) || hasCode(error, 'unreachable', 'connect_timeout')) || isIPv6(operation))
      throw error;
    refused = error;
  }
  try {
    const opened = await open('PASV');
    memory.passive = 'PASV';
    return opened;
  } catch (error) {
    throw isRefused(operation, error) || hasCode(error, 'unreachable', 'connect_timeout') ? refused : error;
  }
}

/** The line carries REST while the connection opens. It applies only to the very next command (RFC 959, 4.1.3). */
async function restartWhile(
  operation: FtpOperation,
  restartAt: number,
  connecting: Promise<DataConnection>,
): Promise<Opened> {
  if (restartAt === 0) return { ...(await connecting), restart: undefined };
  // It may fail before it is awaited.
  connecting.catch(() => undefined);
  try {
    const restart = await operation.send(`REST ${restartAt}`, [350]);
    return { ...(await connecting), restart };
  } catch (error) {
    await connecting.then(
      ({ socket }) => socket.destroy(),
      () => undefined,
    );
    throw error;
  }
}

async function askPort(operation: FtpOperation, verb: 'EPSV' | 'PASV'): Promise<number> {
  const reply = await operation.send(verb, verb === 'EPSV' ? [229] : [227]);
  if (!isPositive(reply)) throw refusedPort(reply, verb);
  const port = verb === 'EPSV' ? parseExtendedPort(reply.text) : parsePort(reply.text);
  if (port === undefined || port < 1 || port > 65_535)
    throw operation.lease.control.giveUp(outOfStep(operation.host, reply, verb));
  return port;
}

/** "No such command" or "quota" in it says nothing about a file. */
function refusedPort(reply: Reply, verb: string): GatewayError {
  const subject = `opening a data connection (${verb})`;
  const error = refusedBy(reply, 'open', subject);
  if (!hasCode(error, 'not_found', 'is_a_folder', 'bad_path', 'no_space')) return error;
  return new GatewayError('remote_failure', `${subject}: the FTP server refused`, {
    step: 'open',
    remote: error.remote,
  });
}

/** By a reply, with any code: the session is as good as before. */
const isRefused = ({ lease }: FtpOperation, error: unknown): boolean =>
  error instanceof GatewayError && error.remote !== undefined && lease.control.alive;

const isIPv6 = (operation: FtpOperation): boolean => {
  const address = addressOf(operation) ?? '';
  return address.includes(':') && !address.startsWith('::ffff:');
};

/** The host of the control connection. Behind a proxy or a jump host its name: the socket knows no address of it. */
function addressOf({ connection, lease }: FtpOperation): string | undefined {
  const isDirect = connection.proxy === undefined && connection.via === undefined;
  return isDirect ? lease.control.socket.remoteAddress : connection.host;
}

async function connectTo(operation: FtpOperation, port: number, verb: string): Promise<DataConnection> {
  const { lease, deps, signal, limits } = operation;
  const address = addressOf(operation);
  if (address === undefined)
    throw new GatewayError('connection_lost', `the connection to ${operation.host} was lost`, { step: 'open' });
  let socket: Socket;
  try {
    socket = await deps.dialer.connect(address, port, {
      ...onBehalfOf(operation.connection, deps),
      signal,
      timeoutMs: limits.connectTimeoutMs,
      hasWideReads: verb === 'RETR' && lease.security === undefined,
    });
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = toGatewayError(thrown);
    const text = `no data connection to ${operation.host} on its passive port ${port}; a firewall may block the passive port range (${error.message})`;
    throw new GatewayError(error.code, text, { step: 'open', cause: error });
  }
  if (lease.security === undefined) return { socket: quiet(socket), ready: Promise.resolve() };
  const secured = quiet(secure(lease.security, quiet(socket), verb, operation));
  const ready = new Promise((done) => secured.once('secureConnect', done));
  return { socket: secured, ready };
}

function secure(security: Security, socket: Socket, verb: string, { connection, limits }: FtpOperation): TLSSocket {
  if (verb === 'LIST' || verb === 'MLSD') return security.secureListing(socket);
  const isUpload = verb === 'STOR' || verb === 'APPE';
  return isUpload && connection.proxy !== undefined
    ? security.secureUpload(socket, limits.stallTimeoutMs / 2)
    : security.secureData(socket);
}

/** Before the transfer has its own listeners, an early reset must not become an unhandled 'error'. */
function quiet<S extends Socket>(socket: S): S {
  return socket.on('error', () => {});
}
