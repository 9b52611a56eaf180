/** Opens a control connection and makes it ready for work. */
import type net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { withDeadline } from '../../../base/deadline.js';
import type { NameEncoding } from '../../../base/encoding.js';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError, hasCode } from '../../../base/errors.js';
import type { FtpConnection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import type { ProtocolDeps } from '../../protocol.js';
import { onBehalfOf } from '../../dial/dial.js';
import { encodingOf, UTF_8 } from '../../encoded-names.js';
import { Control } from './control.js';
import { isPositive, loginRefusal, redacted, spoken, type Reply, type Secrets } from './replies.js';
import { type Features, parseFeatures } from './features.js';
import { createSecurity, type Security } from './security.js';

export interface LoggedIn {
  readonly control: Control;
  /** When the socket was connected. */
  readonly connectedAt: number;
  readonly features: Features;
  /** Undefined if the connection is not encrypted. */
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
  signal: EndSignal,
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
        ...onBehalfOf(connection, deps),
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
      control = new Control(first, host, limits.stallTimeoutMs, encodingOf(connection.encoding));
      const features = await introduce(control, connection, security, secure, deadline);
      deps.log('FTP session opened', { host, tls: connection.tls, ...features });
      return { control, connectedAt, features, security };
    });
  } catch (error) {
    control?.close();
    throw asLoginFailure(error, host, [connection.password, connection.acct]);
  }
}

type Secure = (by: Security, plain: net.Socket) => Promise<TLSSocket>;

async function introduce(
  control: Control,
  connection: FtpConnection,
  security: Security | undefined,
  secure: Secure,
  signal: EndSignal,
): Promise<Features> {
  const { username, password = '', acct, tls, listing } = connection;
  const ask = (command: string, success?: readonly number[]): Promise<Reply> =>
    control.ask(command, { signal, ...(success === undefined ? {} : { success }) });

  const greeting = await control.greeting(signal);
  if (!isPositive(greeting)) throw loginRefusal(greeting, control.host, []);

  if (tls === 'explicit' && security !== undefined) {
    const answer = await ask('AUTH TLS', [234]);
    if (answer.code !== 234) throw unusable(answer, `${control.host} offers no TLS (AUTH TLS)`);
    await control.secure((plain) => secure(security, plain));
  }

  const isUtf8 = control.encoding === UTF_8;
  if (isUtf8 && /\P{ASCII}/u.test(username + password + (acct ?? ''))) await ask('OPTS UTF8 ON');
  const user = await ask(`USER ${username}`, [230, 232, 331, 332]);
  const needsPassword = user.code === 331;
  const known = needsPassword ? await ask(`PASS ${password}`, [202, 230, 232, 332]) : user;
  if (known.code === 332 && acct === undefined) {
    const text = `${control.host} asks for an account besides the login (ACCT); set acct of the connection`;
    throw new GatewayError('login_refused', text, { step: 'login', remote: spoken(known, [password]) });
  }
  const answer = known.code === 332 ? await ask(`ACCT ${acct}`, [202, 230]) : known;
  if (!isPositive(answer)) {
    throw loginRefusal({ ...answer, code: Math.max(answer.code, 400) }, control.host, [password, acct]);
  }

  const features = parseFeatures(await ask('FEAT', [200, 202, 211, 214]), listing);
  if (isUtf8 && features.utf8) await ask('OPTS UTF8 ON');
  control.isTelnet = await readsTelnet(control.encoding, ask);
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

/**
 * Asks for a command that no server has: many refuse it by name. If the encoding has a character with the byte 255, the
 * name shows whether two of them are one to the server. ProFTPD does it by its configuration, others always or never.
 */
async function readsTelnet(encoding: NameEncoding, ask: (command: string) => Promise<Reply>): Promise<boolean> {
  const last = encoding.decode(Buffer.of(0xff));
  if (!last.isWellFormed()) return false;
  const { text } = await ask(`SITE ${last}${last}`);
  const [, name = ''] = /SITE (\P{ASCII}+)/iu.exec(text) ?? [];
  return name.length === 1;
}

const unusable = (reply: Reply, text: string): GatewayError =>
  new GatewayError('remote_failure', text, { step: 'login', remote: spoken(reply) });

/** During the login, 421 means "full", and no server text may reveal a secret. */
function asLoginFailure(error: unknown, host: string, secrets: Secrets): unknown {
  if (!hasCode(error, 'connection_lost', 'protocol_error', 'stall_timeout') || error.remote === undefined) return error;
  const reply = { code: Number(error.remote.code ?? 0), text: error.remote.text };
  if (reply.code === 421) return loginRefusal(reply, host, secrets);
  return new GatewayError(error.code, error.message, {
    step: 'login',
    remote: { ...error.remote, text: redacted(error.remote.text, secrets) },
  });
}
