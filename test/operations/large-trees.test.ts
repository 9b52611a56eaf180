/**
 * Folders of many files, listed and archived: memory does not grow with them, and the event loop stays free. Run
 * manually with TREE_ENTRIES=1000000, or ARCHIVE_FILES=5000 ARCHIVE_FILE_BYTES=655360.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { assertServing, startWatchedGateway } from '../attacks/support/loop.js';
import { readByPython } from '../conformance/tree-rules.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { memoryOf, resetPeakMemory, type TestGateway } from '../support/gateway.js';

const run = promisify(execFile);
const MIB = 1024 * 1024;
const ENTRIES = Number(process.env['TREE_ENTRIES'] ?? 30_000);
const ARCHIVE_FILES = Number(process.env['ARCHIVE_FILES'] ?? 600);
const ARCHIVE_FILE_BYTES = Number(process.env['ARCHIVE_FILE_BYTES'] ?? 256 * 1024);
const MAX_GROWTH = 30 * MIB;
/** Each page is in memory while it is made, and the collector is late with the garbage of a hundred of them. */
const MAX_PAGES_GROWTH = 150 * MIB;

describe('large trees', () => {
  let sshd: TestSshd;
  let gateway: TestGateway;

  before(async () => {
    sshd = await startSshd();
    const many = path.join(sshd.files, 'many');
    for (let index = 0; index < ENTRIES; index++) {
      const folder = path.join(many, `d${Math.floor(index / 20_000)}`);
      if (index % 20_000 === 0) mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, `file-${String(index).padStart(7, '0')}`), '');
    }
    const archived = path.join(sshd.files, 'archived');
    mkdirSync(archived);
    const content = Buffer.alloc(ARCHIVE_FILE_BYTES, 'content ');
    for (let index = 0; index < ARCHIVE_FILES; index++) {
      content.write(String(index));
      writeFileSync(path.join(archived, `file-${index}`), content);
    }
    gateway = await startWatchedGateway({
      connections: [
        {
          id: 'c1',
          name: 'Server',
          type: 'sftp',
          host: '127.0.0.1',
          port: sshd.port,
          username: sshd.username,
          privateKeyFile: sshd.clientKeyFile,
          defaultPath: sshd.files,
        },
      ],
    });
    // Code that the first of each loads stays loaded.
    for (const target of ['/api/list/c1?path=many/d0&limit=10', '/api/list/c1?path=many&recursive=true&pattern=x']) {
      assert.equal((await gateway.api.get(target)).status, 200);
    }
    writeFileSync(path.join(sshd.files, 'warm'), Buffer.alloc(8 * MIB));
    await gateway.api.get('/api/download/c1?path=warm&format=zip');
    await lines('path=archived');
  });
  after(async () => {
    await gateway?.stop();
    await sshd?.stop();
  });

  async function lines(query: string, onLine: () => unknown = () => undefined): Promise<number> {
    const accept = { Accept: 'application/x-ndjson' };
    const answer = await gateway.api.open(`/api/list/c1?${query}`, { headers: accept });
    let found = 0;
    for await (const line of createInterface(answer)) {
      assert.ok(line.endsWith('}'));
      found += 1;
      await onLine();
    }
    assert.ok(answer.complete);
    return found;
  }

  /**
   * How much the gateway's memory grows meanwhile; garbage that is not collected now may be collected the next time.
   */
  async function growthOf(work: () => Promise<unknown>, most: number): Promise<number> {
    let least = Infinity;
    for (let tries = 0; tries < 3 && least >= most; tries++) {
      const idle = memoryOf(gateway.pid).now;
      resetPeakMemory(gateway.pid);
      await work();
      least = Math.min(least, memoryOf(gateway.pid).peak - idle);
    }
    return least;
  }

  test(`${ENTRIES} entries as lines, to a slow client`, async (t) => {
    const expected = ENTRIES + Math.ceil(ENTRIES / 20_000);
    const grown = await growthOf(async () => {
      let seen = 0;
      const slowly = (): Promise<void> | undefined => (++seen % 5_000 === 0 && seen < 30_000 ? delay(100) : undefined);
      assert.equal(await lines('path=many&recursive=true', slowly), expected);
    }, MAX_GROWTH);
    t.diagnostic(`${Math.round(grown / MIB)} MiB more memory`);
    assert.ok(grown < MAX_GROWTH, `${grown} bytes`);
    await assertServing(gateway, () => lines('path=many&recursive=true'));
  });

  test('pages of ten thousand', async (t) => {
    let found = 0;
    let pages = 0;
    let began = 0;
    const grown = await growthOf(async () => {
      [found, pages, began] = [0, 0, performance.now()];
      let cursor = '';
      do {
        const query = { path: 'many', recursive: 'true', limit: '10000', ...(cursor === '' ? {} : { cursor }) };
        const { json } = await gateway.api.get('/api/list/c1', { query });
        found += (json['files'] as unknown[]).length;
        pages += 1;
        cursor = (json['nextCursor'] as string | null) ?? '';
      } while (cursor !== '');
    }, MAX_PAGES_GROWTH);
    t.diagnostic(
      `${Math.round(grown / MIB)} MiB more memory, ${Math.round((performance.now() - began) / pages)} ms a page`,
    );
    assert.equal(found, ENTRIES + Math.ceil(ENTRIES / 20_000));
    assert.ok(grown < MAX_PAGES_GROWTH, `${grown} bytes`);
    await assertServing(gateway, () => gateway.api.get('/api/list/c1?path=many&recursive=true&limit=10000'));
  });

  test(`an archive of ${ARCHIVE_FILES} files of ${ARCHIVE_FILE_BYTES} bytes`, async (t) => {
    const target = path.join(sshd.files, 'a.zip');
    let began = 0;
    const grown = await growthOf(async () => {
      began = performance.now();
      const answer = await gateway.api.open('/api/download/c1?path=archived&format=zip');
      await pipeline(answer, createWriteStream(target));
    }, MAX_GROWTH);
    const seconds = (performance.now() - began) / 1_000;
    const mib = (ARCHIVE_FILES * ARCHIVE_FILE_BYTES) / MIB;
    t.diagnostic(`${Math.round(grown / MIB)} MiB more memory, ${Math.round(mib / seconds)} MiB/s`);
    assert.ok(grown < MAX_GROWTH, `${grown} bytes`);
    const read = await readByPython(target);
    assert.equal(read.length, ARCHIVE_FILES + 1);
    assert.ok(read.slice(1).every(([, size]) => size === ARCHIVE_FILE_BYTES));
    await run('unzip', ['-qq', '-t', target]);
    await rm(target);
  });
});
