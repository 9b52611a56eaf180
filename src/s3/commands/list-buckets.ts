import { mayUse } from '../../base/caller.js';
import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, xmlAnswer } from '../call.js';
import { S3Error } from '../errors.js';
import { nameOfToken, tokenOf } from '../token.js';
import type { XmlElement } from '../xml.js';

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

const MOST_BUCKETS = 10_000;

interface BucketsQuery {
  /** Without any parameter the answer has all buckets. */
  readonly isPaged: boolean;
  readonly prefix: string | undefined;
  readonly after: string;
  readonly region: string;
  readonly limit: number;
}

/** An empty parameter is as none. @throws S3Error InvalidArgument */
function readQuery(query: URLSearchParams): BucketsQuery {
  const [limit = '', prefix = '', token = '', region = ''] = PARAMETERS.map((name) => query.get(name) ?? '');
  const isPaged = limit !== '' || prefix !== '' || token !== '' || region !== '';
  const most = limit === '' ? MOST_BUCKETS : /^\d{1,5}$/.test(limit) ? Number(limit) : 0;
  if (most < 1 || most > MOST_BUCKETS) {
    throw new S3Error('InvalidArgument', `max-buckets must be a whole number from 1 to ${MOST_BUCKETS}`);
  }
  return {
    isPaged,
    prefix: query.get('prefix') ?? undefined,
    after: token === '' ? '' : nameOfToken(token),
    region,
    limit: isPaged ? most : Infinity,
  };
}

const PARAMETERS = ['max-buckets', 'prefix', 'continuation-token', 'bucket-region'];

async function list({ services, caller, request }: Call): Promise<HttpAnswer> {
  const { region } = services;
  const query = readQuery(request.query);
  const { isPaged, prefix = '', after, limit } = query;
  const connections = await services.storage.connections.list(caller.accountId);
  const isListed = ({ id, isActive }: (typeof connections)[number]): boolean =>
    isActive && mayUse(caller, [id]) && id.startsWith(prefix) && id > after && ['', region].includes(query.region);
  const found = connections.filter(isListed).sort((a, b) => (a.id < b.id ? -1 : 1));
  const buckets = found.slice(0, limit);
  const last = found.length > limit ? buckets.at(-1) : undefined;
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
      buckets.map(({ id, createdAt }): XmlElement => [
        'Bucket',
        [
          ['Name', id],
          ['CreationDate', createdAt.toISOString()],
          ['BucketRegion', isPaged ? region : undefined],
        ],
      ]),
    ],
    ['ContinuationToken', last && tokenOf(last.id)],
    ['Prefix', query.prefix],
  ]);
}
