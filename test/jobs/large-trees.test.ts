/**
 * Jobs find out what very many files need, and delete many: their memory does not grow with them, and the event loop
 * stays free. Run manually with JOBS=all: 1,000,000 are found (or JOBS_ENTRIES), and 200,000 deleted.
 */
import assert from 'node:assert/strict';
import { chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { longestHold, MAX_HOLD_MS, startWatchedGateway } from '../attacks/support/loop.js';
import { startVsftpd } from '../servers/ftp.js';
import { listed, S3Stub, type Intercept } from '../servers/scripted-s3.js';
import { startSshd } from '../servers/sshd.js';
import { memoryOf, resetPeakMemory, type TestGateway } from '../support/gateway.js';
import { run } from './support.js';

const MIB = 1024 * 1024;
const IS_FULL = process.env['JOBS'] === 'all';
const FOUND = Number(process.env['JOBS_ENTRIES'] ?? (IS_FULL ? 1_000_000 : 20_000));
const DELETED = IS_FULL ? 200_000 : 4_000;
/** Code that the first job loads stays loaded. */
const FEW = 2_000;
const FOLDER_ENTRIES = 20_000;
const MAX_GROWTH = 80 * MIB;
const WITHIN_MS = 1_200_000;

/** A server of any size. */
interface Server {
  readonly connection: object;
  /** Makes this many files in folders of a tree, unless it exists; returns its path. */
  fill(name: string, entries: number): string;
  stop(): Promise<void>;
}

const folderOf = (index: number): string => `d${Math.floor(index / FOLDER_ENTRIES)}`;
const nameOf = (index: number): string => `file-${String(index).padStart(7, '0')}`;

function fillDisk(root: string, entries: number, owner: number): void {
  if (existsSync(root)) return;
  for (let index = 0; index < entries; index++) {
    const folder = path.join(root, folderOf(index));
    if (index % FOLDER_ENTRIES === 0) {
      mkdirSync(folder, { recursive: true });
      for (const made of [root, folder]) chownSync(made, owner, owner);
    }
    writeFileSync(path.join(folder, nameOf(index)), '');
  }
}

async function sftp(): Promise<Server> {
  const sshd = await startSshd();
  const login = { host: '127.0.0.1', port: sshd.port, username: sshd.username, privateKeyFile: sshd.clientKeyFile };
  return {
    connection: { type: 'sftp', ...login, rootPath: sshd.files },
    fill: (name, entries) => {
      fillDisk(path.join(sshd.files, name), entries, process.getuid?.() ?? 0);
      return `/${name}`;
    },
    stop: () => sshd.stop(),
  };
}

async function ftp(): Promise<Server> {
  const vsftpd = await startVsftpd();
  const { port, username, password, folder } = vsftpd;
  return {
    connection: { type: 'ftp', host: '127.0.0.1', port, username, password },
    fill: (name, entries) => {
      fillDisk(path.join(folder, name), entries, statSync(folder).uid);
      return `/${name}`;
    },
    stop: () => vsftpd.stop(),
  };
}

/** A store that generates its pages. */
async function s3(): Promise<Server> {
  const stub = await S3Stub.start();
  const trees = new Map<string, number>();
  const page: Intercept = ({ method, key, query }) => {
    if (method !== 'GET' || key !== '') return undefined;
    const [tree = '', folder = ''] = (query.get('prefix') ?? '').split('/');
    const entries = trees.get(tree) ?? 0;
    if (entries === 0) return listed([]);
    if (!query.has('delimiter')) return listed([`${tree}/d0/${nameOf(0)}`]);
    if (folder === '') {
      const folders = Array.from({ length: Math.ceil(entries / FOLDER_ENTRIES) }, (_, number) => `${tree}/d${number}/`);
      return listed(
        [],
        folders.map((prefix) => `<CommonPrefixes><Prefix>${prefix}</Prefix></CommonPrefixes>`).join(''),
      );
    }
    const first = Number(folder.slice(1)) * FOLDER_ENTRIES;
    const end = Math.min(first + FOLDER_ENTRIES, entries);
    const from = Number(query.get('continuation-token') ?? first);
    const to = Math.min(from + Number(query.get('max-keys') ?? 1000), end);
    const keys = Array.from({ length: to - from }, (_, at) => `${tree}/${folder}/${nameOf(from + at)}`);
    if (to === end) return listed(keys);
    return listed(keys, `<IsTruncated>true</IsTruncated><NextContinuationToken>${to}</NextContinuationToken>`);
  };
  stub.early = page;
  const login = { region: 'us-east-1', accessKeyId: 'key', secretAccessKey: 'secret', forcePathStyle: true };
  return {
    connection: { type: 's3', endpoint: stub.endpoint, bucket: 'b', ...login },
    fill: (name, entries) => {
      trees.set(name, entries);
      return `/${name}`;
    },
    stop: () => stub.stop(),
  };
}

type Work = (gateway: TestGateway, server: Server, name: string, entries: number) => Promise<void>;

/** What a job would do. */
function finds(type: 'sync' | 'copy'): Work {
  return async ({ api }, server, name, entries) => {
    const order = { type, dryRun: true, destination: { connectionId: 'c1', path: '/nowhere' } };
    const job = await run(
      api,
      { ...order, source: { connectionId: 'c1', path: server.fill(name, entries) } },
      WITHIN_MS,
    );
    assert.equal(job.state, 'succeeded', JSON.stringify(job));
    assert.deepEqual([job.counts.found, job.counts.done], [entries, entries]);
  };
}

const deletesByJob: Work = async ({ api }, server, name, entries) => {
  const source = { connectionId: 'c1', path: server.fill(name, entries) };
  const job = await run(api, { type: 'delete', source }, WITHIN_MS);
  assert.equal(job.state, 'succeeded', JSON.stringify(job));
  assert.deepEqual([job.counts.found, job.counts.deleted], [entries, entries]);
};

const deletesAtOnce: Work = async ({ api }, server, name, entries) => {
  const answer = await api.post('/api/delete/c1', { path: server.fill(name, entries), recursive: true });
  assert.equal(answer.status, 200, answer.text);
};

const CASES: readonly (readonly [what: string, entries: number, start: () => Promise<Server>, work: Work])[] = [
  ['a sync from SFTP to SFTP finds', FOUND, sftp, finds('sync')],
  ['a copy from FTP finds', FOUND, ftp, finds('copy')],
  ['a copy from S3 finds', FOUND, s3, finds('copy')],
  ['a job deletes from FTP', DELETED, ftp, deletesByJob],
  ['a request deletes from FTP', DELETED, ftp, deletesAtOnce],
];

for (const [what, entries, start, work] of CASES) {
  describe(`large trees: ${entries} files that ${what}`, { timeout: 2 * WITHIN_MS }, () => {
    let server: Server;
    let gateway: TestGateway;

    before(async () => {
      server = await start();
      // It is done first: many take so much time that connections to the gateway would be closed.
      server.fill('many', entries);
      gateway = await startWatchedGateway({ connections: [{ id: 'c1', name: 'Server', ...server.connection }] });
      await work(gateway, server, 'few', FEW);
    });
    after(async () => {
      await gateway?.stop();
      await server?.stop();
    });

    test('in little memory, and others are served meanwhile', async (t) => {
      const idle = memoryOf(gateway.pid).now;
      resetPeakMemory(gateway.pid);
      let seconds = 0;
      let grown = 0;
      const hold = await longestHold(gateway, async () => {
        const began = performance.now();
        await work(gateway, server, 'many', entries);
        seconds = (performance.now() - began) / 1000;
        grown ||= memoryOf(gateway.pid).peak - idle;
      });
      const figures = [`${Math.round(grown / MIB)} MiB more memory`, `${Math.round(entries / seconds)} files a second`];
      t.diagnostic([...figures, `the event loop held for ${Math.round(hold)} ms at most`].join(', '));
      assert.ok(grown < MAX_GROWTH, `${grown} bytes`);
      assert.ok(hold < MAX_HOLD_MS, `the event loop was held for ${Math.round(hold)} ms`);
    });
  });
}
