/** Entries that no path can name are missing from an archive, and a file in it lists them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { readByPython } from '../../conformance/tree-rules.js';
import { PROTOCOLS, type ProtocolName, startServers } from '../../faults/rig.js';
import { Missing } from '../../../src/operations/archive/missing.js';
import { openAccount, type TestAccount } from '../../support/account.js';

const run = promisify(execFile);
const ODD = 'tab\there.txt';

describe('archives of folders with names that no path can have', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestAccount;
  const place = mkdtempSync(path.join(tmpdir(), 'ftg-missing-'));

  before(async () => {
    servers = await startServers();
    gateway = await openAccount({
      connections: PROTOCOLS.map((id) => ({ id, name: id, ...servers[id].connection })),
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
    rmSync(place, { recursive: true });
  });

  async function archived(
    id: ProtocolName,
    paths: readonly string[],
  ): Promise<readonly [names: string[], reported: string]> {
    const query = new URLSearchParams({ format: 'zip' });
    for (const one of paths) query.append('path', one);
    const answer = await gateway.api.get(`/api/download/${id}?${query.toString()}`);
    assert.equal(answer.status, 200, answer.text);
    const file = path.join(place, `${id}-${paths.length}.zip`);
    writeFileSync(file, answer.bytes);
    const names = (await readByPython(file)).map(([name]) => name);
    const last = names.at(-1) ?? '';
    const { stdout } = last.startsWith('_missing') ? await run('unzip', ['-p', file, last]) : { stdout: '' };
    return [names, stdout];
  }

  for (const id of PROTOCOLS) {
    test(id, async () => {
      const { disk } = servers[id];
      const odd = [`/top/${ODD}`, `/top/sub/${ODD}`, ...(id === 's3' ? ['/top/in//b.txt'] : [])];
      for (const file of ['/top/plain.txt', '/other/plain.txt', ...odd]) await disk.write(file, 'x');
      const [names, reported] = await archived(id, ['/top']);
      assert.ok(names.includes('top/plain.txt'), String(names));
      assert.equal(names.at(-1), '_missing.txt');
      const lines = reported.split('\n').filter((line) => line.startsWith('"'));
      const expected = odd.map((file) => `${JSON.stringify(file.slice(1))}: no path has such a name`);
      assert.deepEqual(lines.toSorted(), expected.sort());
      assert.deepEqual(await archived(id, ['/other']), [['other/', 'other/plain.txt'], '']);
      await disk.write('/_missing.txt', 'mine');
      const [beside] = await archived(id, ['/_missing.txt', '/top']);
      assert.deepEqual([beside[0], beside.at(-1)], ['_missing.txt', '_missing (2).txt']);
    });
  }
});

test('if there are very many names, only as many are listed as fit, and the list says that there are more', async () => {
  const missing = new Missing();
  for (let number = 0; number < 100_000; number++) missing.add('a/', `\u0001${number}`, 'why');
  const [entry] = [...missing.entries('_missing.txt')];
  const file = await entry?.open?.();
  assert.ok(file !== undefined && file.reportedSize < 70_000, String(file?.reportedSize));
  const chunks: Buffer[] = [];
  for await (const chunk of file.chunks) chunks.push(chunk);
  assert.match(Buffer.concat(chunks).toString(), /"a\/\\u00010": why\n[^]*\nand more\n$/);
});
