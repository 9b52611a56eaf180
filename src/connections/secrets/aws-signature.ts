import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken: string | undefined;
}

const SERVICE = 'secretsmanager';
const TYPE = 'application/x-amz-json-1.1';

/**
 * The headers of a request with this body to the root of Secrets Manager, signed with Signature Version 4. Written out:
 * the SDK's signer belongs to S3 connections, and one request of one form needs no more than this.
 */
export function signedHeaders(
  url: URL,
  target: string,
  body: string,
  region: string,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  now = new Date(),
): Readonly<Record<string, string>> {
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const headers: Readonly<Record<string, string>> = {
    'content-type': TYPE,
    'x-amz-date': time,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    'x-amz-target': `${SERVICE}.${target}`,
  };
  const signed = Object.entries({ ...headers, host: url.host }).sort(([one], [other]) => (one < other ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const lines = signed.map(([name, value]) => `${name}:${value}\n`).join('');
  const canonical = ['POST', '/', '', lines, names, digestOf(body)].join('\n');
  const scope = `${day}/${region}/${SERVICE}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, digestOf(canonical)].join('\n');
  const key = [day, region, SERVICE, 'aws4_request'].reduce<string | Buffer>(
    (former, part) => createHmac('sha256', former).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
