/** Links on every server: what a person without a key can do with one, and that nothing else results from it. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import type { ApiAnswer, ApiRequest } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import type { Bench } from './append-rules.js';

const KIB = 1024;
const digestOf = (bytes: Buffer): string => `sha-256:${createHash('sha256').update(bytes).digest('hex')}`;

interface Made {
  readonly id: string;
  /** Path of its url. */
  readonly at: string;
}

export function linkRules(bench: () => Bench): void {
  describe('links', () => {
    const make = async (link: object): Promise<Made> => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const answer = await bench().gateway.api.post('/api/links', { connectionId: 'c1', expiresAt, ...link });
      assert.equal(answer.status, 201, answer.text);
      const { id, url } = answer.json['link'] as { id: string; url: string };
      return { id, at: new URL(url).pathname };
    };
    const use = (at: string, request: Omit<ApiRequest, 'key'> = {}): Promise<ApiAnswer> =>
      bench().gateway.api.send(at, { ...request, key: '' });
    const put = (at: string, filename: string, body: Buffer | Readable): Promise<ApiAnswer> =>
      use(at, { method: 'PUT', query: { filename }, body });
    const usesOf = async (id: string): Promise<unknown> =>
      ((await bench().gateway.api.get(`/api/links/${id}`)).json['link'] as Record<string, unknown>)['uses'];

    test('files are stored in the folder of an upload link, short and long, of known and of unknown length', async () => {
      const { server, gateway, newFolder } = bench();
      const folder = newFolder();
      const { id, at } = await make({ operation: 'upload', path: folder });
      const long = randomBytes(700 * KIB);
      const files = { 'a b.txt': Buffer.from('short'), 'ünï.bin': long, empty: Buffer.alloc(0) };
      for (const [name, bytes] of Object.entries(files)) {
        const answer = await put(at, name, bytes);
        assert.deepEqual([answer.status, answer.json], [201, { success: true, filename: name, size: bytes.length }]);
      }
      assert.equal((await put(at, 'chunked', Readable.from([long]))).status, 201);
      const stood = [...Object.keys(files), 'chunked'].map((name) => `${folder}/${name}`).sort();
      assert.deepEqual(await server.disk.files(folder), stood);
      for (const [name, bytes] of Object.entries({ ...files, chunked: long })) {
        assert.ok((await server.disk.read(`${folder}/${name}`)).equals(bytes), name);
      }
      assert.equal(await usesOf(id), 4);
      const { json } = await gateway.api.get('/api/transfers', { query: { link_id: id } });
      const items = json['transfers'] as { path: string; type: string; status: string }[];
      assert.deepEqual([...new Set(items.map(({ type, status }) => `${type} ${status}`))], ['upload success']);
      assert.deepEqual(items.map(({ path }) => path).sort(), stood);
    });

    test('nothing is replaced, nothing is left of files that were too large, cut or different, and none of it counts', async () => {
      const { server, gateway, newFolder } = bench();
      const folder = newFolder();
      await server.disk.write(`${folder}/taken`, 'mine');
      const right = randomBytes(300 * KIB);
      const limits = { maxBytes: 400 * KIB, maxUses: 1, digest: digestOf(right) };
      const { id, at } = await make({ operation: 'upload', path: folder, ...limits });
      for (const [what, answer, code] of [
        ['taken', await put(at, 'taken', right), 'already_exists'],
        ['announced too large', await put(at, 'large', Buffer.alloc(401 * KIB)), 'too_large'],
        ['found to be too large', await put(at, 'large', Readable.from(pieces(500))), 'too_large'],
        ['another file', await put(at, 'other', Buffer.alloc(300 * KIB)), 'digest_mismatch'],
        ['another short file', await put(at, 'other', Buffer.from('other')), 'digest_mismatch'],
      ] as const) {
        assert.equal(answer.headers['x-error-code'], code, `${what}: ${answer.text}`);
        assert.doesNotMatch(answer.text, new RegExp(folder), 'the folder is not disclosed');
      }
      await gateway.api.leave(at, {
        method: 'PUT',
        query: { filename: 'cut' },
        key: '',
        body: right.subarray(0, 200 * KIB),
        headers: { 'Content-Length': String(right.length) },
      });
      await eventually(async () => (await server.disk.files(folder)).length === 1, 'nothing is left');
      assert.equal((await server.disk.read(`${folder}/taken`)).toString(), 'mine');
      assert.equal(await usesOf(id), 0);
      await eventually(async () => (await put(at, 'right', right)).status === 201, 'the cut one is given back');
      assert.deepEqual(await server.disk.files(folder), [`${folder}/right`, `${folder}/taken`]);
      const again = await put(at, 'again', right);
      assert.deepEqual([again.status, again.headers['x-error-code']], [410, 'gone']);
    });

    test('a download link returns its file, whole and in parts, and with a digest only that file', async () => {
      const { server, newFolder } = bench();
      const file = `${newFolder()}/"the" <file>.bin`;
      const bytes = randomBytes(600 * KIB);
      await server.disk.write(file, bytes);
      const { at } = await make({ operation: 'download', path: file });
      const head = await use(at, { method: 'HEAD' });
      assert.deepEqual([head.status, head.headers['content-length']], [200, String(bytes.length)]);
      const whole = await use(at);
      assert.ok(whole.bytes.equals(bytes));
      assert.match(whole.headers['content-disposition'] ?? '', /^attachment; filename=/);
      assert.equal(whole.headers['x-content-type-options'], 'nosniff');
      const part = await use(at, { headers: { Range: 'bytes=1000-1999' } });
      assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes 1000-1999/${bytes.length}`]);
      assert.ok(part.bytes.equals(bytes.subarray(1000, 2000)));
      const page = await use(at, { headers: { Accept: 'text/html,*/*;q=0.8' } });
      assert.match(page.text, /&quot;the&quot; &lt;file&gt;\.bin/);

      const sealed = await make({ operation: 'download', path: file, digest: digestOf(bytes) });
      const ranged = await use(sealed.at, { headers: { Range: 'bytes=0-9' } });
      assert.deepEqual([ranged.status, ranged.headers['accept-ranges']], [200, 'none']);
      assert.ok(ranged.bytes.equals(bytes));
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      await server.disk.write(file, bytes);
      await assert.rejects(use(sealed.at), 'a long file breaks off before its end');
      await server.disk.write(file, 'short');
      const changed = await use(sealed.at);
      assert.deepEqual([changed.status, changed.headers['x-error-code']], [410, 'gone']);
    });

    test('a link without a digest is for the file at its path', async () => {
      const { server, newFolder } = bench();
      const folder = newFolder();
      const { id, at } = await make({ operation: 'upload', path: `${folder}/order.csv` });
      const sent = await use(at, { method: 'PUT', body: Buffer.from('1;20') });
      assert.deepEqual([sent.status, sent.json], [201, { success: true, filename: 'order.csv', size: 4 }]);
      assert.equal((await server.disk.read(`${folder}/order.csv`)).toString(), '1;20');
      const { at: ofFolder } = await make({ operation: 'upload', path: folder });
      const refused = await use(ofFolder, { method: 'PUT', body: Buffer.from('x') });
      assert.deepEqual([refused.status, refused.headers['x-error-code']], [409, 'is_a_folder']);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/order.csv`]);
      assert.equal(await usesOf(id), 1);
    });

    test('no file replaces the folder of a link for a folder, and no part of a file is stored', async () => {
      const { server, newFolder } = bench();
      const folder = `${newFolder()}/drop`;
      const { id, at } = await make({ operation: 'upload', path: `${folder}/` });
      const unnamed = await use(at, { method: 'PUT', body: Buffer.from('x') });
      assert.deepEqual([unnamed.status, unnamed.headers['x-error-code']], [400, 'bad_request']);
      const headers = { 'Content-Range': 'bytes 3-5/6' };
      const part = await use(at, { method: 'PUT', query: { filename: 'part' }, headers, body: Buffer.from('def') });
      assert.deepEqual([part.status, part.headers['x-error-code']], [400, 'bad_request']);
      assert.equal((await put(at, 'whole', Buffer.from('abcdef'))).status, 201);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/whole`]);
      assert.equal(await usesOf(id), 1);
    });

    test('if two bring a new name at once, one is stored', async () => {
      const { server, newFolder } = bench();
      const folder = newFolder();
      const { id, at } = await make({ operation: 'upload', path: folder, filename: 'one.bin' });
      const bodies = [0, 1, 2].map((seed) => Buffer.alloc(200 * KIB, seed));
      const answers = await Promise.all(bodies.map((body, index) => put(at, `mine-${index}`, body)));
      const stored = answers.findIndex(({ status }) => status === 201);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/one.bin`]);
      assert.ok((await server.disk.read(`${folder}/one.bin`)).equals(bodies[stored]!));
      assert.equal(await usesOf(id), 1);
    });
  });
}

function* pieces(count: number): Generator<Buffer> {
  for (let piece = 0; piece < count; piece++) yield Buffer.alloc(KIB);
}
