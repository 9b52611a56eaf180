/** Only the AWS SDK. */
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { readFileSync } from 'node:fs';
import type { S3Target } from '../lab/target.js';
import { ownName, type BareCall, type Driver } from './spec.js';

export function s3Driver(target: S3Target, call: BareCall): Driver {
  const { endpoint, region, bucket: Bucket, accessKeyId, secretAccessKey } = target;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({
    endpoint,
    region,
    credentials,
    forcePathStyle: true,
    requestHandler: { httpAgent: { maxSockets: call.sessions, keepAlive: true } },
  });
  const body = readFileSync(call.bodyFile);
  return {
    call: async (index, turn) => {
      const Key = call.name;
      if (call.operation === 'upload') {
        await client.send(new PutObjectCommand({ Bucket, Key: `${Key}${ownName(index, turn)}`, Body: body }));
      } else if (call.operation === 'download') {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        const bytes = await Body?.transformToByteArray();
        if (bytes?.length !== body.length) throw new Error(`${Key} has ${bytes?.length} bytes`);
      } else if (call.operation === 'exists') {
        await client.send(new HeadObjectCommand({ Bucket, Key }));
      } else {
        await client.send(new ListObjectsV2Command({ Bucket, Prefix: `${Key}/`, Delimiter: '/' }));
      }
    },
    close: () => client.destroy(),
  };
}
