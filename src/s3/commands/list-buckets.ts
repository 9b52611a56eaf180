import { mayUse } from '../../base/caller.js';
import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, xmlAnswer } from '../call.js';

export const listBuckets: Command = { name: 'ListBuckets', scope: 'any', run: list };
export const headBucket: Command = {
  name: 'HeadBucket',
  scope: 'any',
  run: async (call) => {
    await bucketOf(call);
    return { status: 200, headers: { 'x-amz-bucket-region': call.services.region } };
  },
};
export const getBucketLocation: Command = {
  name: 'GetBucketLocation',
  scope: 'any',
  run: async (call) => {
    await bucketOf(call);
    const { region } = call.services;
    // S3's first region has no name here.
    return xmlAnswer('LocationConstraint', region === 'us-east-1' ? '' : region);
  },
};

async function list({ services, caller }: Call): Promise<HttpAnswer> {
  const connections = await services.storage.connections.list(caller.accountId);
  const buckets = connections
    .filter(({ id, isActive }) => isActive && mayUse(caller, [id]))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return xmlAnswer('ListAllMyBucketsResult', [
    [
      'Owner',
      [
        ['ID', caller.accountId],
        ['DisplayName', caller.email],
      ],
    ],
    [
      'Buckets',
      buckets.map(({ id, createdAt }) => [
        'Bucket',
        [
          ['Name', id],
          ['CreationDate', createdAt.toISOString()],
        ],
      ]),
    ],
  ]);
}
