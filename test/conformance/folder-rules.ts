/**
 * Whole folders: deleted with everything below them and nothing beside them, and the times that files are written with.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import PQueue from 'p-queue';
import type { ApiAnswer } from '../support/gateway.js';
import type { Bench } from './append-rules.js';
import { assertRecent } from '../support/recent.js';

const MTIME = '2024-02-29T13:34:56+01:00';
const SAME = '2024-02-29T12:34:56.000Z';
const MANY = 700;

export function folderRules(bench: () => Bench): void {
  const post = (route: string, body: object): Promise<ApiAnswer> => bench().gateway.api.post(`/api/${route}`, body);
  const remove = (path: string, more: object = { recursive: true }): Promise<ApiAnswer> =>
    post('delete/c1', { path, ...more });
  const newest = async (type: string): Promise<{ path: string; status: string; errorMessage: string | null }> => {
    const { json } = await bench().gateway.api.get('/api/transfers', { query: { type, limit: '1' } });
    return (json['transfers'] as [{ path: string; status: string; errorMessage: string | null }])[0];
  };

  describe('deleting folders', () => {
    test('a folder is deleted with everything below it, links as links, and nothing beside it', async () => {
      const { server, newFolder, gateway } = bench();
      const { disk } = server;
      const folder = newFolder();
      const tree = `${folder}/tree`;
      const kept = [`${folder}/beside/kept`, `${folder}/tree.txt`, `${folder}/treetop/kept`];
      for (const file of kept) await disk.write(file, 'kept');
      const names = ['plain', '.hidden', '.ftg-test-left.x', 'with blanks', 'ünï', '-la', 'per%41'];
      for (const name of names) await disk.write(`${tree}/${name}`, 'x');
      for (const below of ['a/b/c/d/deep', 'a/b/wide', 'a/a/a', '-la2/f']) await disk.write(`${tree}/${below}`, 'x');
      assert.equal((await post('mkdir/c1', { path: `${tree}/empty/inner` })).status, 200);
      const links = disk.link === undefined ? [] : ['to a file', 'out', 'to nothing', 'up', 'a/up'];
      if (disk.link !== undefined) {
        await disk.link('../tree.txt', `${tree}/to a file`);
        await disk.link('../beside', `${tree}/out`);
        await disk.link('nowhere', `${tree}/to nothing`);
        await disk.link('.', `${tree}/up`);
        await disk.link('..', `${tree}/a/up`);
      }
      assert.equal((await remove(tree, {})).status, 409, 'not unless that is asked for');
      if (server.deviations.hidesLinks !== undefined) {
        // It lists and removes no link at all: the folder with links is kept, and nothing else is deleted.
        assert.equal((await remove(tree)).status, 409);
        assert.deepEqual(
          (await disk.files(folder)).filter((file) => !file.startsWith(`${tree}/`)),
          kept,
        );
        return;
      }
      const answer = await remove(tree);
      assert.equal(answer.status, 200, answer.text);
      // An object store has no folders except the one with a marker.
      const folders = server.connection.type === 's3' ? 1 : 9;
      const expected = { success: true, path: tree, deleted: names.length + 4 + links.length + folders };
      assert.deepEqual(answer.json, expected);
      assert.deepEqual(await disk.files(folder), kept);
      assert.equal((await gateway.api.get('/api/exists/c1', { query: { path: tree } })).json['exists'], false);
      const { path, status } = await newest('delete');
      assert.deepEqual([path, status], [tree, 'success']);
    });

    test(`${MANY} files of one folder, in it and in folders of their own`, async () => {
      const { server, newFolder } = bench();
      const folder = newFolder();
      const files = Array.from({ length: MANY }, (_, index) => `${index % 20 === 0 ? `sub-${index}/` : ''}f-${index}`);
      // All at once, a busy store ends more connections than its client tries again.
      await new PQueue({ concurrency: 8 }).addAll(
        files.map((file) => () => server.disk.write(`${folder}/${file}`, '')),
      );
      const answer = await remove(folder);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.json['deleted'], MANY + (server.connection.type === 's3' ? 0 : MANY / 20 + 1));
      assert.deepEqual(await server.disk.files(folder), []);
    });

    test('a file, a link, a missing path, and the root', async () => {
      const { server, newFolder } = bench();
      const folder = newFolder();
      await server.disk.write(`${folder}/file`, 'x');
      await server.disk.write(`${folder}/target/kept`, 'x');
      const one = await remove(`${folder}/file`);
      assert.deepEqual([one.status, one.json['deleted']], [200, 1], one.text);
      for (const path of [`${folder}/file`, `${folder}/none/below`]) {
        const { status, headers } = await remove(path);
        assert.deepEqual([status, headers['x-error-code']], [404, 'not_found'], path);
      }
      const root = await remove('/');
      assert.deepEqual([root.status, root.headers['x-error-code']], [400, 'bad_path']);
      assert.equal((await remove('/', {})).status, 409);
      if (server.disk.link !== undefined && server.deviations.hidesLinks === undefined) {
        await server.disk.link('target', `${folder}/link`);
        const link = await remove(`${folder}/link`);
        assert.deepEqual([link.status, link.json['deleted']], [200, 1], link.text);
      }
      assert.deepEqual(await server.disk.files(folder), [`${folder}/target/kept`]);
    });

    test('a refusal of the server is reported with its path, and what was deleted before', async () => {
      const { server, newFolder } = bench();
      const { disk } = server;
      if (disk.chmod === undefined) return;
      const folder = newFolder();
      await disk.write(`${folder}/closed/inner/f`, 'x');
      await disk.chmod(`${folder}/closed/inner`, 0o555);
      const answer = await remove(folder);
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.text, /closed\/inner\/f.*0 entries .* deleted before/);
      const { status, errorMessage } = await newest('delete');
      assert.deepEqual([status, errorMessage], ['failed', answer.json['error']]);
      await disk.chmod(`${folder}/closed/inner`, 0o755);
      assert.equal((await remove(folder)).status, 200);
    });
  });

  describe('files with a time', () => {
    /** The time in the answer, on the server, and in later answers to clients. */
    async function dated(answer: ApiAnswer, shown: unknown, file: string, expected = SAME): Promise<void> {
      const { server, gateway } = bench();
      assert.equal(answer.status, 200, answer.text);
      assert.equal(shown, expected, answer.text);
      assert.equal((await server.disk.modifiedAt(file)).toISOString(), expected);
      if (server.connection.type === 's3') return;
      const { json } = await gateway.api.get('/api/exists/c1', { query: { path: file } });
      // If a listing shows minutes, this also does.
      assert.equal((json['file'] as { modifiedAt: string }).modifiedAt.slice(0, 16), expected.slice(0, 16));
    }
    const timeIn = ({ json }: ApiAnswer): unknown => (json['transfer'] as { modifiedAt?: string }).modifiedAt;

    test('every form of an upload, write and copy', async () => {
      const { newFolder, gateway, server } = bench();
      const folder = newFolder();
      const raw = (size: number, filename: string): Promise<ApiAnswer> =>
        gateway.api.send('/api/upload/c1', {
          method: 'POST',
          query: { path: folder, filename, mtime: MTIME },
          headers: { 'Content-Type': 'application/octet-stream' },
          body: Buffer.alloc(size, 'x'),
        });
      for (const size of [10, 100_000, 3 * 1024 * 1024]) {
        const answer = await raw(size, `raw-${size}`);
        await dated(answer, timeIn(answer), `${folder}/raw-${size}`);
      }
      const field = (name: string, value: string): string =>
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
      for (const size of [10, 9 * 1024 * 1024]) {
        const file = `--b\r\nContent-Disposition: form-data; name="file"; filename="own"\r\n\r\n${'x'.repeat(size)}\r\n`;
        for (const [order, body] of Object.entries({
          before: `${field('mtime', MTIME)}${field('filename', `before-${size}`)}${file}`,
          behind: `${file}${field('filename', `behind-${size}`)}${field('mtime', MTIME)}`,
        })) {
          const answer = await gateway.api.send('/api/upload/c1', {
            method: 'POST',
            query: { path: folder },
            headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
            body: `${body}--b--\r\n`,
          });
          await dated(answer, timeIn(answer), `${folder}/${order}-${size}`);
        }
      }
      const json = await post('upload/c1', { path: folder, filename: 'json', content: 'eA==', mtime: MTIME });
      await dated(json, timeIn(json), `${folder}/json`);
      const written = await post('write/c1', { path: `${folder}/written`, content: 'x', mtime: MTIME });
      await dated(written, written.json['modifiedAt'], `${folder}/written`);

      const copy = (from: string, to: string, more: object = {}): Promise<ApiAnswer> =>
        post('copy', {
          source_connection_id: 'c1',
          source_path: `${folder}/${from}`,
          dest_connection_id: 'c1',
          dest_path: `${folder}/${to}`,
          ...more,
        });
      for (const size of [10, 100_000]) {
        const kept = await copy(`raw-${size}`, `kept-${size}`);
        assert.equal('modifiedAt' in kept.json, false, 'nothing of 1.0 has changed');
        await dated(kept, SAME, `${folder}/kept-${size}`);
        const other = '2025-06-07T08:09:10.000Z';
        const given = await copy(`raw-${size}`, `given-${size}`, { mtime: other });
        await dated(given, given.json['modifiedAt'], `${folder}/given-${size}`, other);
      }
      const since = Date.now();
      const { json: plain } = await post('write/c1', { path: `${folder}/written`, content: 'x' });
      assert.deepEqual(Object.keys(plain), ['success', 'path', 'size']);
      // Without a given time it has the time of its writing.
      const writtenAt = await server.disk.modifiedAt(`${folder}/written`);
      if (server.connection.type !== 's3') assertRecent(writtenAt, since);
    });

    test('an invalid time is refused before anything is done', async () => {
      const { newFolder, server } = bench();
      const folder = newFolder();
      const bad = [
        'yesterday',
        '2024-02-30T00:00:00Z',
        '2024-02-28T00:00:00',
        '1970-01-01T00:00:00Z',
        '2106-02-07T06:28:16Z',
      ];
      for (const mtime of bad) {
        const answer = await post('write/c1', { path: `${folder}/f`, content: 'x', mtime });
        assert.deepEqual([answer.status, /mtime/.test(answer.text)], [400, true], answer.text);
      }
      assert.deepEqual(await server.disk.files(folder), []);
    });
  });
}
