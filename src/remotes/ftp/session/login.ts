/** From nothing to a control connection that is ready for work. */
import type net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { withDeadline } from '../../../base/deadline.js';
import { GatewayError, hasCode } from '../../../base/errors.js';
import type { FtpConnection, PoolLimits } from '../../../connections/connection.js';
import type { ProtocolDeps } from '../../protocol.js';
import { onBehalfOf } from '../../dial/dial.js';
import { Control } from './control.js';
import { isPositive, loginRefusal, spoken, type Reply } from './replies.js';
import { createSecurity, type Security } from './security.js';

export interface LoggedIn {
  readonly control: Control;
  /** When the socket stood. */
  readonly connectedAt: number;
  readonly features: Features;
  /** Undefined where everything goes in the clear. */
  readonly security: Security | undefined;
}

export const hostOf = (connection: FtpConnection): string => `${connection.host}:${connection.port}`;

/**
 * Dials, secures and logs in, all within `connectTimeoutMs`.
 * Errors: the dialler's, certificate_rejected, login_refused, too_many_sessions, protocol_error, connect_timeout.
 */
export async function logIn(
  connection: FtpConnection,
  limits: PoolLimits,
  deps: ProtocolDeps,
  signal: AbortSignal,
): Promise<LoggedIn> {
  signal.throwIfAborted();
  const host = hostOf(connection);
  const late = (): GatewayError => {
    const text = `${host} did not complete connection and login within ${limits.connectTimeoutMs} ms`;
    return new GatewayError('connect_timeout', text, { step: 'login' });
  };
  let control: Control | undefined;
  try {
    return await withDeadline({ signal, ms: limits.connectTimeoutMs, late }, async (deadline) => {
      const security = connection.tls === 'none' ? undefined : createSecurity(connection);
      const socket = await deps.dialer.connect(connection.host, connection.port, {
        ...onBehalfOf(connection),
        signal: deadline,
        timeoutMs: limits.connectTimeoutMs,
      });
      const connectedAt = performance.now();
      const isImplicit = connection.tls === 'implicit' && security !== undefined;
      const secure: Secure = async (by, plain) => {
        const secured = await by.secureControl(plain, deadline);
        deps.observer?.secured?.(secured);
        return secured;
      };
      const first = isImplicit ? await secure(security, socket) : socket;
      control = new Control(first, host, limits.stallTimeoutMs);
      const features = await introduce(control, connection, security, secure, deadline);
      deps.log('FTP session opened', { host, tls: connection.tls, ...features });
      return { control, connectedAt, features, security };
    });
  } catch (error) {
    control?.close();
    throw asLoginFailure(error, host, connection.password);
  }
}

type Secure = (by: Security, plain: net.Socket) => Promise<TLSSocket>;

async function introduce(
  control: Control,
  connection: FtpConnection,
  security: Security | undefined,
  secure: Secure,
  signal: AbortSignal,
): Promise<Features> {
  const { username, password = '', tls } = connection;
  const ask = (command: string, success?: readonly number[]): Promise<Reply> =>
    control.ask(command, { signal, ...(success === undefined ? {} : { success }) });

  const greeting = await control.greeting(signal);
  if (!isPositive(greeting)) throw loginRefusal(greeting, control.host, undefined);

  if (tls === 'explicit' && security !== undefined) {
    const answer = await ask('AUTH TLS', [234]);
    if (answer.code !== 234) throw unusable(answer, `${control.host} offers no TLS (AUTH TLS)`);
    control.secured(await secure(security, control.socket));
  }

  if (/\P{ASCII}/u.test(username + password)) await ask('OPTS UTF8 ON');
  const user = await ask(`USER ${username}`, [230, 232, 331, 332]);
  const needsPassword = user.code === 331;
  const answer = needsPassword ? await ask(`PASS ${password}`, [202, 230, 232, 332]) : user;
  if (answer.code === 332) {
    const text = `${control.host} asks for an account besides the login (ACCT), which the gateway cannot give; let the server's operator switch that off for ${username}`;
    throw new GatewayError('login_refused', text, { step: 'login', remote: spoken(answer) });
  }
  if (!isPositive(answer)) throw loginRefusal({ ...answer, code: Math.max(answer.code, 400) }, control.host, password);

  const features = parseFeatures(await ask('FEAT', [200, 202, 211, 214]));
  if (features.utf8) await ask('OPTS UTF8 ON');
  if (features.factsToRequest !== undefined) await ask(`OPTS MLST ${features.factsToRequest}`);
  if (security !== undefined) {
    await ask('PBSZ 0');
    const protection = await ask('PROT P');
    if (!isPositive(protection)) {
      throw unusable(protection, `${control.host} does not protect data connections (PROT P)`);
    }
  }
  const type = await ask('TYPE I');
  if (!isPositive(type)) throw unusable(type, `${control.host} knows no binary transfers (TYPE I)`);
  return features;
}

const unusable = (reply: Reply, text: string): GatewayError =>
  new GatewayError('remote_failure', text, { step: 'login', remote: spoken(reply) });

/** While logging in, 421 means "full", and no words of the server may show the password. */
function asLoginFailure(error: unknown, host: string, password: string | undefined): unknown {
  if (!hasCode(error, 'connection_lost', 'protocol_error', 'stall_timeout') || error.remote === undefined) return error;
  const reply = { code: Number(error.remote.code ?? 0), text: error.remote.text };
  return reply.code === 421 ? loginRefusal(reply, host, password) : redacted(error, password);
}

function redacted(error: GatewayError, password: string | undefined): GatewayError {
  if (password === undefined || password === '' || error.remote === undefined) return error;
  return new GatewayError(error.code, error.message, {
    step: 'login',
    remote: { ...error.remote, text: error.remote.text.replaceAll(password, '***') },
  });
}

/** What FEAT says (RFC 2389), as far as it changes what is sent. A server without FEAT has none of it. */
export interface Features {
  readonly utf8: boolean;
  /** MLST and MLSD (RFC 3659, 7.8: one stands for both). */
  readonly machineListings: boolean;
  /** MFMT, which sets a file's time (draft-somers-ftp-mfxx). */
  readonly setsTimes: boolean;
  /** The MLST facts wanted, where the server would not send them by itself. */
  readonly factsToRequest: string | undefined;
}

const WANTED_FACTS = ['type', 'size', 'modify'];

export function parseFeatures(reply: Reply): Features {
  const lines = isPositive(reply) ? reply.text.split('\n').slice(1, -1) : [];
  const known = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', argument = ''] = /^\s*(\S+)\s*(.*)$/.exec(line.replace(/^\d{3}-/, '')) ?? [];
    known.set(name.toUpperCase(), argument);
  }
  const facts = known.get('MLST');
  return {
    utf8: known.has('UTF8'),
    machineListings: facts !== undefined || known.has('MLSD'),
    setsTimes: known.has('MFMT'),
    factsToRequest: facts === undefined ? undefined : factsToRequest(facts),
  };
}

/** `Type*;Size*;Modify;`: a star marks what is sent unless OPTS MLST says otherwise (RFC 3659, 7.8). */
function factsToRequest(offered: string): string | undefined {
  const facts = offered.toLowerCase().split(';');
  const isSent = WANTED_FACTS.every((fact) => facts.includes(`${fact}*`) || !facts.includes(fact));
  if (isSent) return undefined;
  return WANTED_FACTS.filter((fact) => facts.includes(fact) || facts.includes(`${fact}*`))
    .map((fact) => `${fact};`)
    .join('');
}
