/** A program: so many clients, each with one operation under way, for so many seconds. Argument: LoadSpec. Prints LoadResult. */
import { ftpDriver } from './bare-ftp.js';
import { s3Driver } from './bare-s3.js';
import { sftpDriver } from './bare-sftp.js';
import { httpDriver } from './http.js';
import type { Driver, LoadResult, LoadSpec } from './spec.js';

/** Of each client, before the clock starts: sessions are open and code is compiled. */
const WARM_UP_CALLS = 3;
/** What runs in a just-in-time compiler costs several times as much at first. */
const WARM_UP_MS = 2_000;

const spec = JSON.parse(process.argv[2] ?? '') as LoadSpec;
const driver = await open(spec);
let calls = 0;
const warmAt = performance.now() + WARM_UP_MS;
await everyClient(async (client) => {
  for (let turn = 0; turn < WARM_UP_CALLS || performance.now() < warmAt; turn += 1) {
    await driver.call(client, turn);
    calls += 1;
  }
});
const latenciesMs: number[] = [];
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
const result: LoadResult = { seconds, latenciesMs, calls: calls + latenciesMs.length };
driver.close();
process.stdout.write(JSON.stringify(result));

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
