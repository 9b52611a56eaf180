/** Each field of a connection on each real server: every step of the connection test passes. Prints the steps as a table. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { TestReport } from '../../src/api/connections/test-report.js';
import { FTP_SERVERS, RADOSGW, S3_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { type NetworkProxy, startDante, startTinyproxy } from '../servers/network-proxies.js';
import { StsStub } from '../servers/scripted-sts.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { type ApiClient, startGateway, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';

const SERVERS = Object.entries({ sftp: SFTP_SERVERS, ftp: FTP_SERVERS, s3: [...S3_SERVERS, ...RADOSGW] }).flatMap(
  ([type, entries]) => entries.filter(({ isSeamOnly }) => isSeamOnly !== true).map((entry) => ({ type, ...entry })),
);

interface Field {
  readonly name: string;
  readonly types: readonly string[];
  /** Merged into the server's connection. */
  readonly value: (server: number) => Readonly<Record<string, unknown>>;
  /** What a step says of it. */
  readonly shows?: readonly [step: string, detail: RegExp];
  /** Servers that do not have it, by a word of their names ('' = all): this step fails for the reason. */
  readonly refused?: { readonly by: string; readonly step: string; readonly reason: RegExp };
}

let gateway: TestGateway;
let socks: NetworkProxy;
let http: NetworkProxy;
let bastion: TestSshd;
let sts: StsStub;

const ALL = ['sftp', 'ftp', 's3'] as const;

const FIELDS: readonly Field[] = [
  { name: 'none of them', types: ALL, value: () => ({}) },
  {
    name: 'proxy (SOCKS5)',
    types: ALL,
    value: () => ({ proxy: { url: socks.url } }),
    shows: ['proxy', / through the proxy socks5:/],
  },
  {
    name: 'proxy (CONNECT)',
    types: ALL,
    value: () => ({ proxy: { url: http.url, username: http.username, password: http.password } }),
    shows: ['proxy', / through the proxy http:/],
  },
  {
    name: 'via',
    types: ALL,
    value: (server) => ({ via: `bastion-${server}` }),
    shows: ['jump_host', /through the jump host bastion-/],
  },
  {
    name: 'bytesPerSecond',
    types: ALL,
    value: () => ({ bytesPerSecond: 1_000_000 }),
    shows: ['limits', /^1000000 bytes a second$/],
  },
  {
    name: 'hours',
    types: ALL,
    value: () => ({ hours: 'Mo-Su 00:00-24:00 Europe/Berlin' }),
    shows: ['limits', /^always open$/],
  },
  { name: 'algorithms', types: ['sftp'], value: () => ({ algorithms: 'legacy' }) },
  {
    name: 'algorithms (lists)',
    types: ['sftp'],
    value: () => ({ algorithms: { ciphers: ['aes256-ctr', 'aes128-ctr'], macs: ['hmac-sha2-256'] } }),
  },
  {
    name: 'hostCa',
    types: ['sftp'],
    value: () => ({ hostCa: [readFileSync(`${bastion.clientKeyFile}.pub`, 'utf8')] }),
    refused: { by: '', step: 'host_key', reason: /no authority in hostCa certifies: the server has no certificate/ },
  },
  { name: 'encoding', types: ['ftp'], value: () => ({ encoding: 'windows-1251' }) },
  {
    name: 'fileMode, folderMode',
    types: ['sftp'],
    value: () => ({ fileMode: '0640', folderMode: '0750' }),
    shows: ['rights', /0640.*0750/],
    refused: { by: 'rclone', step: 'rights', reason: /the server accepts them and keeps others/ },
  },
  { name: 'timeZone', types: ['ftp'], value: () => ({ timeZone: 'Europe/Berlin' }) },
  { name: 'listing', types: ['ftp'], value: () => ({ listing: 'unix' }) },
  { name: 'acct', types: ['ftp'], value: () => ({ acct: 'department' }) },
  {
    name: 'role',
    types: ['s3'],
    value: () => ({ role: { arn: 'arn:aws:iam::111122223333:role/transfer', endpoint: sts.endpoint } }),
    shows: ['identity', /the role arn:aws:iam::111122223333:role\/transfer/],
  },
  {
    name: 'encryption (aes256)',
    types: ['s3'],
    value: () => ({ encryption: { type: 'aes256' } }),
    shows: ['write', /, with encryption aes256$/],
    refused: { by: 'Swift', step: 'write', reason: /Server-side encryption is not supported/ },
  },
  {
    name: 'storageClass',
    types: ['s3'],
    value: () => ({ storageClass: 'STANDARD' }),
    shows: ['write', /, with storageClass STANDARD$/],
  },
  { name: 'acl', types: ['s3'], value: () => ({ acl: 'private' }), shows: ['write', /, with acl private$/] },
  {
    name: 'requesterPays',
    types: ['s3'],
    value: () => ({ requesterPays: true }),
    shows: ['write', /, with requesterPays$/],
  },
  {
    name: 'checksums (always)',
    types: ['s3'],
    value: () => ({ checksums: 'always' }),
    shows: ['write', /, with checksums always$/],
  },
  {
    name: 'checksums (never)',
    types: ['s3'],
    value: () => ({ checksums: 'never' }),
    shows: ['write', /, with checksums never$/],
  },
];

