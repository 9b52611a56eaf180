/** What an edit of a jump host does to the connections behind it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from '../../support/gateway.js';
import { ACCOUNTS, expectError, field, type ManagedGateway, startManaged } from './support.js';

const login = { type: 'sftp', username: 'gw', password: 'sesame' };
/** The first account has connections of the configuration file. */
const OPERATORS = [
  { ...login, id: 'gate', name: 'Gate', host: 'gate.example.com' },
  { ...login, id: 'inside', name: 'Inside', host: 'inside.internal', via: 'gate' },
];

let gateway: ManagedGateway;
let ops: Browser;

before(async () => {
  gateway = await startManaged({
    accounts: ACCOUNTS.map((account, index) => ({ ...account, connections: index === 0 ? OPERATORS : [] })),
  });
  ops = await gateway.browser();
});
after(() => gateway.stop());

const at = (id: string): string => `/manage/connections/${id}`;
const AES_KEY = Buffer.alloc(32, 'k').toString('base64');

async function make(id: string, more: object): Promise<void> {
  const common = { id, name: id, type: 'sftp', host: `${id}.example.com`, username: 'gw' };
  const answer = await ops.post('/manage/connections', { ...common, ...more });
  assert.equal(answer.status, 201, answer.text);
}

const store = { type: 's3', host: undefined, username: undefined, bucket: 'b', accessKeyId: 'a', secretAccessKey: 's' };

/** Former defect: an editor moved the jump host to a server of his own, which then got the stored passwords. */
test('no stored secret is sent through a jump host that has moved', async () => {
  await make('bastion', { password: 'sesame' });
  await make('inner', { hostKeys: [`SHA256:${'A'.repeat(43)}`], via: 'bastion' });
  await make('plain', { type: 'ftp', password: 'sesame', via: 'bastion' });
  await make('far', { password: 'sesame', via: 'inner' });
  await make('sealed', { ...store, via: 'inner', encryption: { type: 'customer', key: AES_KEY } });
  await make('signing', { ...store, via: 'bastion' });
  const ways = [
    { host: 'elsewhere.example.com' },
    { port: 2222 },
    { proxy: { url: 'socks5://elsewhere.example.com:1080' } },
  ];
  for (const way of ways) {
    const refused = await ops.patch(at('bastion'), { ...way, password: 'again' });
    expectError(refused, 409, 'in_use');
    assert.match(refused.text, /stored secrets of plain, far, sealed would go another way/);
  }
  // The way to it counts as well.
  const shorter = await ops.patch(at('inner'), { via: null });
  expectError(shorter, 409, 'in_use');
  assert.match(shorter.text, /stored secrets of far, sealed would go another way/);
  for (const harmless of [{ name: 'Bastion' }, { username: 'other' }, { host: 'BASTION.example.com' }]) {
    assert.equal((await ops.patch(at('bastion'), harmless)).status, 200, JSON.stringify(harmless));
  }

  // Nor through another connection with its id.
  assert.equal((await ops.delete(`${at('bastion')}?confirm=true`)).status, 200);
  const moved = { type: 'sftp', name: 'Bastion', host: 'elsewhere.example.com', username: 'gw', password: 'x' };
  expectError(await ops.post('/manage/connections', { ...moved, id: 'bastion' }), 409, 'in_use');
  await make('other', moved);
  expectError(await ops.post(`${at('other')}/duplicate`, { id: 'bastion' }), 409, 'in_use');

  const again = { via: 'other', password: 'sesame' };
  assert.equal((await ops.patch(at('plain'), again)).status, 200);
  for (const id of ['far', 'sealed']) assert.equal((await ops.delete(at(id))).status, 200);
  assert.equal((await ops.post('/manage/connections', { ...moved, id: 'bastion' })).status, 201);
  assert.equal((await ops.patch(at('bastion'), { port: 2222, password: 'x' })).status, 200, 'the others only sign');
});

test('an edit leaves no connection behind more than three jump hosts', async () => {
  await make('one', {});
  await make('two', {});
  await make('low', {});
  await make('mid', { via: 'low' });
  await make('top', { via: 'mid' });
  assert.equal((await ops.patch(at('low'), { via: 'one' })).status, 200, 'three');
  await make('beside', { via: 'low' });
  const refused = await ops.patch(at('one'), { via: 'two' });
  expectError(refused, 400, 'bad_request');
  assert.match(refused.text, /via must leave top, which leads through it, at most 3 jump hosts/);
  assert.equal((await ops.delete(at('top'))).status, 200);
  assert.equal((await ops.patch(at('one'), { via: 'two' })).status, 200);
});

test('a duplicate of a connection of the configuration file has a jump host of its own, or none', async () => {
  const refused = await ops.post(`${at('inside')}/duplicate`, { id: 'copy' });
  expectError(refused, 400, 'bad_request');
  assert.match(refused.text, /via must not be gate: it comes from the configuration file/);
  const alone = await ops.post(`${at('inside')}/duplicate`, { id: 'copy', via: null });
  assert.equal(field(alone, 'via', 201), null);
  await make('own-gate', { password: 'sesame' });
  const led = await ops.post(`${at('inside')}/duplicate`, { via: 'own-gate', password: 'own' });
  assert.equal(field(led, 'via', 201), 'own-gate');
});

test('a duplicate keeps its jump host, and takes no stored password another way', async () => {
  await make('gate-1', { password: 'sesame' });
  await make('gate-2', { password: 'sesame' });
  await make('behind', { password: 'sesame', via: 'gate-1' });
  assert.equal(field(await ops.post(`${at('behind')}/duplicate`, {}), 'via', 201), 'gate-1');
  for (const via of ['gate-2', null]) {
    const refused = await ops.post(`${at('behind')}/duplicate`, { via });
    expectError(refused, 400, 'bad_request');
    assert.match(refused.text, /password must be given again .* because via has changed/);
    assert.equal(field(await ops.post(`${at('behind')}/duplicate`, { via, password: 'own' }), 'via', 201), via);
  }
});

test('a connection can be edited while its jump host is switched off', async () => {
  await make('resting', { password: 'sesame' });
  await make('named', { password: 'sesame', via: 'resting' });
  assert.equal((await ops.patch(at('resting'), { isActive: false })).status, 200);
  assert.equal((await ops.patch(at('named'), { name: 'Another name' })).status, 200);
  const refused = await ops.post(`${at('named')}/duplicate`, {});
  expectError(refused, 400, 'bad_request');
  assert.match(refused.text, /via must be a connection that is switched on/);
});
