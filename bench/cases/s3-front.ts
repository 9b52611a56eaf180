/** The S3 front beside our own API: the same small files, through the same gateway. */
import { createHmac, hash } from 'node:crypto';
import { signingKeyOf } from '../../src/base/aws-signature.js';
import { getRequest, type GatewayUnderTest, type Request, S3_PAIR, uploadRequest } from '../lab/gateway.js';
import type { Lab } from '../lab/lab.js';
import { pathOn, type Target } from '../lab/target.js';
import { applyLoad } from '../load/load.js';
import type { BenchCase, CaseOptions, Contender, Scenario } from '../scenario.js';

const BYTES = 4096;
const FILE = 'small';
/** All clients replace the same file: a presigned URL is for one key. */
const REPLACED = 'replaced';
const CLIENTS = 32;
const SECONDS = { quick: 2, full: 5 } as const;
const OWN_API = 'own API';

export const s3Front: BenchCase = {
  name: 's3-front',
  title: 'the S3 front beside our own API',
  about:
    `${CLIENTS} clients that each have one request under way, files of ${BYTES / 1024} KiB over SFTP, through one gateway: presigned URLs of the S3 front, ` +
    'and the same files by download and upload of our own API. Each signature is verified anew.',
  scenarios: sideBySide,
};

async function* sideBySide(lab: Lab, { quick }: CaseOptions): AsyncGenerator<Scenario> {
  const seconds = quick ? SECONDS.quick : SECONDS.full;
  const target = await lab.target('sftp');
  const bodyFile = await lab.source(BYTES);
  await lab.store(target, FILE, bodyFile);
  const gateway = await lab.gateway({ connections: { remote: target }, hasS3: true });
  const place = { gateway, connection: 'remote', target };
  const contender = (name: string, request: Request): Contender => ({
    name,
    pid: gateway.pid,
    databasePid: gateway.databasePid,
    run: (_, window) => {
      const sent = request.method === 'GET' ? {} : { bodyFile };
      return applyLoad({ call: { kind: 'http', ...request, ...sent }, clients: CLIENTS, seconds }, BYTES, window);
    },
    ...(request.method === 'GET' ? {} : { verify: () => lab.expectStored(target, REPLACED, bodyFile) }),
  });
  const scenario = (name: string, own: Request, presigned: Request): Scenario => ({
    name,
    unit: 'ops/s',
    contenders: [contender('S3 front', presigned), contender(OWN_API, own)],
    goals: [{ kind: 'ratio', against: OWN_API, atLeast: 0.8 }],
  });
  yield scenario('get of 4 KiB', getRequest(place, 'download', FILE), presignedRequest('GET', gateway, target, FILE));
  yield scenario('put of 4 KiB', uploadRequest(place, REPLACED), presignedRequest('PUT', gateway, target, REPLACED));
  await gateway.stop();
}

/** For an hour. Names of these files need no encoding. */
function presignedRequest(method: string, gateway: GatewayUnderTest, target: Target, name: string): Request {
  const { host } = new URL(gateway.url);
  const path = `/s3/remote${pathOn(target, name)}`;
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${date.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const credential = encodeURIComponent(`${S3_PAIR.accessKeyId}/${scope}`);
  const query =
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${credential}` +
    `&X-Amz-Date=${date}&X-Amz-Expires=3600&X-Amz-SignedHeaders=host`;
  const canonical = `${method}\n${path}\n${query}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', canonical, 'hex')}`;
  const signature = createHmac('sha256', signingKeyOf(scope, S3_PAIR.secretAccessKey)).update(text).digest('hex');
  return { method, url: `${gateway.url}${path}?${query}&X-Amz-Signature=${signature}`, headers: {} };
}
