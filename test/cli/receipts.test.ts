/** Receipts on the command line: fetched, and verified without the gateway. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { Terminal } from './support.js';

let gateway: TestAccount;
let terminal: Terminal;

before(async () => {
  gateway = await openAccount({
    sandbox: true,
    digests: 'always',
    apiKeys: [{ name: 'all', key: KEY, scopes: ['read', 'write', 'admin'] }],
  });
  terminal = new Terminal({ FTG_URL: gateway.url, FTG_KEY: gateway.keyOf(KEY) });
});

after(async () => {
  terminal.close();
  await gateway.stop();
});

test('the chain and a receipt are fetched and valid; a changed byte is found', async () => {
  const here = (name: string): string => join(terminal.home, name);
  writeFileSync(here('a.txt'), 'a');
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const { id } = await terminal.json<{ id: string }>('put', 'a.txt', `sandbox:${name}`);
    ids.push(id);
  }
  assert.match(await terminal.ok(['receipts', 'chain.ndjson']), /^3 receipts in chain\.ndjson, up to 3/);
  assert.match(await terminal.ok(['verify', 'chain.ndjson']), /^3 receipts hold, 1 .* to 3 .*without a gap/);
  assert.deepEqual(
    readdirSync(terminal.home).filter((name) => name.endsWith('.part')),
    [],
  );
  assert.equal(await terminal.ok(['receipts']), readFileSync(here('chain.ndjson'), 'utf8'));
  assert.equal(
    await terminal.ok(['receipts', '--after', '2']),
    readFileSync(here('chain.ndjson'), 'utf8').split('\n').slice(2).join('\n'),
  );
  await terminal.fails(5, /exists/, ['receipts', '--no-overwrite', 'chain.ndjson']);
  writeFileSync(here('one.jws'), await terminal.ok(['transfers', 'receipt', ids[0] ?? '']));
  assert.match(await terminal.ok(['verify', 'one.jws']), new RegExp(ids[0] ?? ''));
  await terminal.fails(3, /no receipt|no transfer/, ['transfers', 'receipt', '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001']);
  writeFileSync(here('chain.ndjson'), readFileSync(here('chain.ndjson'), 'utf8').replace('/two', '/too'));
  await terminal.fails(1, /receipt 2/, ['verify', 'chain.ndjson']);
});
