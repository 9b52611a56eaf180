/** The settings of a connection are on its card, with their effects, and nothing secret. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CONNECTION_TYPES } from '../../../src/contract/connection/types.js';
import type { Browser } from '../../support/gateway.js';
import { type ManagedGateway, startManaged } from './support.js';

let gateway: ManagedGateway;
let ops: Browser;
let folder = '';

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ftg-card-'));
  gateway = await startManaged();
  ops = await gateway.browser();
});
after(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

interface Setting {
  readonly name: string;
  readonly facts: Readonly<Record<string, string>>;
}

async function setOf(connection: Readonly<Record<string, unknown>>): Promise<readonly Setting[]> {
  const made = await ops.post('/manage/connections', connection);
  assert.equal(made.status, 201, made.text);
  const shown = await ops.get(`/manage/connections/${String(connection['id'])}`);
  assert.doesNotMatch(shown.text, /a secret of/);
  return shown.json['set'] as Setting[];
}

const SFTP = { type: 'sftp', host: 'bank.example.com', username: 'gw', password: 'a secret of the login' };

test('without settings there are no rows', async () => {
  assert.deepEqual(await setOf({ id: 'plain', name: 'Plain', ...SFTP }), []);
});

test('a jump host by its name, hours by their next change, a certificate by whose it is', async () => {
  const key = join(folder, 'key');
  for (const file of [key, join(folder, 'authority')]) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  }
  const options = ['-I', 'the gateway', '-n', 'gw,backup', '-V', '20260101000000Z:20990102030405Z'];
  execFileSync('ssh-keygen', ['-q', '-s', join(folder, 'authority'), ...options, `${key}.pub`]);
  await setOf({ id: 'bastion', name: 'Bastion', ...SFTP, host: 'bastion.example.com', port: 2222 });
  const day = ['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'][(new Date().getUTCDay() + 3) % 7];
  const set = await setOf({
    id: 'bank',
    name: 'Bank',
    ...SFTP,
    via: 'bastion',
    hours: `${day} 08:00-09:00 UTC`,
    privateKey: readFileSync(key, 'utf8'),
    certificate: readFileSync(`${key}-cert.pub`, 'utf8'),
    fileMode: '0640',
    folderMode: '750',
    algorithms: { ciphers: ['aes256-ctr'] },
    bytesPerSecond: 1_000_000,
  });
  const byName = new Map(set.map((setting) => [setting.name, setting]));
  assert.deepEqual(byName.get('via'), {
    name: 'via',
    facts: { name: 'Bastion', address: 'bastion.example.com:2222' },
  });
  const opensAt = new Date(String(byName.get('hours')?.facts['opensAt']));
  assert.ok(opensAt.getTime() > Date.now() && opensAt.toISOString().endsWith('T08:00:00.000Z'), String(opensAt));
  assert.deepEqual(byName.get('certificate'), {
    name: 'certificate',
    facts: { keyId: 'the gateway', principals: 'gw, backup', validUntil: '2099-01-02T03:04:05.000Z' },
  });
  assert.deepEqual([...byName.keys()].sort(), [
    'algorithms',
    'bytesPerSecond',
    'certificate',
    'fileMode',
    'folderMode',
    'hours',
    'via',
  ]);
});

test('the key of an encryption and the password of a proxy are not among them', async () => {
  const set = await setOf({
    id: 'lake',
    name: 'Lake',
    type: 's3',
    bucket: 'lake',
    accessKeyId: 'AKIA',
    secretAccessKey: 'a secret of the key',
    encryption: { type: 'customer', key: Buffer.alloc(32, 'a secret of 32').toString('base64') },
    proxy: { url: 'http://proxy.example.com:3128', username: 'gw', password: 'a secret of the proxy' },
    storageClass: 'STANDARD_IA',
    acl: 'private',
    requesterPays: true,
    checksums: 'always',
    hours: '00:00-24:00 UTC',
  });
  assert.deepEqual(set.map(({ name }) => name).sort(), [
    'acl',
    'checksums',
    'encryption',
    'hours',
    'proxy',
    'requesterPays',
    'storageClass',
  ]);
  assert.ok(set.every(({ facts }) => Object.keys(facts).length === 0));
});

test('every field of the contract that changes how a server is reached or written to can appear', () => {
  const REACH = ['proxy', 'via', 'bytesPerSecond', 'hours'];
  const OWN: Readonly<Record<string, readonly string[]>> = {
    sftp: ['algorithms', 'certificate', 'fileMode', 'folderMode', 'hostCa'],
    ftp: ['timeZone', 'listing'],
    s3: ['encryption', 'role', 'storageClass', 'acl', 'requesterPays', 'checksums'],
  };
  for (const { type, settings } of CONNECTION_TYPES) {
    const advanced = Object.entries(settings).flatMap(([name, field]) =>
      'isAdvanced' in field && field.isAdvanced === true ? [name] : [],
    );
    for (const name of [...REACH, ...(OWN[type] ?? [])]) assert.ok(advanced.includes(name), `${type}: ${name}`);
  }
});
