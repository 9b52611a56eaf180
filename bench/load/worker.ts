/**
 * A program: a number of clients, each with one operation under way, for a number of seconds. Argument: LoadSpec.
 * Prints WorkerWords.
 */
import { ftpDriver } from './bare-ftp.js';
import { s3Driver } from './bare-s3.js';
import { sftpDriver } from './bare-sftp.js';
import { httpDriver } from './http.js';
import type { Driver, LoadResult, LoadSpec, WorkerWord } from './spec.js';

/** Per client, before the measurement starts: sessions are open and code is compiled. */
const WARM_UP_CALLS = 3;
/** Code in a just-in-time compiler costs several times as much at first. */
const WARM_UP_MS = 1_000;

const spec = JSON.parse(process.argv[2] ?? '') as LoadSpec;
const word: WorkerWord = await load().catch((error: Error) => ({ failure: error.message }));
process.send?.(word, () => process.exit());

async function load(): Promise<LoadResult> {
  const driver = await open(spec);
  const warmAt = performance.now() + WARM_UP_MS;
  await everyClient(async (client) => {
    for (let turn = 0; turn < WARM_UP_CALLS || performance.now() < warmAt; turn += 1) await driver.call(client, turn);
  });
  process.send?.('warm' satisfies WorkerWord);
  const latenciesMs: number[] = [];
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const until = startedAt + spec.seconds * 1000;
  await everyClient(async (client) => {
    for (let turn = 0; ; turn += 1) {
      const begun = performance.now();
      if (begun >= until) return;
      await driver.call(client, turn);
      latenciesMs.push(Math.round((performance.now() - begun) * 1000) / 1000);
    }
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  driver.close();
  return { seconds, latenciesMs, cpuSeconds: (user + system) / 1e6 };
}

async function everyClient(work: (client: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: spec.clients }, (_, client) => work(client)));
}

async function open({ call, clients }: LoadSpec): Promise<Driver> {
  if (call.kind === 'http') return httpDriver(call, clients);
  const { target } = call;
  switch (target.protocol) {
    case 'sftp':
      return sftpDriver(target, call, clients);
    case 'ftp':
      return ftpDriver(target, call, clients);
    case 's3':
      return s3Driver(target, call);
  }
}
