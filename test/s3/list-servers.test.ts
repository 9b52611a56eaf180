/** The keys of real servers: in the order of their bytes, from any prefix, with their empty folders, page after page. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { UNCOUNTED } from '../../src/budgets/memory.js';
import type { Operation } from '../../src/operations/operation.js';
import { listKeys, type KeyEntry, type KeysOptions, type KeysPage } from '../../src/operations/tree/list-keys.js';
import { parseRemotePath, ROOT } from '../../src/remotes/path.js';
import type { Remote } from '../../src/remotes/remote.js';
import { OPENSSH, S3_SERVERS, type ServerEntry, type TestServer, VSFTPD } from '../servers/catalogue.js';
import { connectionOf, openSeam, type Seam } from '../support/seam.js';

const FILES = ['a b/x', 'a/b/c/d', 'a/b/e', 'a/é', 'a-b', 'a.b', 'a0', 'B/-', '\uffee', '😀', 'n/re', 'n/read', 'n/rx'];
const EMPTY = ['a/empty/', 'e/', 'n/re-/'];
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const shown = (entry: KeyEntry): string => ('prefix' in entry ? `(${entry.prefix})` : entry.key);

function rulesOf(entry: ServerEntry): void {
  describe(entry.name, () => {
    let server: TestServer;
    let seam: Seam;
    let above: string;

    before(async () => {
      server = await entry.start();
      seam = openSeam(connectionOf(server.connection));
      above = `${server.base ?? ''}/keys/`.slice(1);
      for (const file of FILES) await server.disk.write(`/${above}${file}`, file);
      for (const folder of EMPTY) {
        const path = parseRemotePath(`/${above}${folder}`, ROOT, 'path');
        await seam.use((remote) => remote.makeFolder(path, { isLasting: true }));
      }
    });
    after(async () => {
      seam?.close();
      await server?.stop();
    });

    function pageFrom(options: Partial<KeysOptions>): Promise<KeysPage> {
      const operation = {
        signal: new AbortController().signal,
        use: (work: (remote: Remote) => Promise<KeysPage>) => seam.use(work),
        locate: () => undefined,
        mark: () => undefined,
      } as unknown as Operation;
      return listKeys(operation, UNCOUNTED, { prefix: above, delimiter: '', after: '', limit: 1000, ...options });
    }

    async function keysFrom(below: string, options: Partial<KeysOptions> = {}): Promise<string[]> {
      const all: string[] = [];
      for (let from: string | undefined = ''; from !== undefined;) {
        const page = await pageFrom({ prefix: above + below, ...options, after: from });
        assert.equal(page.incomplete, 0);
        all.push(...page.entries.map(shown));
        from = page.next;
      }
      return all.map((key) => key.replace(above, ''));
    }

    const keys = [...FILES, ...EMPTY].sort(byBytes);

    test('pages of any size have all of its keys in order', async () => {
      for (const limit of [3, 7, 1000]) assert.deepEqual(await keysFrom('', { limit }), keys);
      const { entries } = await pageFrom({ prefix: `${above}a/é` });
      assert.ok(entries[0] !== undefined && 'info' in entries[0]);
      assert.equal(entries[0].info.size, Buffer.byteLength('a/é'));
    });

    test('with a delimiter, folders are common prefixes among the files', async () => {
      const level = ['(B/)', '(a b/)', 'a-b', 'a.b', '(a/)', 'a0', '(e/)', '(n/)', '\uffee', '😀'];
      for (const limit of [1, 4, 1000]) assert.deepEqual(await keysFrom('', { delimiter: '/', limit }), level);
      for (const limit of [1, 1000]) {
        assert.deepEqual(await keysFrom('n/re', { delimiter: '/', limit }), ['n/re', '(n/re-/)', 'n/read']);
      }
    });

    test('a prefix may end inside a name, and names an empty folder', async () => {
      for (const prefix of ['a', 'a/', 'a/b', 'n/re', 'n/re-', '😀', '\uffee', 'e/', 'x']) {
        assert.deepEqual(
          await keysFrom(prefix),
          keys.filter((key) => key.startsWith(prefix)),
          prefix,
        );
      }
      for (const delimiter of ['', '/'] as const) assert.deepEqual(await keysFrom('e/', { delimiter }), ['e/']);
    });

    test('a prefix whose folder is missing, a file, or no path lists nothing', async () => {
      for (const below of ['x/', 'x/y/z', 'a0/', 'a//', 'a/../', `${'n'.repeat(300)}/`]) {
        for (const delimiter of ['', '/'] as const) assert.deepEqual(await keysFrom(below, { delimiter }), [], below);
      }
    });
  });
}

[...OPENSSH.slice(0, 1), ...VSFTPD.slice(0, 1), ...S3_SERVERS.slice(0, 1)].forEach(rulesOf);
