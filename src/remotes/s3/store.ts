import type { S3Connection } from '../../connections/connection.js';
import type { Protocol, ProtocolDeps } from '../protocol.js';
import { SharedClients } from './client/client.js';
import { S3Session, type S3Lease } from './client/session.js';
import { S3Remote } from './files/remote.js';

/** What only the S3 client can do. */
export type Store = Pick<Protocol<S3Connection, S3Lease>, 'openSession' | 'openRemote'>;

export function createStore(deps: ProtocolDeps): Store {
  const clients = new SharedClients(deps);
  return {
    async openSession(connection, limits, signal) {
      signal.throwIfAborted();
      return new S3Session(clients.share(connection, limits));
    },
    openRemote: (lease, connection, limits, context) => new S3Remote(lease, connection, limits, deps, context),
  };
}
