import { CopyObjectCommand } from '@aws-sdk/client-s3';
import type { Bucket, ObjectFacts } from './bucket.js';
import { IDEMPOTENT_ATTEMPTS } from '../client/calls.js';
import type { Description } from './description.js';
import { bareEtag, copySource, wholeSeconds } from './keys.js';
import {
  confirmSize,
  equalPartBytes,
  MAX_PUT_BYTES,
  MultipartUpload,
  type CompletedUpload,
  type UploadTarget,
} from './multipart.js';
import { replyOf } from '../client/replies.js';
import { refuseExisting } from './sink.js';

export interface CopyOrigin {
  readonly bucket: string;
  readonly key: string;
  readonly facts: ObjectFacts;
}

interface CopyOptions {
  /** already_exists instead of replacing; race-free if the store supports the condition on copies. */
  readonly exclusive: boolean;
  /** Replaces the origin's. */
  readonly description?: Description | undefined;
}

const COPIES_AT_ONCE = 4;

/**
 * Lets the store copy an object, in one request or, above 5 GiB, in parts; remote_failure if the origin changes
 * meanwhile.
 */
export async function copyObject(
  bucket: Bucket,
  origin: CopyOrigin,
  target: UploadTarget,
  options: CopyOptions,
): Promise<CompletedUpload> {
  const { traits } = bucket.calls;
  try {
    return await copyAsItIs(bucket, origin, target, options);
  } catch (error) {
    // A copy can carry two conditions; this finds out which one failed.
    if (replyOf(error).status !== 412 || !traits.now.copyIfMatch) throw error;
    if (options.exclusive) await refuseExisting(bucket, target);
    const facts = await bucket.head(origin.key, target.path, { bucket: origin.bucket });
    if (facts?.etag !== origin.facts.etag) throw error;
    traits.learn('copyIfMatch', false, 'refused to copy an object that had not changed');
    return copyAsItIs(bucket, origin, target, options);
  }
}

async function copyAsItIs(
  bucket: Bucket,
  origin: CopyOrigin,
  target: UploadTarget,
  { exclusive, description }: CopyOptions,
): Promise<CompletedUpload> {
  const { calls } = bucket;
  const { exclusiveCopy, exclusiveComplete, copyIfMatch } = calls.traits.now;
  const { size, etag } = origin.facts;
  const described = description ?? origin.facts.description;
  if (size > MAX_PUT_BYTES) {
    if (exclusive && exclusiveComplete !== 'yes') await refuseExisting(bucket, target);
    return copyParts(bucket, origin, target, exclusive, described);
  }
  if (exclusive && !exclusiveCopy) await refuseExisting(bucket, target);
  const command = new CopyObjectCommand({
    Bucket: bucket.name,
    Key: target.key,
    CopySource: copySource(origin.bucket, origin.key),
    ...(etag === undefined || !copyIfMatch ? {} : { CopySourceIfMatch: `"${etag}"` }),
    ...(description === undefined ? {} : { MetadataDirective: 'REPLACE' as const, ...description }),
    ...(exclusive && exclusiveCopy ? { IfNoneMatch: '*' } : {}),
  });
  const answer = await calls.call((options) => calls.client.send(command, options), {
    step: 'publish',
    what: target.path,
    attempts: exclusive ? 1 : IDEMPOTENT_ATTEMPTS,
    allowMs: calls.copyAllowanceMs(size),
  });
  const { ETag, LastModified } = answer.CopyObjectResult ?? {};
  if (ETag === undefined) {
    // What was copied may be removed next.
    const stored = await confirmSize(bucket, target, size, { namedEtag: false });
    return { ...stored, description: described ?? {} };
  }
  const modifiedAt = wholeSeconds(LastModified ?? new Date());
  return { size, etag: bareEtag(ETag), modifiedAt, description: described ?? {} };
}

async function copyParts(
  bucket: Bucket,
  { bucket: from, key, facts }: CopyOrigin,
  target: UploadTarget,
  exclusive: boolean,
  description: Description | undefined,
): Promise<CompletedUpload> {
  const { size, etag } = facts;
  const partBytes = equalPartBytes(size);
  const upload = await MultipartUpload.open(bucket, target, description);
  try {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next * partBytes < size) {
        const start = next * partBytes;
        next += 1;
        const end = Math.min(size, start + partBytes) - 1;
        await upload.copyPart(next, { bucket: from, key, etag, start, end });
      }
    };
    await Promise.all(Array.from({ length: COPIES_AT_ONCE }, work));
    return await upload.complete(size, exclusive);
  } catch (error) {
    await upload.abort(error as Error);
    throw error;
  }
}
