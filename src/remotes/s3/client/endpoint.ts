/** The target of a connection, and what two connections must have in common to share it. Does not depend on the SDK. */
import type { S3Connection } from '../../../connections/connection.js';

/** The endpoint as a URL; AWS's regional endpoint if none is registered. */
export function endpointOf(connection: S3Connection): URL {
  if (connection.endpoint !== undefined) return new URL(connection.endpoint);
  const suffix = connection.region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL(`https://s3.${connection.region}.${suffix}`);
}

/**
 * The security token service of the connection: the one of the region at AWS; of other stores, as with MinIO and Ceph,
 * the store itself.
 */
export function stsOf(connection: S3Connection, endpoint: string | undefined): URL {
  if (endpoint !== undefined) return new URL(endpoint);
  const store = endpointOf(connection);
  const [aws] = /amazonaws\.com(\.cn)?$/.exec(store.hostname) ?? [];
  return aws === undefined ? new URL('/', store) : new URL(`https://sts.${connection.region}.${aws}`);
}

/** `host:port` of the endpoint. */
export function hostOf(connection: S3Connection): string {
  const { hostname, port, protocol } = endpointOf(connection);
  return `${hostname}:${port === '' ? (protocol === 'http:' ? 80 : 443) : port}`;
}

/** Everything besides the host that must be equal for two connections to share sockets. */
export function identityOf(connection: S3Connection): string[] {
  const { accessKeyId, secretAccessKey, sessionToken, region, forcePathStyle, tlsCa, tlsVerify, checksums, role } =
    connection;
  const { credentials, isConfigured = false } = connection;
  const { protocol, pathname } = endpointOf(connection);
  // With the bucket in the host name, every bucket is a server of its own.
  const bucketHost = forcePathStyle ? '' : connection.bucket;
  return [
    `${protocol}${pathname}`,
    accessKeyId,
    secretAccessKey,
    sessionToken ?? '',
    region,
    bucketHost,
    tlsCa ?? '',
    String(tlsVerify),
    // The SDK's client decides for all its requests.
    checksums === 'never' ? checksums : '',
    credentials === 'static' ? '' : `${credentials} ${isConfigured}`,
    role === undefined ? '' : JSON.stringify([role.arn, role.externalId, role.sessionName, role.endpoint]),
  ];
}
