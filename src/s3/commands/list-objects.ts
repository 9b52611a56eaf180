import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, s3OperationOf, xmlAnswer } from '../call.js';
import { listResult, readListQuery } from '../list.js';

export const listObjects: Command = { name: 'ListObjects', scope: 'read', run };
export const listObjectsV2: Command = { name: 'ListObjectsV2', scope: 'read', run };

async function run(call: Call): Promise<HttpAnswer> {
  const { services, caller, request, bucket } = call;
  const connection = await bucketOf(call);
  const query = readListQuery(request.query);
  const memory = request.claims.memory.hold();
  const { result } = await services.operations.run(
    s3OperationOf(call, connection, 'list', query.keys.prefix),
    (operation) => services.lists.page(operation, connection, memory, query.keys),
  );
  const answer = xmlAnswer('ListBucketResult', listResult(bucket, query, result, caller.accountId));
  if (result.incomplete === 0) return answer;
  return { ...answer, headers: { ...answer.headers, 'X-Incomplete': String(result.incomplete) } };
}
