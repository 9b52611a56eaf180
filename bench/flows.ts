/**
 * A program: `npm run flows`. Counts the files of src that each flow enters, in a gateway that runs module by module:
 * those with a function that was called, from the request until the work has ended. It does so in other checkouts as
 * well, so that versions can be compared. Code in threads of its own is not counted.
 *
 *   npm run flows [-- --before ../other-checkout] [--files]
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePackages } from '../test/servers/packages.js';
import { eventually } from '../test/support/eventually.js';
import { unbundledOf } from '../test/support/start-args.js';
import { type GatewayUnderTest, type Request as BenchRequest, uploadRequest } from './lab/gateway.js';
import { runJob } from './lab/job-client.js';
import { Lab } from './lab/lab.js';
import { pathOn, type Target } from './lab/target.js';
import { WatchClient } from './lab/watch-client.js';
import type { WebhookReceiver } from './lab/webhook-receiver.js';

const CONNECTION = 'sftp';
/** A longer body than the gateway gathers: it streams. */
const BODY = Buffer.alloc(256 * 1024, 1);
/** The first run loads code and opens sessions. A file that not all others enter works in the background. */
const RUNS = { warm: 1, counted: 3 } as const;
/** By then, the work after the answer has ended. */
const SETTLED_MS = 1_500;
const CHECKED_MS = 60_000;

interface Flow {
  readonly name: string;
  /** Resolves with the work that is counted; `run` is different for each. */
  readonly prepare: (run: number) => Promise<() => Promise<unknown>>;
}

const { values } = parseArgs({
  options: { before: { type: 'string' }, files: { type: 'boolean', default: false } },
});
await ensurePackages(['openssh-server']);
const own = await filesOfFlows(undefined);
const former = values.before === undefined ? undefined : await filesOfFlows(values.before);
for (const [name, files] of own) {
  const before = former?.get(name);
  console.log(`${name}: ${files.length} files${before === undefined ? '' : `, before ${before.length}`}`);
  if (values.files) for (const file of files) console.log(`  ${file}`);
}

async function filesOfFlows(checkout: string | undefined): Promise<ReadonlyMap<string, readonly string[]>> {
  const lab = new Lab({ profileFolder: undefined });
  try {
    const enteredFile = join(lab.scratch, 'entered.json');
    const target = await lab.target('sftp');
    const receiver = await lab.receiver();
    const gateway = await lab.gateway({
      connections: { [CONNECTION]: target },
      settings: { network: { webhooks: { allow: ['127.0.0.0/8'] } }, watcher: { settleMs: 0 } },
      enteredFile,
      checkout,
    });
    const source = new URL('.', pathToFileURL(unbundledOf(checkout))).href;
    const entered = async (): Promise<readonly string[]> => {
      rmSync(enteredFile, { force: true });
      process.kill(gateway.pid, 'SIGUSR2');
      await eventually(() => existsSync(enteredFile), 'the gateway writes its entered modules');
      const urls = JSON.parse(readFileSync(enteredFile, 'utf8')) as readonly string[];
      return urls
        .filter((url) => url.startsWith(source))
        .map((url) => url.slice(source.length).replace(/\.js$/, '.ts'));
    };
    const counts = new Map<string, readonly string[]>();
    for (const { name, prepare } of await flowsOf(lab, gateway, target, receiver)) {
      let files: readonly string[] | undefined;
      for (let run = 0; run < RUNS.warm + RUNS.counted; run += 1) {
        const work = await prepare(run);
        await delay(SETTLED_MS);
        await entered();
        await work();
        await delay(SETTLED_MS);
        const found = await entered();
        if (run >= RUNS.warm) files = files?.filter((file) => found.includes(file)) ?? found;
      }
      counts.set(name, [...(files ?? [])].sort());
    }
    return counts;
  } finally {
    await lab.close();
  }
}

async function flowsOf(
  lab: Lab,
  gateway: GatewayUnderTest,
  target: Target,
  receiver: WebhookReceiver,
): Promise<readonly Flow[]> {
  const watched = new WatchClient(gateway);
  await lab.storeIn(target, 'watched', 'old');
  const folder = await watched.watch({
    connectionId: CONNECTION,
    path: pathOn(target, 'watched'),
    webhookUrl: receiver.url,
    scheduleMinutes: 1440,
  });
  await watched.firstCheck(folder, CHECKED_MS);
  const placeOf = (name: string): object => ({ connectionId: CONNECTION, path: pathOn(target, name) });
  return [
    { name: 'nothing', prepare: async () => () => Promise.resolve() },
    {
      name: 'upload',
      prepare: async (run) => () =>
        send(uploadRequest({ gateway, connection: CONNECTION, target }, `upload-${run}`), BODY),
    },
    {
      name: 'check to webhook',
      prepare: async (run) => {
        receiver.clear();
        await lab.storeIn(target, 'watched', `new-${run}`);
        return async () => {
          await watched.requestCheck(folder);
          await receiver.expect(1, CHECKED_MS);
        };
      },
    },
    {
      name: 'file of a job',
      prepare: async (run) => {
        await lab.storeIn(target, `source-${run}`, 'file');
        const order = { type: 'copy', source: placeOf(`source-${run}`), destination: placeOf(`copy-${run}`) };
        return () => runJob(gateway, order);
      },
    },
    {
      name: 'piece of a tus upload',
      prepare: async (run) => {
        const headers = { ...gateway.headers, 'Tus-Resumable': '1.0.0' };
        const metadata = { path: pathOn(target, ''), filename: `pieces-${run}` };
        const pairs = Object.entries(metadata).map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`);
        const begun = await send({
          method: 'POST',
          url: `${gateway.url}/api/uploads/${CONNECTION}`,
          headers: { ...headers, 'Upload-Length': String(2 * BODY.length), 'Upload-Metadata': pairs.join() },
        });
        const url = new URL(begun.headers.get('location') ?? '', gateway.url).href;
        const piece = { ...headers, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' };
        return () => send({ method: 'PATCH', url, headers: piece }, BODY);
      },
    },
    {
      name: 'delete a folder',
      prepare: async (run) => {
        for (const name of ['one', 'two']) await lab.storeIn(target, `gone-${run}/inner`, name);
        return () => runJob(gateway, { type: 'delete', source: placeOf(`gone-${run}`) });
      },
    },
  ];
}

/** @throws if the answer is not 2xx */
async function send({ method, url, headers }: BenchRequest, body?: Buffer): Promise<Response> {
  const answer = await fetch(url, { method, headers, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} was answered ${answer.status}: ${text}`);
  return answer;
}
