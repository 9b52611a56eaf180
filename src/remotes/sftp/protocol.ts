import type { SftpConnection } from '../../connections/connection.js';
import type { PoolLimits } from '../../contract/connection/fields.js';
import { underRoot } from '../path.js';
import type { Protocol, ProtocolDeps } from '../protocol.js';
import { ServerMemory } from '../server-memory.js';
import { judgeHostKey } from '../trust.js';
import { SftpRemote } from './files/remote.js';
import { unknownServer } from './memory.js';
import { JumpHosts } from './session/jump-hosts.js';
import { SftpSession, type SftpLease } from './session/session.js';

export { nativeCryptoLoaded } from './session/algorithms.js';

/** The ways through jump hosts, which are SSH servers. */
export function createJumps(
  deps: Omit<ProtocolDeps, 'jumps'>,
  limitsOf: (jump: SftpConnection) => PoolLimits,
): JumpHosts {
  return new JumpHosts(deps, limitsOf);
}

/** SFTP version 3 over SSH. */
export function createSftp(deps: ProtocolDeps): Protocol<SftpConnection, SftpLease> {
  const memory = new ServerMemory(unknownServer);
  const host = (connection: SftpConnection): string => `${connection.host}:${connection.port}`;
  return {
    type: 'sftp',
    host,
    place: ({ rootPath }, path) => underRoot(rootPath, path),
    // Host keys are not part of it, unless there are authorities: one is learned on first use. Pinned keys are checked on
    // every lease instead.
    identity: ({ username, password, privateKey, passphrase, certificate, algorithms, hostCa, hostKeys }) => [
      username,
      // An absent secret and an empty one are two different logins.
      JSON.stringify([password ?? null, privateKey ?? null, passphrase ?? null, certificate ?? null]),
      JSON.stringify(algorithms),
      hostCa.length === 0 ? '' : JSON.stringify([hostCa, hostKeys]),
    ],
    leasesPerSession: ({ maxChannelsPerSession }) => maxChannelsPerSession,
    openSession: (connection, limits, signal) =>
      SftpSession.open(connection, limits, deps, memory.of(host(connection), connection), signal),
    openRemote: (lease, connection, _limits, context, more) => {
      requireTrust(lease.session, connection, deps);
      return new SftpRemote(lease, connection, deps, context, more);
    },
  };
}

/**
 * The session may have been opened for another connection with the same login. @throws GatewayError host_key_mismatch
 */
function requireTrust(session: SftpSession, connection: SftpConnection, deps: ProtocolDeps): void {
  const { fingerprint, isCertified, trustedBy, announced } = session;
  const { id } = connection;
  // Only connections with the same authorities share the session.
  if (isCertified) return;
  if (judgeHostKey(connection, fingerprint) === 'pinned' || trustedBy.has(id)) {
    announced.report(connection, fingerprint, deps);
    return;
  }
  // Nothing is pinned yet: this server becomes the trusted one.
  trustedBy.add(id);
  deps.trust.checkHostKey(connection, fingerprint).then(
    () => announced.report(connection, fingerprint, deps),
    (error: unknown) => {
      deps.log('the host key was not stored', { connectionId: id, error: (error as Error).message });
    },
  );
}
