/** Deliberate failures, as a client of the gateway sees them; the page must have the same rows. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { buffer } from 'node:stream/consumers';
import { failureNamed, FAILURES } from '../../src/sandbox/failures.js';
import { ROOT } from '../docs/snippets.js';
import { type ApiAnswer, KEY, startGateway, type TestGateway } from '../support/gateway.js';

const PAGE = 'docs/integrate/sandbox.md';
const MIB = 1024 * 1024;

/** The cells of the page, and what the API does. */
interface Row {
  readonly place: string;
  readonly upload: string;
  readonly download: string;
  readonly list: string;
  /** For the upload; for the download if it is not all of the file. */
  readonly bytes?: number;
  readonly range?: string;
}

const denied = '403 `permission_denied`';
const otherKey = '502 `host_key_mismatch`';
const ROWS: readonly Row[] = [
  {
    place: '/fail/cut-at-1MB',
    upload: '502 `connection_lost`',
    download: '200, then cut',
    list: '200',
    bytes: 1.5 * MIB,
  },
  { place: '/fail/disk-full', upload: '502 `no_space`', download: '200', list: '200' },
  { place: '/fail/grow-for-30s', upload: '502 `size_mismatch`', download: '200', list: '200' },
  { place: '/fail/new-host-key', upload: otherKey, download: otherKey, list: otherKey },
  { place: '/fail/permission', upload: denied, download: denied, list: denied },
  { place: '/fail/slow-50KBs', upload: '200', download: '200', list: '200', bytes: 20_000, range: 'bytes=0-19999' },
  { place: '/fail/stall', upload: '504 `stall_timeout`', download: '504 `stall_timeout`', list: '200' },
];

