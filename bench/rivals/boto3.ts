/** boto3 of Debian, as a script of a user would use it: each file by a process of its own. */
import { runCommand } from '../lab/process.js';

/** The one that Debian's package is for. */
const PYTHON = '/usr/bin/python3';
const UPLOAD = `
import boto3, sys
from botocore.config import Config
s3 = boto3.client('s3', endpoint_url=sys.argv[1], config=Config(signature_version='s3v4', s3={'addressing_style': 'path'}))
s3.upload_file(sys.argv[2], sys.argv[3], sys.argv[4])
`;

export interface Bucket {
  readonly endpoint: string;
  readonly name: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** With the defaults: parts of 8 MiB, ten at once. */
export async function uploadByBoto3(bucket: Bucket, file: string, key: string): Promise<void> {
  const { endpoint, name, accessKeyId, secretAccessKey } = bucket;
  const env = {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_DEFAULT_REGION: 'us-east-1',
  };
  await runCommand(PYTHON, ['-c', UPLOAD, endpoint, file, name, key], { env });
}
