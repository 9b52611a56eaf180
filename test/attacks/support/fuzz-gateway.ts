/**
 * A gateway with cheap servers of every protocol, each with a file outside the connection's root that must never
 * appear.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSandbox } from '../../../src/sandbox/server.js';
import { startOddServer } from '../../servers/scripted-sftp.js';
import { S3Stub } from '../../servers/scripted-s3.js';
import { startScripted, type ScriptedFtp, type Visitor } from '../../servers/scripted-ftp.js';
import { KEY, startGateway, type TestGateway } from '../../support/gateway.js';
import type { Known } from './fuzz-requests.js';
import { startTogether } from '../../support/together.js';

/** The content of the files outside; it is in no request. */
export const CANARY = 'canary-7d1f9a';
export const ADMIN_KEY = 'ftg_fuzzed-admin-key-0123456789-abcdef';

export interface FuzzGateway {
  readonly gateway: TestGateway;
  /** For the file operations. */
  readonly user: Known;
  /** For the management API: another account, whose connections may be broken. */
  readonly admin: Known;
  stop(): Promise<void>;
}

export async function startFuzzGateway(): Promise<FuzzGateway> {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-fuzz-'));
  const files = path.join(folder, 'files');
  mkdirSync(path.join(files, 'inside'), { recursive: true });
  writeFileSync(path.join(files, 'canary.txt'), CANARY);
  const login = { username: 'fuzz', password: 'fuzzfuzz' };
  const [sandbox, ftp, s3, shell, origin] = await startTogether([
    startSandbox({ folder: files, host: '127.0.0.1', port: 0, ...login, hostKeyFile: path.join(folder, 'key') }),
    startSteadyFtp(),
    S3Stub.start(),
    startShell(),
    startOrigin(),
  ]);
  ftp.folders.add('/inside');
  ftp.files.set('/canary.txt', Buffer.from(CANARY));
  s3.objects.set('canary.txt', Buffer.from(CANARY));
  const sftp = { type: 'sftp', host: '127.0.0.1', port: sandbox.port, ...login };
  const gateway = await startGateway({
    config: {
      log: { level: 'info' },
      sandbox: true,
      limits: { uploadBytes: 1_000_000, readBytes: 100_000 },
      pools: { default: { connectTimeoutMs: 2_000, stallTimeoutMs: 5_000 } },
      network: { urlFetch: { allow: ['127.0.0.1/32'] }, webhooks: { allow: ['127.0.0.1/32'] } },
      accounts: [
        {
          email: 'fuzz@example.com',
          plan: 'pro',
          apiKeys: [{ name: 'fuzz', key: KEY }],
          connections: [
            { id: 'box', name: 'Box', ...sftp, rootPath: '/inside', digests: 'always' },
            { id: 'ftp', name: 'FTP', ...target(ftp), rootPath: '/inside' },
            { id: 'lake', name: 'Lake', ...storeOf(s3), prefix: 'inside/' },
            { id: 'shell', name: 'Shell', type: 'sftp', host: '127.0.0.1', port: shell.port, ...login },
            { id: 'off', name: 'Off', ...sftp, isActive: false },
            { id: 'gone', name: 'Gone', ...sftp, port: 1 },
          ],
        },
        {
          email: 'managed@example.com',
          plan: 'pro',
          password: 'a password of the fuzz',
          apiKeys: [
            { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
            { name: 'other', key: 'ftg_fuzzed-other-key-0123456789-abcdef' },
          ],
          connections: [
            { id: 'box2', name: 'Box', ...sftp, rootPath: '/inside' },
            { id: 'lake2', name: 'Lake', ...storeOf(s3), prefix: 'inside/' },
          ],
        },
      ],
    },
  });
  const urls = [
    `http://127.0.0.1:${origin.port}/file.txt`,
    `http://127.0.0.1:${origin.port}/redirect`,
    'http://169.254.169.254/latest',
    'http://[::ffff:169.254.169.254]/',
    'http://0x7f.1:1/',
    'https://127.0.0.1:1/x',
    'ftp://127.0.0.1/x',
    'http://user:pass@localhost:1/x',
  ];
  const ids = ['0199c0de-0000-7000-8000-000000000000', '0199c0de-0000-7000-8000-00000000000', 'not-an-id', '1'];
  const own = await standing(gateway);
  const hosts = ['127.0.0.1', 'localhost', '::1', '169.254.169.254', '0x7f.1', 'nowhere.invalid', '0', '2130706433'];
  const connections = ['box', 'ftp', 'lake'];
  return {
    gateway,
    user: {
      key: KEY,
      connections: [...connections, ...connections, 'shell', 'off', 'gone', 'absent'],
      ids: [...ids, ...own],
      urls,
      hosts,
    },
    admin: { key: ADMIN_KEY, connections: ['box2', 'lake2', 'box', 'absent'], ids, urls, hosts },
    stop: async () => {
      await gateway.stop();
      await Promise.all([sandbox.close(), ftp.stop(), s3.stop(), shell.stop(), origin.stop()]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Ids of a transfer, a job that has ended, a schedule, a link, and a watched folder. */
async function standing({ api }: TestGateway): Promise<string[]> {
  await api.post('/api/write/box', { path: '/f', content: 'f' });
  const [transfer] = (await api.get('/api/transfers')).json['transfers'] as { readonly id: string }[];
  const job = { type: 'delete', source: { connectionId: 'box', path: '/nothing' } };
  const begun = (await api.post('/api/jobs', job)).json['job'] as { readonly id: string };
  // It ends with the job.
  await api.get(`/api/jobs/${begun.id}/events`);
  const made = await api.post('/api/schedules', { name: 'hourly', cron: '@hourly', isActive: false, job });
  const { id } = made.json['schedule'] as { readonly id: string };
  const expiresAt = new Date(Date.now() + 60 * 60 * 1000).toISOString();
  const order = { operation: 'upload', connectionId: 'box', path: '/links', expiresAt };
  const link = (await api.post('/api/links', order)).json['link'] as { readonly id: string };
  const watched = (await api.post('/api/watched-folders', { connectionId: 'box', path: '/' })).json;
  return [String(transfer?.id), begun.id, id, link.id, String(watched['id'])];
}

const target = ({ port, username, password }: { port: number; username: string; password: string }): object => ({
  type: 'ftp',
  host: '127.0.0.1',
  port,
  username,
  password,
  tls: 'none',
});

const storeOf = ({ endpoint }: S3Stub): object => ({
  type: 's3',
  endpoint,
  region: 'us-east-1',
  bucket: 'bucket',
  accessKeyId: 'fuzz',
  secretAccessKey: 'fuzzfuzz',
  forcePathStyle: true,
});

/**
 * Serves a file only as it was when its size was reported: another worker may have replaced it, and its download would
 * be cut.
 */
async function startSteadyFtp(): Promise<ScriptedFtp> {
  const contents = new Map<string, Buffer | undefined>();
  const placeOf = (path: string, { session }: Visitor): string => `${session} ${path}`;
  const ftp: ScriptedFtp = await startScripted({
    SIZE: (path, visitor) => {
      contents.set(placeOf(path, visitor), ftp.files.get(path));
      return visitor.usual();
    },
    RETR: (path, visitor) => {
      const place = placeOf(path, visitor);
      const before = contents.get(place);
      contents.delete(place);
      if (before !== undefined && before !== ftp.files.get(path)) return visitor.say('451 changed meanwhile');
      return visitor.usual();
    },
  });
  return ftp;
}

/** Returns every command instead of running it. */
function startShell() {
  return startOddServer({
    onSession: (session) => {
      session.on('exec', (accept, _reject, { command }) => {
        const channel = accept();
        channel.write(command.slice(0, 1000));
        channel.exit(0);
        channel.end();
      });
    },
  });
}

async function startOrigin(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const server = http.createServer((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { Location: 'http://169.254.169.254/' }).end();
    else response.end('fetched');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
