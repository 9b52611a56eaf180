import type { S3Connection } from '../../connections/connection.js';
import type { Protocol, ProtocolDeps } from '../protocol.js';
import { hostOf, identityOf } from './client/endpoint.js';
import type { S3Lease } from './client/session.js';
import type { Store } from './store.js';

/** S3 and the stores that speak it. The client takes 12 MiB and is loaded for the first session, which many gateways never open. */
export function createS3(deps: ProtocolDeps): Protocol<S3Connection, S3Lease> {
  let store: Store | undefined;
  return {
    type: 's3',
    host: hostOf,
    place: ({ bucket, prefix }, path) => `${bucket}/${prefix}${path}`,
    identity: identityOf,
    leasesPerSession: () => 1,
    async openSession(connection, limits, signal) {
      const { createStore } = await import('./store.js');
      store ??= createStore(deps);
      return store.openSession(connection, limits, signal);
    },
    openRemote(lease, connection, limits, context) {
      if (store === undefined) throw new Error('a lease came from no session');
      return store.openRemote(lease, connection, limits, context);
    },
  };
}
