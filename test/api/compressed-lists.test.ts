/** A browser gets large folder listings compressed, with the same content. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { openAccount, type TestAccount } from '../support/account.js';

const ENTRIES = 2_000;
const TAKES = { 'Accept-Encoding': 'gzip' };
let gateway: TestAccount;

before(async () => {
  gateway = await openAccount({ sandbox: true });
  const many = path.join(gateway.sandboxFolder, 'many');
  mkdirSync(many);
  for (let index = 0; index < ENTRIES; index++) writeFileSync(path.join(many, `report-${index}.txt`), '');
});
after(() => gateway.stop());

for (const [name, query, accept] of [
  ['a listing', 'path=/many', 'application/json'],
  ['a tree', 'path=/&recursive=true', 'application/json'],
  ['a page', `path=/many&limit=${ENTRIES - 1}`, 'application/json'],
  ['lines', 'path=/many', 'application/x-ndjson'],
]) {
  test(`${name} is a fraction of its size as gzip, with the same content`, async () => {
    const target = `/api/list/sandbox?${query}`;
    const headers = { Accept: accept ?? '' };
    const plain = await gateway.api.send(target, { headers });
    assert.equal(plain.headers['content-encoding'], undefined);
    const small = await gateway.api.send(target, { headers: { ...headers, ...TAKES } });
    assert.equal(small.headers['content-encoding'], 'gzip');
    assert.match(String(small.headers['vary']), /Accept-Encoding/);
    assert.ok(small.bytes.length < plain.bytes.length / 4, `${small.bytes.length} of ${plain.bytes.length} bytes`);
    const entries = (text: string): string[] => text.split(/(?<=\})[,\n]/).sort();
    const opened = gunzipSync(small.bytes)
      .toString()
      .replace(/"nextCursor":"[^"]*"/, '');
    assert.deepEqual(entries(opened), entries(plain.text.replace(/"nextCursor":"[^"]*"/, '')));
  });
}

test('a small folder is not compressed', async () => {
  const { headers } = await gateway.api.send('/api/list/sandbox?path=/many&pattern=report-7.txt', { headers: TAKES });
  assert.equal(headers['content-encoding'], undefined);
});
