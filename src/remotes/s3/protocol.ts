import type { S3Connection } from '../../connections/connection.js';
import type { Protocol, ProtocolDeps } from '../protocol.js';
import { SharedClients } from './client/client.js';
import { hostOf, identityOf } from './client/endpoint.js';
import { S3Session, type S3Lease } from './client/session.js';
import { S3Remote } from './files/remote.js';

/**
 * S3 and compatible stores. The SDK is loaded at the start: loaded by the first connection, it would block the event
 * loop, and a process without a free file descriptor could not load it.
 */
export function createS3(deps: ProtocolDeps): Protocol<S3Connection, S3Lease> {
  const clients = new SharedClients(deps);
  return {
    type: 's3',
    host: hostOf,
    place: ({ bucket, prefix }, path) => `${bucket}/${prefix}${path}`,
    identity: identityOf,
    leasesPerSession: () => 1,
    async openSession(connection, limits, signal) {
      signal.throwIfAborted();
      return new S3Session(clients.share(connection, limits));
    },
    openRemote: (lease, connection, limits, context, more) =>
      new S3Remote(lease, connection, limits, deps, context, more),
  };
}
