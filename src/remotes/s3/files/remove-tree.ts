import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { GatewayError } from '../../../base/errors.js';
import type { RemotePath } from '../../path.js';
import { IDEMPOTENT_ATTEMPTS } from '../client/calls.js';
import { contentMd5 } from '../client/checksums.js';
import { replyOf } from '../client/replies.js';
import type { Bucket } from './bucket.js';
import { eachOf } from './folders.js';
import { noFolder } from './listing.js';

const BATCHES_AT_ONCE = 3;
const MS_PER_OBJECT = 100;
/** After this many the listing starts again, with the objects that are left. */
const LISTED_AT_ONCE = 100_000;

/** Removes every object at and below the folder's prefix, one page of the listing at a time, with any kind of key. */
export async function removeTree(bucket: Bucket, folder: RemotePath, removed: (count: number) => void): Promise<void> {
  const prefix = bucket.folderKey(folder);
  let isThere = false;
  for (let isAll = false; !isAll;) {
    isAll = true;
    let listed = 0;
    const underWay = new Set<Promise<void>>();
    try {
      for await (const { objects, unreadable } of bucket.pages({ prefix, oneLevel: false, what: folder })) {
        if (unreadable.length > 0) throw holdsOthers(folder);
        const keys = objects.map(({ key }) => key);
        if (keys.length > 0) {
          const batch = removeKeys(bucket, keys).then(() => removed(keys.length));
          underWay.add(batch);
          batch.then(
            () => underWay.delete(batch),
            () => undefined,
          );
        }
        listed += keys.length;
        while (underWay.size >= BATCHES_AT_ONCE) await Promise.race(underWay);
        isAll = listed < LISTED_AT_ONCE;
        if (!isAll) break;
      }
      await Promise.all(underWay);
    } finally {
      await Promise.allSettled(underWay);
    }
    isThere ||= listed > 0;
  }
  if (!isThere) throw await noFolder(bucket, folder);
}

function holdsOthers(folder: RemotePath): GatewayError {
  const text = `${folder} holds keys that are not UTF-8, which the gateway cannot address`;
  return new GatewayError('not_empty', text, { step: 'publish' });
}

// eslint-disable-next-line no-control-regex
const NOT_IN_XML = /[\u0000-\u001f\ufffe\uffff]/;

/** Uses one request if the store supports it; removes what is left one by one, which shows the reason. */
async function removeKeys(bucket: Bucket, keys: readonly string[]): Promise<void> {
  const isPlain = bucket.calls.traits.now.deletesMany && !keys.some((key) => NOT_IN_XML.test(key));
  const left = isPlain ? await deleteObjects(bucket, keys) : keys;
  await eachOf(left, (key) => bucket.remove(key, `/${key.slice(bucket.prefix.length)}`));
}

/** Resolves with the keys that still exist. */
async function deleteObjects(bucket: Bucket, keys: readonly string[]): Promise<readonly string[]> {
  const { calls } = bucket;
  const command = new DeleteObjectsCommand({
    Bucket: bucket.name,
    Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true },
  });
  // The SDK sends another kind of checksum; stores that do not know it insist on this one.
  command.middlewareStack.add(
    (next) => (args) => {
      const { headers, body } = args.request as { headers: Record<string, string>; body: string };
      headers['content-md5'] = contentMd5(body);
      return next(args);
    },
    { step: 'build', name: 'contentMd5' },
  );
  let isEmpty = false;
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { statusCode, headers } = result.response as { statusCode: number; headers: Record<string, string> };
      isEmpty = statusCode === 204 || headers['content-length'] === '0';
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'isEmpty' },
  );
  try {
    const { Errors = [] } = await calls.call((options) => calls.client.send(command, options), {
      step: 'publish',
      what: 'objects',
      attempts: IDEMPOTENT_ATTEMPTS,
      allowMs: calls.limits.stallTimeoutMs + keys.length * MS_PER_OBJECT,
    });
    // Without a list, even an empty one, of what could not be removed, it is unknown whether anything was.
    if (!isEmpty) return Errors.flatMap(({ Key }) => Key ?? []);
    calls.traits.learn('deletesMany', false, 'answered DeleteObjects with nothing');
    return keys;
  } catch (error) {
    const { status } = replyOf(error);
    if (status === undefined || (status >= 500 && status !== 501)) throw error;
    if (status !== 403) calls.traits.learn('deletesMany', false, `answered ${status} to DeleteObjects`);
    return keys;
  }
}
