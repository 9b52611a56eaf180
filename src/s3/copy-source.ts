/** The source of a copy: x-amz-copy-source names a bucket and a key of the same caller. */
import type { Connection } from '../connections/connection.js';
import { requireActive, requireOpen } from '../connections/require.js';
import { bucketOf, type Call } from './call.js';
import { S3Error } from './errors.js';
import { decoded, type S3Target, s3TargetOf } from './target.js';

interface CopySource {
  readonly connection: Connection;
  readonly key: string;
}

/** @throws S3Error InvalidArgument, NoSuchBucket, AccessDenied */
export async function copySourceOf(call: Call): Promise<CopySource> {
  const field = call.headers.get('x-amz-copy-source') ?? '';
  const [path = '', version] = field.split('?versionId=', 2);
  if (version !== undefined && version !== 'null') throw new S3Error('NotImplemented', 'there are no versions');
  const { bucket, key } = sourceIn(path);
  if (bucket === '' || key === '') throw new S3Error('InvalidArgument', 'x-amz-copy-source must be /bucket/key');
  if (!call.caller.scopes.includes('read')) {
    throw new S3Error('AccessDenied', 'the source of a copy needs the scope "read"', 'scope_missing');
  }
  const connection = await bucketOf(call, bucket);
  requireActive(connection);
  requireOpen(connection);
  return { connection, key };
}

/** Clients encode all of it, its slash as well, or its parts; what is decoded is not decoded again. */
function sourceIn(path: string): S3Target {
  if (path.includes('/')) return s3TargetOf(`/${path.replace(/^\//, '')}`);
  const [bucket = '', ...names] = decoded(path).replace(/^\//, '').split('/');
  return { bucket, key: names.join('/') };
}
