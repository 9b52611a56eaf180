/** Four writers with boto3 at once: the S3 front, our own API, and what boto3 can send at all on this machine. */
import { gatewayFront, throughFront } from './transfers.js';
import { S3_PAIR } from '../lab/gateway.js';
import { type Lab, MIB } from '../lab/lab.js';
import { pathOn } from '../lab/target.js';
import { type Bucket, uploadByBoto3 } from '../rivals/boto3.js';
import type { CaseOptions, Contender, Scenario } from '../scenario.js';

const WRITERS = 4;
const OWN_API = 'own API';
const SINK = 'boto3 into nothing';
const ALLOWED_MIB = 96;

export async function* boto3Writers(lab: Lab, { size }: CaseOptions): AsyncGenerator<Scenario> {
  const bytes = Math.floor(size / WRITERS / MIB) * MIB;
  const target = await lab.target('sftp');
  const sink = await lab.sink();
  const gateway = await lab.gateway({ connections: { remote: target }, hasS3: true });
  const own = gatewayFront(gateway, 'remote', target, OWN_API);
  await lab.warmUp(own);
  const front = { endpoint: `${gateway.url}/s3`, name: 'remote', ...S3_PAIR };
  const names = Array.from({ length: WRITERS }, (_, index) => `written-${index}`);
  const writing = (bucket: Bucket, keys: readonly string[]): Contender['run'] => {
    return async () => {
      const source = await lab.source(bytes);
      await Promise.all(keys.map((key) => uploadByBoto3(bucket, source, key)));
      return { bytes: bytes * WRITERS, operations: WRITERS };
    };
  };
  yield {
    name: `${WRITERS} boto3 writers of ${bytes / MIB} MiB`,
    unit: 'MB/s',
    contenders: [
      {
        name: 'S3 front',
        pid: gateway.pid,
        databasePid: gateway.databasePid,
        restMiB: gateway.restMiB,
        run: writing(
          front,
          names.map((name) => pathOn(target, name).slice(1)),
        ),
        verify: async () => {
          const source = await lab.source(bytes);
          for (const name of names) {
            await lab.expectStored(target, name, source);
            await lab.removeStored(target, name);
          }
        },
      },
      throughFront(lab, { target, direction: 'up', bytes, files: WRITERS }, own),
      { name: SINK, run: writing({ ...sink, name: 'sink' }, names) },
    ],
    goals: [
      { kind: 'ratio', against: OWN_API, atLeast: 0.8 },
      { kind: 'memory', atMostMiB: ALLOWED_MIB },
    ],
  };
  await gateway.stop();
}
