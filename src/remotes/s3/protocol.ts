import type { S3Connection } from '../../connections/connection.js';
import type { Protocol } from '../protocol.js';
import { hostOf, identityOf } from './client/client.js';
import { S3Remote } from './files/remote.js';
import { S3Session, type S3Lease } from './client/session.js';

/** S3 and the stores that speak it. */
export const s3: Protocol<S3Connection, S3Lease> = {
  type: 's3',
  host: hostOf,
  identity: identityOf,
  async openSession(connection, limits, deps, signal) {
    signal.throwIfAborted();
    return new S3Session(connection, limits, deps);
  },
  openRemote: (lease, connection, limits, deps, context) => new S3Remote(lease, connection, limits, deps, context),
};
