import { GatewayError, refusal } from '../../../base/errors.js';
import type { RemotePath } from '../../path.js';
import type { Bucket, ListedObject } from './bucket.js';
import { copyObject } from './copy.js';

/**
 * Each object is copied and removed by its own request; with more objects the operation would take longer than its
 * client waits.
 */
const MAX_MOVED_OBJECTS = 10_000;
const MOVES_AT_ONCE = 4;

/**
 * Moves everything below one prefix to another, which must be empty. All copies are made before the first original is
 * removed; if one fails, the copies are removed again and the folder is unchanged. bad_path if the target is inside the
 * folder, unsupported_operation for more than 10,000 objects.
 */
export async function moveFolder(bucket: Bucket, from: RemotePath, to: RemotePath): Promise<void> {
  if (to.startsWith(`${from}/`)) {
    throw refusal('bad_path', `${from} cannot be moved into itself`);
  }
  const origin = bucket.folderKey(from);
  const target = bucket.folderKey(to);
  const objects = await objectsBelow(bucket, origin, from);
  const copied: string[] = [];
  try {
    await eachOf(objects, async (facts) => {
      const key = target + facts.key.slice(origin.length);
      await copyObject(bucket, { bucket: bucket.name, key: facts.key, facts }, { path: to, key }, { exclusive: false });
      copied.push(key);
    });
  } catch (error) {
    const signal = bucket.calls.cleanupSignal();
    // A copy that cannot be removed is harmless; the first error is the one to report.
    await eachOf(copied, (key) => bucket.remove(key, to, signal)).catch(() => undefined);
    throw error;
  }
  await eachOf(objects, ({ key }) => bucket.remove(key, from));
}

async function objectsBelow(bucket: Bucket, prefix: string, what: RemotePath): Promise<ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of bucket.pages({ prefix, oneLevel: false, what })) {
    if (page.unreadable.length > 0) {
      throw new GatewayError('unsupported_operation', `${what} holds keys that are not UTF-8`, { step: 'open' });
    }
    objects.push(...page.objects);
    if (objects.length > MAX_MOVED_OBJECTS) {
      throw new GatewayError(
        'unsupported_operation',
        `${what} holds more than ${MAX_MOVED_OBJECTS} objects; S3 moves a folder object by object`,
        { step: 'open' },
      );
    }
  }
  return objects;
}

/** Runs a few at once; the first failure ends it, after those under way have ended. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let failure: Error | undefined;
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      const item = items[next] as T;
      next += 1;
      await work(item).catch((error: Error) => {
        failure ??= error;
      });
    }
  };
  await Promise.all(Array.from({ length: MOVES_AT_ONCE }, worker));
  if (failure !== undefined) throw failure;
}
