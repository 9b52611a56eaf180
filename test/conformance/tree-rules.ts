/** Whole trees in one request: listed, page by page, as lines, and as one archive that other programs unpack. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { ApiAnswer } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import type { Bench } from './append-rules.js';

const run = promisify(execFile);
const LINES = { Accept: 'application/x-ndjson' };
const FILES = ['a b/x.csv', 'a/b/c/d.csv', 'a/é.txt', 'a.b', 'a0.csv', 'B/-.csv', '.h/x.csv'];
const FOLDERS = ['.h', 'B', 'a', 'a b', 'a/b', 'a/b/c'];

interface Listed {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly size: number;
  readonly modifiedAt: string;
}

type Query = Readonly<Record<string, string | undefined>>;

/** The sort key of a tree's listing. */
const keyOf = ({ path, isDirectory }: Listed): Buffer => Buffer.from(isDirectory ? `${path}/` : path);

/** The list of a zip as Python's zipfile reads it, after it has read all its bytes. */
const PYTHON = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([[i.filename, i.file_size, i.compress_type, i.flag_bits] for i in archive.infolist()]))
`;

export async function readByPython(
  file: string,
): Promise<[name: string, size: number, method: number, flags: number][]> {
  const { stdout } = await run('python3', ['-c', PYTHON, file], { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as [string, number, number, number][];
}

export function treeRules(bench: () => Bench): void {
  describe('whole trees', () => {
    const list = (path: string, query: Query = {}, headers = {}): Promise<ApiAnswer> =>
      bench().gateway.api.get('/api/list/c1', { query: { path, ...query }, headers });
    const filesOf = (answer: ApiAnswer): Listed[] => {
      assert.equal(answer.status, 200, answer.text);
      return answer.json['files'] as Listed[];
    };
    const zip = (paths: readonly string[], headers = {}, method = 'GET'): Promise<ApiAnswer> => {
      const query = new URLSearchParams({ format: 'zip' });
      for (const path of paths) query.append('path', path);
      return bench().gateway.api.send(`/api/download/c1?${query.toString()}`, { method, headers });
    };
    const newest = async (type: string): Promise<Record<string, unknown>> => {
      const { json } = await bench().gateway.api.get('/api/transfers', { query: { type, limit: '1' } });
      return (json['transfers'] as Record<string, unknown>[])[0] ?? {};
    };

    async function plant(): Promise<string> {
      const { server, newFolder } = bench();
      const folder = newFolder();
      for (const file of FILES) await server.disk.write(`${folder}/${file}`, `content of ${file}`);
      return folder;
    }

    /** Page after page. */
    async function paged(folder: string, query: Query & { readonly limit: string }): Promise<Listed[]> {
      const all: Listed[] = [];
      let cursor: string | null = null;
      do {
        const answer = await list(folder, { ...query, ...(cursor === null ? {} : { cursor }) });
        const files = filesOf(answer);
        assert.ok(files.length <= Number(query.limit));
        all.push(...files);
        cursor = answer.json['nextCursor'] as string | null;
        assert.ok(cursor === null || files.length > 0);
      } while (cursor !== null);
      return all;
    }

    test('a tree is listed completely, sorted by path; with a pattern only matches', async () => {
      const folder = await plant();
      const answer = await list(folder, { recursive: 'true' });
      const files = filesOf(answer);
      assert.deepEqual(Object.keys(answer.json), ['success', 'path', 'files']);
      const expected = [...FILES, ...FOLDERS].map((below) => `${folder}/${below}`);
      assert.deepEqual(files.map((file) => file.path).sort(), expected.sort());
      assert.deepEqual(
        files,
        files.toSorted((a, b) => Buffer.compare(keyOf(a), keyOf(b))),
      );
      for (const file of files) assert.equal(file.isDirectory, FOLDERS.includes(file.path.slice(folder.length + 1)));

      const matches = async (pattern: string, recursive: string): Promise<string[]> =>
        filesOf(await list(folder, { pattern, recursive })).map((file) => file.path.slice(folder.length + 1));
      assert.deepEqual(await matches('*.csv', 'true'), ['a0.csv']);
      assert.deepEqual(await matches('**/*.csv', 'true'), [
        '.h/x.csv',
        'B/-.csv',
        'a b/x.csv',
        'a/b/c/d.csv',
        'a0.csv',
      ]);
      assert.deepEqual(await matches('a/**', 'true'), ['a/b', 'a/b/c', 'a/b/c/d.csv', 'a/é.txt']);
      assert.deepEqual(await matches('a*', 'false'), ['a', 'a b', 'a.b', 'a0.csv']);
      assert.deepEqual(await matches('nothing', 'true'), []);
    });

    test('pages of a tree, and of a folder, together equal one answer', async () => {
      const folder = await plant();
      for (const query of [{ recursive: 'true' }, {}, { recursive: 'true', pattern: '**/*.csv' }, { pattern: 'a*' }]) {
        const whole = filesOf(await list(folder, query));
        for (const limit of ['1', '2', '5', '10000']) {
          assert.deepEqual(await paged(folder, { ...query, limit }), whole, JSON.stringify({ query, limit }));
        }
      }
    });

    test('lines: each entry once, the same as in JSON', async () => {
      const folder = await plant();
      for (const query of [{ recursive: 'true' }, {}, { recursive: 'true', pattern: '**/*.csv' }]) {
        const whole = filesOf(await list(folder, query));
        const answer = await list(folder, query, LINES);
        assert.equal(answer.headers['content-type'], LINES.Accept);
        const lines = answer.text.split('\n');
        assert.equal(lines.pop(), '');
        const reported = lines.map((line) => JSON.parse(line) as Listed);
        assert.deepEqual(
          reported.sort((a, b) => Buffer.compare(keyOf(a), keyOf(b))),
          whole.toSorted((a, b) => Buffer.compare(keyOf(a), keyOf(b))),
        );
      }
      const absent = await list(`${folder}/absent`, { recursive: 'true' }, LINES);
      assert.deepEqual([absent.status, absent.headers['x-error-code']], [404, 'not_found']);
      const empty = await bench().gateway.api.post('/api/mkdir/c1', { path: `${folder}/empty` });
      assert.equal(empty.status, 200, empty.text);
      const nothing = await list(`${folder}/empty`, {}, LINES);
      assert.deepEqual([nothing.status, nothing.text], [200, '']);
      await eventually(async () => (await newest('list'))['status'] === 'success', 'the listing is in the history');
    });

    test('a zip of a folder unpacks to that folder, by unzip and by Python', async () => {
      const { server, gateway } = bench();
      const folder = await plant();
      const large = randomBytes(700_000);
      await server.disk.write(`${folder}/large.bin`, large);
      await server.disk.write(`${folder}/none`, '');
      assert.equal((await gateway.api.post('/api/mkdir/c1', { path: `${folder}/empty` })).status, 200);
      const name = path.basename(folder);
      const answer = await zip([folder]);
      assert.equal(answer.status, 200, answer.text);
      const { headers } = answer;
      assert.equal(headers['content-type'], 'application/zip');
      assert.equal(headers['content-disposition'], `attachment; filename="${name}.zip"`);
      assert.deepEqual(
        [headers['content-length'], headers['accept-ranges'], headers['etag']],
        [undefined, undefined, undefined],
      );

      const place = await mkdtemp(path.join(tmpdir(), 'ftg-zip-'));
      try {
        const file = path.join(place, 'a.zip');
        await writeFile(file, answer.bytes);
        const entries = await readByPython(file);
        const expected = [...FILES, 'large.bin', 'none', ...[...FOLDERS, 'empty'].map((at) => `${at}/`), ''];
        assert.deepEqual(entries.map(([entry]) => entry).sort(), expected.map((at) => `${name}/${at}`).sort());
        for (const [, , method, flags] of entries) assert.deepEqual([method, flags], [0, (1 << 3) | (1 << 11)]);

        await run('unzip', ['-q', '-t', file]);
        await run('unzip', ['-q', file, '-d', place], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
        assert.deepEqual((await readdir(place)).sort(), [name, 'a.zip'].sort());
        for (const at of FILES) {
          assert.equal((await readFile(path.join(place, name, at))).toString(), `content of ${at}`);
        }
        assert.ok((await readFile(path.join(place, name, 'large.bin'))).equals(large));
        assert.deepEqual(await readdir(path.join(place, name, 'empty')), []);
        const [listed] = filesOf(await list(folder, { pattern: 'large.bin' }));
        const unpacked = await stat(path.join(place, name, 'large.bin'));
        assert.equal(unpacked.mtimeMs, Math.floor(Date.parse(listed?.modifiedAt ?? '') / 1_000) * 1_000);
      } finally {
        await rm(place, { recursive: true });
      }
      const item = await newest('download');
      assert.deepEqual(
        [item['status'], item['path'], item['filename'], item['fileSize']],
        ['success', folder, `${name}.zip`, answer.bytes.length],
      );
    });

    test('several paths are side by side in a zip, also those with one name', async () => {
      const { server, newFolder } = bench();
      const folder = newFolder();
      for (const at of ['x/same/f', 'y/same/g', 'z/one.txt', 'one.txt']) await server.disk.write(`${folder}/${at}`, at);
      const paths = ['x/same', 'y/same', 'one.txt', 'z/one.txt', 'x/same/'].map((at) => `${folder}/${at}`);
      const answer = await zip(paths);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers['content-disposition'], 'attachment; filename="c1.zip"');
      const place = await mkdtemp(path.join(tmpdir(), 'ftg-zip-'));
      try {
        const file = path.join(place, 'a.zip');
        await writeFile(file, answer.bytes);
        const names = (await readByPython(file)).map(([entry]) => entry);
        assert.deepEqual(names, ['same/', 'same/f', 'same (2)/', 'same (2)/g', 'one.txt', 'one (2).txt']);
      } finally {
        await rm(place, { recursive: true });
      }
      const absent = await zip([`${folder}/x`, `${folder}/absent`]);
      assert.deepEqual([absent.status, absent.headers['x-error-code']], [404, 'not_found']);
    });

    test('options without a meaning for a zip are refused', async () => {
      const { gateway, newFolder } = bench();
      const folder = newFolder();
      for (const header of ['Range', 'If-Range', 'If-None-Match', 'If-Modified-Since']) {
        const answer = await zip([folder], { [header]: header === 'Range' ? 'bytes=0-9' : '"x"' });
        assert.equal(answer.status, 400, header);
        assert.match(answer.text, new RegExp(`${header.toLowerCase()} is not for format=zip`));
      }
      assert.equal((await zip([folder], {}, 'HEAD')).status, 400);
      const twice = await gateway.api.get(`/api/download/c1?path=${folder}/a&path=${folder}/b`);
      assert.deepEqual([twice.status, twice.json['error']], [400, 'the query parameter path appears twice']);
    });
  });
}
