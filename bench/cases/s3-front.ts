/** The S3 front beside our own API: the same small files, through the same gateway. */
import { getRequest, presignedRequest, type Request, uploadRequest } from '../lab/gateway.js';
import type { Lab } from '../lab/lab.js';
import { applyLoad } from '../load/load.js';
import type { BenchCase, CaseOptions, Contender, Scenario } from '../scenario.js';
import { boto3Writers } from './boto3-writers.js';
import { oneColumn } from './parquet-column.js';

const BYTES = 4096;
const FILE = 'small';
/** All clients replace the same file: a presigned URL is for one key. */
const REPLACED = 'replaced';
const CLIENTS = 32;
const SECONDS = { quick: 2, full: 5 } as const;
const OWN_API = 'own API';

export const s3Front: BenchCase = {
  name: 's3-front',
  title: 'the S3 front beside our own API, and beside sshfs',
  about:
    `${CLIENTS} clients that each have one request under way, files of ${BYTES / 1024} KiB over SFTP, through one gateway: presigned URLs of the S3 front, ` +
    'and the same files by download and upload of our own API. Each signature is verified anew. Then one of ten columns ' +
    'of a Parquet file, through 50 ms of round trip: what pyarrow asks of a store, and the same bytes by pread from ' +
    'a new mount of sshfs for each. The gateway holds its sessions open; sshfs has just logged in. Then four ' +
    'processes with boto3 that upload a large file each, in parts: through the S3 front, into a server that throws the ' +
    'bytes away, and the same files by upload of our own API.',
  scenarios: all,
};

/** Each with the words of its names: what a scenario needs that `--only` leaves out is not started. */
const PARTS = [
  ['get put', sideBySide],
  ['one column', oneColumn],
  ['4 boto3 writers', boto3Writers],
] as const;

async function* all(lab: Lab, options: CaseOptions): AsyncGenerator<Scenario> {
  const [word = ''] = options.only.split(' ');
  for (const [names, scenarios] of PARTS) if (` ${names}`.includes(` ${word}`)) yield* scenarios(lab, options);
}

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
  yield scenario('get of 4 KiB', getRequest(place, 'download', FILE), presignedRequest('GET', place, FILE));
  yield scenario('put of 4 KiB', uploadRequest(place, REPLACED), presignedRequest('PUT', place, REPLACED));
  await gateway.stop();
}
