import type { S3Connection } from '../../connections/connection.js';
import type { Protocol, ProtocolDeps } from '../protocol.js';
import type { SharedClients } from './client/client.js';
import { hostOf, identityOf } from './client/endpoint.js';
import type { S3Lease } from './client/session.js';
import type * as WithSdk from './with-sdk.js';

/** S3 and the stores that speak it. */
export function createS3(deps: ProtocolDeps): Protocol<S3Connection, S3Lease> {
  let loaded: { readonly sdk: typeof WithSdk; readonly clients: SharedClients } | undefined;
  return {
    type: 's3',
    host: hostOf,
    place: ({ bucket, prefix }, path) => `${bucket}/${prefix}${path}`,
    identity: identityOf,
    leasesPerSession: () => 1,
    async openSession(connection, limits, signal) {
      const sdk = await import('./with-sdk.js');
      signal.throwIfAborted();
      loaded ??= { sdk, clients: new sdk.SharedClients(deps) };
      return new sdk.S3Session(loaded.clients.share(connection, limits));
    },
    openRemote: (lease, connection, limits, context) => {
      if (loaded === undefined) throw new Error('a lease comes from a session, which has loaded the SDK');
      return new loaded.sdk.S3Remote(lease, connection, limits, deps, context);
    },
  };
}