describe('deliberate failures', () => {
  let dataDir: string;
  let gateway: TestGateway;
  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'ftg-failures-'));
    chmodSync(dataDir, 0o755);
    gateway = await startGateway({
      dataDir: join(dataDir, 'data'),
      apiKeys: [{ name: 'test', key: KEY }],
      config: { sandbox: true, pools: { default: { stallTimeoutMs: 6_000 } } },
    });
  });
  after(async () => {
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const upload = (place: string, filename: string, bytes: number): Promise<ApiAnswer> =>
    gateway.api.send('/api/upload/sandbox', {
      method: 'POST',
      query: { path: place, filename },
      headers: { 'Content-Type': 'application/octet-stream' },
      body: Buffer.alloc(bytes, 'x'),
    });
  const outcome = ({ status, headers }: ApiAnswer): string => {
    const code = headers['x-error-code'];
    return typeof code === 'string' ? `${status} \`${code}\`` : String(status === 206 ? 200 : status);
  };

  for (const { place: path, bytes = 100_000, range, ...expected } of ROWS) {
    test(`${path}: an upload, a download and a list`, async () => {
      const sending = (): Promise<ApiAnswer> => upload(path, 'report.bin', bytes);
      const download = async (): Promise<string> => {
        const response = await gateway.api.open('/api/download/sandbox', {
          query: { path },
          headers: range === undefined ? {} : { Range: range },
        });
        const got = await buffer(response).then(
          () => '',
          () => ', then cut',
        );
        const status = { status: response.statusCode ?? 0, headers: response.headers } as ApiAnswer;
        return outcome(status) + got;
      };
      const listing = (): Promise<ApiAnswer> => gateway.api.get('/api/list/sandbox', { query: { path } });
      // Only one login gets the other key: the login that had a session before.
      const inTurn = async <T>(ask: () => Promise<T>): Promise<T> => {
        assert.equal(outcome(await gateway.api.get('/api/list/sandbox')), '200');
        return ask();
      };
      const [up, down, list] =
        path === '/fail/new-host-key'
          ? [await inTurn(sending), await inTurn(download), await inTurn(listing)]
          : await Promise.all([sending(), download(), listing()]);
      assert.deepEqual({ upload: outcome(up), download: down, list: outcome(list) }, expected, up.text);
    });
  }

  test('the page has these rows, and no others', () => {
    const rows = readFileSync(`${ROOT}${PAGE}`, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `/fail/'))
      .map((line) => line.split('|').slice(1, -1))
      .map(([place = '', , up, down, list]) => [place.replaceAll('`', ''), up, down, list].map((cell) => cell?.trim()));
    const expected = ROWS.map(({ place, upload: up, download, list }) => [place, up, download, list]);
    assert.deepEqual(rows, expected);
  });

  test('the table of the code, the folder /fail and its README have the same names', async () => {
    const names = ROWS.map(({ place }) => place.slice(6));
    assert.deepEqual(
      FAILURES.map(({ name }) => name),
      names,
    );
    const listed = (await gateway.api.get('/api/list/sandbox', { query: { path: '/fail' } })).json;
    const found = (listed['files'] as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(found.sort(), ['README.txt', ...names].sort());
    const text = (await gateway.api.get('/api/read/sandbox', { query: { path: '/fail/README.txt' } })).json['content'];
    for (const { name, code = '' } of FAILURES) assert.match(String(text), new RegExp(`^${name} .*${code}`, 'm'));
  });

  test('the other ways to the same failures', async () => {
    const post = (operation: string, body: object): Promise<ApiAnswer> =>
      gateway.api.post(`/api/${operation}/sandbox`, body);
    const read = (path: string): Promise<ApiAnswer> => gateway.api.get('/api/read/sandbox', { query: { path } });
    assert.equal(outcome(await read('/fail/cut-at-1MB/file.bin')), '502 `connection_lost`');
    assert.equal(outcome(await read('/fail/permission/file.bin')), denied);
    assert.equal(outcome(await post('mkdir', { path: '/fail/disk-full/new' })), '502 `no_space`');
    assert.equal(outcome(await post('write', { path: '/fail/disk-full/a.txt', content: 'a' })), '502 `no_space`');
    assert.equal(outcome(await post('delete', { path: '/fail/permission/file.bin' })), denied);
    assert.equal(outcome(await post('delete', { path: '/fail/README.txt' })), denied);
    assert.equal(outcome(await read('/fail/cut-at-5000MB')), '404 `not_found`');
    const copied = await gateway.api.post('/api/copy', {
      source_connection_id: 'sandbox',
      source_path: '/fail/cut-at-1MB/file.bin',
      dest_connection_id: 'sandbox',
      dest_path: '/copied.bin',
    });
    assert.equal(outcome(copied), '502 `connection_lost`');
    const moved = await post('move', { from: '/fail/disk-full/file.bin', to: '/taken.bin' });
    assert.equal(outcome(moved), '502 `remote_failure`');
  });

  test('a file grows for its time, and then starts again', async () => {
    const size = async (): Promise<number> => {
      const { json } = await gateway.api.get('/api/exists/sandbox', { query: { path: '/fail/grow-for-1s/file.bin' } });
      return (json['file'] as { size: number }).size;
    };
    const sizes = [await size()];
    for (let last = sizes[0]!; last < 20 * 1024; last = await size()) sizes.push(last);
    assert.ok((sizes[0] ?? 0) < 20 * 1024, String(sizes[0]));
    assert.equal(await size(), 20 * 1024, 'as large as it gets');
  });

  test('none of it disturbs others, or is left behind', async () => {
    const stalled = upload('/fail/stall', 'a.bin', 100_000);
    const cut = Array.from({ length: 4 }, (_, index) => upload('/fail/cut-at-256KB', `${index}.bin`, MIB));
    const plain = await Promise.all(Array.from({ length: 8 }, (_, index) => upload('/plain', `${index}.bin`, MIB)));
    assert.deepEqual(plain.map(outcome), Array(8).fill('200'));
    assert.deepEqual((await Promise.all(cut)).map(outcome), Array(4).fill('502 `connection_lost`'));
    assert.equal(outcome(await stalled), '504 `stall_timeout`');
    const back = await gateway.api.get('/api/download/sandbox', { query: { path: '/plain/7.bin' } });
    assert.equal(back.bytes.length, MIB);
    for (const { place } of ROWS.filter(({ list }) => list === '200')) {
      const { json } = await gateway.api.get('/api/list/sandbox', { query: { path: place } });
      assert.deepEqual(
        (json['files'] as { name: string }[]).map(({ name }) => name),
        ['file.bin'],
        place,
      );
    }
    const root = (await gateway.api.get('/api/list/sandbox')).json;
    assert.deepEqual(
      (root['files'] as { name: string }[]).map(({ name }) => name),
      ['plain'],
      'who walks the tree does not meet them',
    );
    assert.deepEqual(readdirSync(join(dataDir, 'data/sandbox')), ['plain']);
    assert.equal(readdirSync(join(dataDir, 'data/sandbox/plain')).length, 8, 'no hidden file');
  });
});

test('amounts have bounds, and other names do not exist', () => {
  for (const name of ['cut-at-256KB', 'cut-at-100MB', 'slow-10KBs', 'slow-10000KBs', 'grow-for-1s', 'grow-for-300s'])
    assert.notEqual(failureNamed(name), undefined, name);
  const others = ['cut-at-255KB', 'cut-at-101MB', 'cut-at-1GB', 'slow-9KBs', 'slow-10001KBs', 'grow-for-0s'];
  for (const name of [...others, 'grow-for-301s', 'disk-full2', '', 'stall.txt', 'toString'])
    assert.equal(failureNamed(name), undefined, name);
});