/** Each server has an account of its own: one account may test 30 connections a minute. */
const keyOf = (server: number): string => `ftg_admin-key-of-account-${String(server).padStart(8, '0')}`;

before(async () => {
  [socks, http, bastion, sts] = await startTogether([startDante(), startTinyproxy(), startSshd(), StsStub.start({})]);
  gateway = await startGateway({
    config: {
      accounts: SERVERS.map((_server, index) => ({
        email: `account-${index}@example.com`,
        plan: 'pro',
        apiKeys: [{ name: 'admin', key: keyOf(index), scopes: ['admin'] }],
      })),
    },
  });
});
after(() => Promise.all([gateway.stop(), socks.stop(), http.stop(), bastion.stop(), sts.stop()]));

/** As in a request: in place of the name of a file, its content. */
function inRequest({ privateKeyFile, tlsCaFile, ...others }: TestServer['connection']): object {
  return {
    ...others,
    ...(typeof privateKeyFile !== 'string' ? {} : { privateKey: readFileSync(privateKeyFile, 'utf8') }),
    ...(typeof tlsCaFile !== 'string' ? {} : { tlsCa: readFileSync(tlsCaFile, 'utf8') }),
  };
}

const shown = ({ steps }: TestReport): string =>
  steps.map(({ name, status }) => (status === 'ok' ? name : `${name}: ${status}`)).join(', ');

for (const [index, entry] of SERVERS.entries()) {
  describe(entry.name, () => {
    let server: TestServer;
    let owner: ApiClient;
    before(async () => {
      owner = gateway.client(keyOf(index));
      server = await entry.start();
      const { accessKeyId, secretAccessKey } = server.connection;
      if (typeof accessKeyId === 'string' && typeof secretAccessKey === 'string') {
        sts.secrets.set(accessKeyId, secretAccessKey);
        sts.keys = { accessKeyId, secretAccessKey };
      }
      const made = await owner.post('/manage/connections', {
        id: `bastion-${index}`,
        name: 'Bastion',
        type: 'sftp',
        host: '127.0.0.1',
        port: bastion.port,
        username: bastion.username,
        privateKey: readFileSync(bastion.clientKeyFile, 'utf8'),
      });
      assert.equal(made.status, 201, made.text);
    });
    after(() => server.stop());

    for (const { name, types, value, shows, refused } of FIELDS) {
      if (!types.includes(entry.type)) continue;
      test(name, async (t) => {
        const connection = { name: 'M', ...inRequest(server.connection), ...value(index) };
        const answer = await owner.post('/manage/test-connection', { connection, probe: true });
        assert.equal(answer.status, 200, answer.text);
        const report = answer.json as unknown as TestReport;
        t.diagnostic(`| ${name} | ${entry.name} | ${shown(report)} |`);
        const failed = report.steps.find(({ status }) => status === 'failed');
        if (refused !== undefined && entry.name.includes(refused.by)) {
          assert.equal(failed?.name, refused.step);
          assert.match(failed?.error ?? '', refused.reason);
          return;
        }
        assert.equal(failed, undefined);
        const [step, detail] = shows ?? ['login', /./];
        assert.match(report.steps.find((one) => one.name === step)?.detail ?? '', detail);
      });
    }
  });
}
