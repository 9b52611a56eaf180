/** What an edit of a jump host does to the connections behind it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from '../../support/gateway.js';
import { expectError, type ManagedGateway, startManaged } from './support.js';

let gateway: ManagedGateway;
let ops: Browser;

before(async () => {
  gateway = await startManaged();
  ops = await gateway.browser();
});
after(() => gateway.stop());

const at = (id: string): string => `/manage/connections/${id}`;

async function make(id: string, more: object): Promise<void> {
  const common = { id, name: id, type: 'sftp', host: `${id}.example.com`, username: 'gw' };
  const answer = await ops.post('/manage/connections', { ...common, ...more });
  assert.equal(answer.status, 201, answer.text);
}

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
