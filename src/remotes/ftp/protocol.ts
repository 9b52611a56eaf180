import type { FtpConnection } from '../../connections/connection.js';
import type { Protocol } from '../protocol.js';
import { hostOf } from './session/login.js';
import { createHostMemories } from './memory.js';
import { FtpRemote } from './files/remote.js';
import { FtpSession, type FtpLease } from './session/session.js';

/** FTP (RFC 959, 2228, 2389, 2428, 3659, 4217): passive data connections, TLS explicit or implicit. */
export function createFtp(): Protocol<FtpConnection, FtpLease> {
  const memories = createHostMemories();
  return {
    type: 'ftp',
    host: hostOf,
    identity: ({ username, password, tls, tlsCa, tlsVerify }) => [
      username,
      password ?? '',
      tls,
      tlsCa ?? '',
      String(tlsVerify),
    ],
    openSession: (connection, limits, deps, signal) =>
      FtpSession.open(connection, limits, deps, memories(hostOf(connection)), signal),
    openRemote: (lease, connection, limits, deps, context) => new FtpRemote(lease, connection, limits, deps, context),
  };
}

export const ftp = createFtp();
