import type { FtpConnection } from '../../connections/connection.js';
import { encodingOf } from '../encoded-names.js';
import { underRoot } from '../path.js';
import type { Protocol, ProtocolDeps } from '../protocol.js';
import { ServerMemory } from '../server-memory.js';
import { FtpRemote } from './files/remote.js';
import { unknownServer } from './memory.js';
import { hostOf } from './session/login.js';
import { FtpSession, type FtpLease } from './session/session.js';

/** FTP (RFC 959, 2228, 2389, 2428, 3659, 4217): passive data connections, TLS explicit or implicit. */
export function createFtp(deps: ProtocolDeps): Protocol<FtpConnection, FtpLease> {
  const memory = new ServerMemory(unknownServer);
  return {
    type: 'ftp',
    host: hostOf,
    place: ({ rootPath }, path) => underRoot(rootPath, path),
    identity: ({ username, password, tls, tlsCa, tlsVerify, listing, encoding, acct }) => [
      username,
      password ?? '',
      tls,
      tlsCa ?? '',
      String(tlsVerify),
      listing,
      encodingOf(encoding).name,
      acct ?? '',
    ],
    leasesPerSession: () => 1,
    openSession: (connection, limits, signal) =>
      FtpSession.open(connection, limits, deps, memory.of(hostOf(connection), connection), signal),
    openRemote: (lease, connection, limits, context) => new FtpRemote(lease, connection, limits, deps, context),
  };
}
