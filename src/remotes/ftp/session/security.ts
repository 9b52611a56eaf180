import { createHash } from 'node:crypto';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { LRUCache } from 'lru-cache';
import { waitFor } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError, type Step } from '../../../base/errors.js';
import type { FtpConnection } from '../../../connections/connection.js';
import { TLS_CIPHERS, tlsFailure } from '../../dial/dial.js';
import { withoutEmptyWrites } from '../../dial/empty-writes.js';
import { readInTurn } from '../../dial/read-in-turn.js';
import { withHeldEnd } from './held-end.js';
import { withNotifiedEnd } from './notified-end.js';

/**
 * TLS for one session: the handshakes of the control connection and of its data connections. Data connections resume
 * the control connection's TLS session, because many servers demand that as proof that both belong together (vsftpd's
 * require_ssl_reuse).
 */
export interface Security {
  /**
   * Takes over the socket; resolves when the peer is trusted. certificate_rejected, unreachable, or the signal's
   * reason.
   */
  secureControl(socket: net.Socket, signal: EndSignal): Promise<tls.TLSSocket>;
  /**
   * Starts a handshake that ends once the server has seen the transfer's command; its failure is the socket's error.
   */
  secureData(socket: net.Socket): tls.TLSSocket;
  /** The same for a listing, whose end only TLS can prove: without close_notify it fails with connection_lost. */
  secureListing(socket: net.Socket): tls.TLSSocket;
  /** The same for an upload through a proxy, whose end the server must have seen before the socket ends. */
  secureUpload(socket: net.Socket, mostMs: number): tls.TLSSocket;
}

/**
 * Parsing the system's certificate authorities takes about ten milliseconds: it is done once for each set of trusted
 * ones.
 */
const contexts = new LRUCache<string, tls.SecureContext>({ max: 100 });

export function createSecurity(connection: FtpConnection): Security {
  const { host, tlsCa, tlsVerify } = connection;
  const literal = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  const options: tls.ConnectionOptions = {
    host: literal,
    ...(net.isIP(literal) === 0 ? { servername: literal } : {}),
    secureContext: contextFor(tlsCa),
    rejectUnauthorized: tlsVerify,
  };
  let session: Buffer | undefined;

  function wrap(socket: Duplex, resume: boolean): tls.TLSSocket {
    const resumed = resume && session !== undefined ? { session } : {};
    const secured = withoutEmptyWrites(tls.connect({ ...options, socket, ...resumed }));
    // TLS 1.3 sends tickets after the handshake, and some servers accept each of them only once.
    readInTurn(secured);
    secured.on('session', (ticket) => {
      session = ticket;
    });
    return secured;
  }

  return {
    secureData: (socket) => wrap(socket, true),

    secureListing: (socket) => {
      const text = `${literal} closed the listing's data connection without the end that TLS demands (close_notify); it may lack entries`;
      const truncated = new GatewayError('connection_lost', text, { step: 'transfer' });
      return withNotifiedEnd(socket, (bytes) => wrap(bytes, true), truncated);
    },

    secureUpload: (socket, mostMs) => withHeldEnd(socket, (bytes) => wrap(bytes, true), mostMs),

    secureControl: (socket, signal) => {
      // Nothing was started, and nothing else owns the socket.
      if (signal.aborted) socket.destroy();
      return waitFor({ signal }, (done, fail) => {
        const secured = wrap(socket, false);
        const refuse = (error: Error): void => fail(tlsError(literal, error, 'connect'));
        const hangUp = (): void => refuse(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
        secured.once('error', refuse);
        secured.once('close', hangUp);
        secured.once('secureConnect', () => {
          session ??= secured.getSession();
          done(secured);
        });
        return (error) => {
          secured.removeListener('error', refuse);
          secured.removeListener('close', hangUp);
          if (error === undefined) return;
          secured.on('error', () => {});
          secured.destroy();
        };
      });
    },
  };
}

/** The cause that TLS itself found (an OpenSSL or certificate error), or the connection's plain end. */
export function tlsError(host: string, error: Error, step: Step): GatewayError {
  if (error instanceof GatewayError) return error;
  // OpenSSL's message contains source file names; its `reason` is written for people.
  const { reason } = error as { reason?: unknown };
  return tlsFailure(host, typeof reason === 'string' ? new Error(reason, { cause: error }) : error, step);
}

function contextFor(authority: string | undefined): tls.SecureContext {
  const key = createHash('sha256')
    .update(authority ?? '')
    .digest('base64');
  let context = contexts.get(key);
  if (context === undefined) {
    context = tls.createSecureContext({
      ciphers: TLS_CIPHERS,
      ...(authority === undefined || authority === '' ? {} : { ca: [...tls.rootCertificates, authority] }),
    });
    contexts.set(key, context);
  }
  return context;
}
