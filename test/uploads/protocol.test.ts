/** Every MUST of tus 1.0.0 for a server, sentence by sentence, and what its clients may not do here. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { type ApiAnswer, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { metadata, PIECE, reprDigest, Tus, VERSION, WANTED } from './support.js';
import { assertRecent } from '../support/recent.js';

const OTHER_KEY = 'ftg_other-key-0123456789-abcdefgh';
const READER = 'ftg_reader-key-0123456789-abcdefg';
const ELSEWHERE = 'ftg_elsewhere-key-0123456789-abcd';
const ADMIN = 'ftg_admin-key-0123456789-abcdefgh';
const FOREIGN = 'ftg_foreign-key-0123456789-abcdef';
const MAX_BYTES = 1_000_000;
const UNFINISHED = 5;
const UNKNOWN = '/api/uploads/c1/0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001';

describe('tus 1.0.0', () => {
  let sshd: TestSshd;
  let gateway: TestGateway;
  let tus: Tus;
  let count = 0;

  before(async () => {
    sshd = await startSshd();
    const { username, clientKeyFile: privateKeyFile, files: rootPath } = sshd;
    const ssh = { type: 'sftp', host: '127.0.0.1', port: sshd.port, username, privateKeyFile, rootPath };
    gateway = await startGateway({
      config: {
        limits: { uploadBytes: MAX_BYTES },
        uploads: { unfinishedPerAccount: UNFINISHED },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [
              { name: 'test', key: KEY },
              { name: 'other', key: OTHER_KEY },
              { name: 'reader', key: READER, scopes: ['read'] },
              { name: 'admin', key: ADMIN, scopes: ['admin'] },
              { name: 'elsewhere', key: ELSEWHERE, connections: ['c2'] },
            ],
            connections: [
              { id: 'c1', name: 'One', ...ssh, defaultPath: '/' },
              { id: 'c2', name: 'Two', ...ssh, defaultPath: '/' },
              { id: 'off', name: 'Off', ...ssh, isActive: false },
              { id: 'digested', name: 'Digested', ...ssh, digests: 'always', defaultPath: '/' },
              { id: 'read-back', name: 'Read back', ...ssh, verify: 'readback', defaultPath: '/' },
              { id: 'in-place', name: 'In place', ...ssh, atomicUploads: false, defaultPath: '/' },
            ],
          },
          {
            email: 'foreign@example.com',
            plan: 'pro',
            apiKeys: [{ name: 'foreign', key: FOREIGN }],
            connections: [{ id: 'c3', name: 'Three', ...ssh, defaultPath: '/' }],
          },
        ],
      },
    });
    tus = new Tus(gateway.api);
  });
  after(async () => {
    await gateway?.stop();
    await sshd?.stop();
  });

  const named = (): { filename: string } => ({ filename: `file-${++count}.bin` });
  const refused = (answer: ApiAnswer, status: number, code: string): void => {
    assert.deepEqual([answer.status, answer.headers['x-error-code']], [status, code], answer.text);
    assert.equal(answer.headers['tus-resumable'], '1.0.0');
  };
  const itemOf = async (answer: ApiAnswer): Promise<Record<string, unknown>> => {
    assert.ok(answer.headers['x-transfer-id'], answer.text);
    const { json } = await gateway.api.get(`/api/transfers/${String(answer.headers['x-transfer-id'])}`);
    return json['transfer'] as Record<string, unknown>;
  };
  const shown = (bytes: Buffer): string => `sha-256:${createHash('sha256').update(bytes).digest('hex')}`;
  /** An upload of this many bytes, terminated when `work` is over. */
  const withUpload = async (length: number, work: (url: string) => Promise<void>): Promise<void> => {
    const url = await tus.begin(named(), length);
    try {
      await work(url);
    } finally {
      await tus.end(url);
    }
  };

  describe('core', () => {
    test('OPTIONS returns versions, extensions, algorithms and the limit, without a key and a version', async () => {
      const { status, headers } = await gateway.client('').send('/api/uploads/c1', { method: 'OPTIONS' });
      assert.equal(status, 204);
      assert.equal(headers['tus-version'], '1.0.0');
      assert.equal(
        headers['tus-extension'],
        'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum',
      );
      assert.equal(headers['tus-checksum-algorithm'], 'sha1,sha256');
      assert.equal(headers['tus-max-size'], String(MAX_BYTES));
    });

    test('Tus-Resumable is in every answer, and another version is 412 with Tus-Version, and not processed', async () => {
      await withUpload(4, async (url) => {
        for (const version of ['0.2.2', '']) {
          const answer = await tus.patch(url, 0, Buffer.from('abcd'), { 'Tus-Resumable': version });
          refused(answer, 412, 'unsupported_version');
          assert.equal(answer.headers['tus-version'], '1.0.0');
        }
        assert.equal(await tus.offset(url), 0);
        const answers = [
          await tus.patch(url, 0, Buffer.from('a')),
          await tus.patch(url, 0, Buffer.from('a')),
          await tus.head(url),
          await tus.create({}, {}),
          await gateway.client('ftg_wrong').send(url, { method: 'HEAD' }),
        ];
        assert.deepEqual(
          answers.map(({ status }) => status),
          [204, 409, 200, 400, 401],
        );
        for (const { headers } of answers) assert.equal(headers['tus-resumable'], '1.0.0');
      });
    });

    test('HEAD returns the offset, the length and the metadata, is not cached, and 404 for an unknown one', async () => {
      const pairs = { ...named(), filetype: 'text/plain', empty: '' };
      const begun = await tus.create(pairs, { 'Upload-Length': '100' });
      const url = String(begun.headers.location);
      const { status, headers } = await tus.head(url);
      assert.equal(status, 200);
      assert.deepEqual([headers['upload-offset'], headers['upload-length']], ['0', '100']);
      assert.equal(headers['upload-metadata'], metadata(pairs));
      assert.equal(headers['upload-defer-length'], undefined);
      assert.equal(headers['cache-control'], 'no-store');
      await tus.end(url);
      const unknown = await tus.head(UNKNOWN);
      assert.deepEqual([unknown.status, unknown.headers['upload-offset']], [404, undefined]);
      refused(await tus.head('/api/uploads/c1/no-uuid'), 404, 'unknown_upload');
    });

    test('PATCH: content type, offset, the sum of both, 409 for another offset, 404 for an unknown one', async () => {
      await withUpload(10, async (url) => {
        refused(
          await tus.patch(url, 0, Buffer.from('a'), { 'Content-Type': 'text/plain' }),
          415,
          'unsupported_media_type',
        );
        for (const offset of ['', '-1', '1.5', 'x', '9'.repeat(30)]) {
          refused(await tus.patch(url, 0, Buffer.from('a'), { 'Upload-Offset': offset }), 400, 'bad_request');
        }
        const first = await tus.patch(url, 0, Buffer.from('abc'));
        assert.deepEqual([first.status, first.headers['upload-offset'], first.text], [204, '3', '']);
        refused(await tus.patch(url, 0, Buffer.from('abc')), 409, 'offset_mismatch');
        refused(await tus.patch(url, 4, Buffer.from('abc')), 409, 'offset_mismatch');
        assert.equal(await tus.offset(url), 3);
        assert.equal((await tus.patch(url, 3, Buffer.alloc(0))).headers['upload-offset'], '3');
        refused(await tus.patch(url, 3, Buffer.from('too many')), 413, 'too_large');
        assert.equal(await tus.offset(url), 3);
      });
      refused(await tus.patch(UNKNOWN, 0, Buffer.from('a')), 404, 'unknown_upload');
    });

    test('bytes without an announced number count as far as they belong to the file', async () => {
      await withUpload(5, async (url) => {
        const body = (async function* () {
          yield Buffer.from('abc');
          yield Buffer.from('defg');
        })();
        refused(await tus.patch(url, 0, Readable.from(body)), 413, 'too_large');
        const reached = await tus.offset(url);
        assert.ok(reached <= 3, `${reached} are stored`);
      });
    });

    test('an upload cannot be read with GET, and a missing one cannot be deleted', async () => {
      await withUpload(5, async (url) => {
        const got = await tus.api.send(url, { headers: VERSION });
        assert.deepEqual([got.status, got.headers['x-error-code']], [405, 'method_not_allowed'], got.text);
        refused(await tus.end(UNKNOWN), 404, 'unknown_upload');
      });
    });

    test('X-HTTP-Method-Override of a POST is the method', async () => {
      await withUpload(6, async (url) => {
        const send = (method: string, body?: Buffer, headers = {}) =>
          tus.api.send(url, {
            method: 'POST',
            headers: { ...VERSION, 'X-HTTP-Method-Override': method, ...headers },
            ...(body === undefined ? {} : { body }),
          });
        const piece = { 'Content-Type': PIECE, 'Upload-Offset': '0' };
        assert.equal((await send('PATCH', Buffer.from('abc'), piece)).headers['upload-offset'], '3');
        const looked = await send('HEAD');
        assert.deepEqual([looked.status, looked.headers['upload-offset']], [200, '3']);
        refused(await send('PUT'), 400, 'bad_request');
        assert.equal((await send('DELETE')).status, 204);
        assert.equal((await tus.head(url)).status, 404);
      });
    });
  });

  describe('creation', () => {
    test('201 with a Location; a length that is not a number, or two, is 400; one above the limit 413', async () => {
      const begin = (headers: Record<string, string>) => tus.create(named(), headers);
      const begun = await begin({ 'Upload-Length': '5' });
      assert.equal(begun.status, 201);
      assert.match(String(begun.headers.location), /^\/api\/uploads\/c1\/[0-9a-f-]{36}$/);
      await tus.end(String(begun.headers.location));
      const mistakes: Record<string, string>[] = [
        {},
        { 'Upload-Length': '-1' },
        { 'Upload-Length': 'x' },
        { 'Upload-Defer-Length': '2' },
        { 'Upload-Length': '5', 'Upload-Defer-Length': '1' },
      ];
      for (const headers of mistakes) refused(await begin(headers), 400, 'bad_request');
      refused(await begin({ 'Upload-Length': String(MAX_BYTES + 1) }), 413, 'too_large');
    });

    test('a deferred length is announced once, and not changed', async () => {
      const begun = await tus.create(named(), { 'Upload-Defer-Length': '1' });
      const url = String(begun.headers.location);
      const first = await tus.head(url);
      assert.deepEqual([first.headers['upload-defer-length'], first.headers['upload-length']], ['1', undefined]);
      assert.equal((await tus.patch(url, 0, Buffer.from('abc'))).status, 204);
      refused(await tus.patch(url, 3, Buffer.from('d'), { 'Upload-Length': '2' }), 400, 'bad_request');
      refused(await tus.patch(url, 3, Buffer.from('d'), { 'Upload-Length': String(MAX_BYTES + 1) }), 413, 'too_large');
      assert.equal((await tus.patch(url, 3, Buffer.from('d'), { 'Upload-Length': '6' })).status, 204);
      const reported = await tus.head(url);
      assert.deepEqual([reported.headers['upload-defer-length'], reported.headers['upload-length']], [undefined, '6']);
      refused(await tus.patch(url, 4, Buffer.from('e'), { 'Upload-Length': '7' }), 400, 'bad_request');
      const last = await tus.patch(url, 4, Buffer.from('ef'), { 'Upload-Length': '6' });
      assert.equal(last.status, 204);
      assert.ok(last.headers['x-transfer-id']);
    });

    test('with a body: the offset, its required type, and a checksum that does not match', async () => {
      const body = Buffer.from('hello');
      const begun = await tus.create(named(), { 'Upload-Length': '10' }, body);
      assert.deepEqual([begun.status, begun.headers['upload-offset']], [201, '5']);
      await tus.end(String(begun.headers.location));
      const other = await tus.create(named(), { 'Upload-Length': '5', 'Content-Type': 'text/plain' }, body);
      refused(other, 415, 'unsupported_media_type');
      const sum = { 'Upload-Checksum': `sha1 ${createHash('sha1').update('other').digest('base64')}` };
      const wrong = await tus.create(named(), { 'Upload-Length': '5', ...sum }, body);
      refused(wrong, 460, 'checksum_mismatch');
      assert.deepEqual(await hidden(), []);
    });

    test('with more bytes than announced: 413, and nothing is left', async () => {
      const answer = await tus.create(named(), { 'Upload-Length': '5' }, Buffer.from('hello!'));
      refused(answer, 413, 'too_large');
      assert.deepEqual(await hidden(), []);
    });

    test('an unsupported extension is refused: uploads to be concatenated', async () => {
      for (const concat of ['partial', `final;${UNKNOWN}`]) {
        refused(await tus.create(named(), { 'Upload-Length': '5', 'Upload-Concat': concat }), 400, 'bad_request');
      }
    });

    test('malformed metadata are 400, unknown ones are kept and named', async () => {
      const begin = (field: string) => tus.create({}, { 'Upload-Metadata': field, 'Upload-Length': '5' });
      const name = `filename ${Buffer.from('a.bin').toString('base64')}`;
      for (const field of [
        '',
        'filename',
        'filename !!!!',
        'filename YQ',
        'filename YQ==YQ==',
        'filename gICA',
        `${name},${name}`,
        `${name},`,
        `${name}, ,`,
        `${name},überwrite dHJ1ZQ==`,
        `${name},overwrite bWF5YmU=`,
        `${name},mtime eWVzdGVyZGF5`,
        `${name},filename_template e25vcGV9`,
        `${name},x ${'A'.repeat(9000)}`,
      ]) {
        refused(await begin(field), 400, 'bad_request');
      }
      for (const filename of ['../a', 'a/b', '.', '..', 'a\0b', 'a\r\nb', 'x'.repeat(256)]) {
        const answer = await begin(`filename ${Buffer.from(filename).toString('base64')}`);
        assert.equal(answer.status, 400, filename);
      }
      for (const path of ['/../etc', '../../etc', '/a\nb', '/a\0']) {
        const answer = await begin(`${name},path ${Buffer.from(path).toString('base64')}`);
        refused(answer, 400, 'bad_path');
      }
      const more = await begin(`${name}, filetype dGV4dC9wbGFpbg==, relativePath`);
      assert.equal(more.status, 201, more.text);
      assert.equal(more.headers['x-ignored-fields'], 'filetype, relativePath');
      await tus.end(String(more.headers.location));
    });

    test('the names from a template are those of the beginning', async () => {
      const pairs = {
        filename: 'a.txt',
        path: '/templates',
        filename_template: '{name}-{uuid}',
        mtime: '2026-01-31T12:00:00Z',
      };
      const url = await tus.begin(pairs, 4);
      assert.equal((await tus.patch(url, 0, Buffer.from('abcd'))).status, 204);
      const list = await gateway.api.get('/api/list/c1', { query: { path: '/templates' } });
      const [file] = list.json['files'] as { name: string; modifiedAt: string }[];
      assert.match(file?.name ?? '', /^a-[0-9a-f-]{36}\.txt$/);
      assert.equal(file?.modifiedAt, '2026-01-31T12:00:00.000Z');
    });

    test('an account has a limited number of unfinished ones', async () => {
      const all = await Promise.all(
        Array.from({ length: UNFINISHED + 3 }, () => tus.create(named(), { 'Upload-Length': '5' })),
      );
      const begun = all.filter(({ status }) => status === 201);
      assert.equal(begun.length, UNFINISHED);
      for (const answer of all) if (answer.status !== 201) refused(answer, 429, 'share_exceeded');
      for (const { headers } of begun) assert.equal((await tus.end(String(headers.location))).status, 204);
      await withUpload(5, async () => undefined);
    });
  });

  describe('expiration, termination, checksum', () => {
    test('Upload-Expires is in each answer, in the form of HTTP', async () => {
      const since = Date.now();
      const begun = await tus.create(named(), { 'Upload-Length': '5' });
      const url = String(begun.headers.location);
      for (const { headers } of [begun, await tus.patch(url, 0, Buffer.from('a')), await tus.head(url)]) {
        const field = String(headers['upload-expires']);
        assert.equal(new Date(field).toUTCString(), field);
        assertRecent(Date.parse(field) - 24 * 3_600_000, since);
      }
      await tus.end(url);
    });

    test('a finished one can be queried; after termination its file is kept', async () => {
      const pairs = named();
      const url = await tus.begin(pairs, 4);
      const last = await tus.patch(url, 0, Buffer.from('abcd'));
      const looked = await tus.head(url);
      assert.deepEqual(
        [looked.headers['upload-offset'], looked.headers['x-transfer-id']],
        ['4', last.headers['x-transfer-id']],
      );
      assert.equal((await tus.patch(url, 4, Buffer.alloc(0))).status, 204);
      refused(await tus.patch(url, 4, Buffer.from('e')), 413, 'too_large');
      refused(await tus.patch(url, 0, Buffer.from('abcd')), 409, 'offset_mismatch');
      assert.equal((await tus.end(url)).status, 204);
      refused(await tus.head(url), 404, 'unknown_upload');
      const file = await gateway.api.get('/api/read/c1', { query: { path: `/${pairs.filename}` } });
      assert.equal(file.json['content'], 'abcd');
    });

    test('a digest of all pieces: in the last answer, in later queries, in the history and in the receipt', async () => {
      const content = randomBytes(1000);
      const begun = (by: Tus, headers = {}): Promise<string> => by.begin(named(), content.length, headers);
      const digested = new Tus(gateway.api, 'digested');
      const proven = new Tus(gateway.api, 'read-back');
      for (const [by, url, verified] of [
        [digested, await begun(digested), 'size'],
        [tus, await begun(tus, WANTED), 'size'],
        [proven, await begun(proven, WANTED), 'readback'],
      ] as const) {
        assert.equal((await by.patch(url, 0, content.subarray(0, 400))).headers['repr-digest'], undefined);
        assert.equal((await by.patch(url, 400, content.subarray(400, 401))).status, 204);
        const wrong = { 'Upload-Checksum': `sha256 ${createHash('sha256').digest('base64')}` };
        refused(await by.patch(url, 401, randomBytes(100), wrong), 460, 'checksum_mismatch');
        const last = await by.patch(url, 401, content.subarray(401));
        assert.equal(last.headers['repr-digest'], reprDigest(content), last.text);
        assert.equal((await by.head(url)).headers['repr-digest'], reprDigest(content));
        const item = await itemOf(last);
        assert.deepEqual([item['digest'], item['noDigest'], item['digestReadBytes']], [shown(content), null, 0]);
        const receipt = await gateway.api.get(`/api/transfers/${String(last.headers['x-transfer-id'])}/receipt`);
        const payload = Buffer.from(receipt.text.split('.')[1] ?? '', 'base64url').toString();
        const { transfer, verified: how } = JSON.parse(payload) as { transfer: object; verified: string };
        // A receipt has a separate field for how the file was verified, and does not hold what may change later.
        const fields = Object.entries(item).filter(([name]) => !name.startsWith('verified') && name !== 'repeatable');
        const { keyId } = transfer as { keyId: string };
        assert.deepEqual([transfer, how], [{ ...Object.fromEntries(fields), keyId }, verified]);
      }
      const empty = await digested.create(named(), { 'Upload-Length': '0' });
      assert.equal(empty.headers['repr-digest'], reprDigest(Buffer.alloc(0)));
      assert.equal((await itemOf(empty))['digest'], shown(Buffer.alloc(0)));
    });

    test('a digest is requested with the first byte, or not at all', async () => {
      const content = randomBytes(1000);
      const [first, late] = [await tus.begin(named(), 1000), await tus.begin(named(), 1000)];
      assert.equal((await tus.patch(first, 0, content.subarray(0, 400), WANTED)).status, 204);
      assert.equal((await tus.patch(first, 400, content.subarray(400))).headers['repr-digest'], reprDigest(content));
      assert.equal((await tus.patch(late, 0, content.subarray(0, 400))).status, 204);
      const last = await tus.patch(late, 400, content.subarray(400), WANTED);
      assert.deepEqual([last.status, last.headers['repr-digest']], [204, undefined]);
      const item = await itemOf(last);
      assert.deepEqual([item['digest'], item['noDigest'], item['digestReadBytes']], [null, 'pieces', null]);
    });

    test('a checksum of an unknown algorithm, or a malformed one, is 400; two given ones must match', async () => {
      await withUpload(20, async (url) => {
        for (const field of [
          'md5 CY9rzUYh03PK3k6DJie09g==',
          'sha1',
          'sha1 xyz',
          'sha256 Lve95gjOVATpfV8EL5X4nxwjKHE=',
        ]) {
          refused(await tus.patch(url, 0, Buffer.from('a'), { 'Upload-Checksum': field }), 400, 'bad_request');
        }
        for (const [at, name] of ['sha1', 'sha256'].entries()) {
          const body = randomBytes(5);
          const sum = { 'Upload-Checksum': `${name} ${createHash(name).update(body).digest('base64')}` };
          assert.equal((await tus.patch(url, at * 5, body, sum)).status, 204);
          refused(await tus.patch(url, at * 5 + 5, randomBytes(5), sum), 460, 'checksum_mismatch');
          assert.equal(await tus.offset(url), at * 5 + 5);
        }
      });
    });
  });

  describe('owners', () => {
    test('another account, a key for another connection or without the scope: as if the upload did not exist', async () => {
      await withUpload(5, async (url) => {
        const by = (key: string, at = url) => new Tus(gateway.client(key)).head(at);
        assert.equal((await by(FOREIGN)).headers['x-error-code'], 'unknown_connection');
        assert.equal((await by(FOREIGN, url.replace('/c1/', '/c3/'))).headers['x-error-code'], 'unknown_upload');
        assert.equal((await by(KEY, url.replace('/c1/', '/c2/'))).headers['x-error-code'], 'unknown_upload');
        assert.equal((await by(ELSEWHERE)).headers['x-error-code'], 'forbidden');
        assert.equal((await by(READER)).headers['x-error-code'], 'scope_missing');
        assert.equal((await by('ftg_wrong')).status, 401);
        assert.equal((await by(OTHER_KEY)).status, 200);
        const foreign = new Tus(gateway.client(FOREIGN), 'c3');
        assert.equal((await foreign.end(url.replace('/c1/', '/c3/'))).status, 404);
        assert.equal(await tus.offset(url), 0);
      });
      const off = new Tus(gateway.api, 'off');
      refused(await off.create(named(), { 'Upload-Length': '5' }), 403, 'connection_inactive');
      const answer = await new Tus(gateway.api, 'in-place').create(named(), { 'Upload-Length': '5' });
      refused(answer, 501, 'resume_unsupported');
    });

    test('a second writer of the same key ends the first one, which keeps what it has; for another key it is locked', async () => {
      const content = randomBytes(600_000);
      const url = await tus.begin(named(), content.length);
      const { socket } = tus.sendHead(url, 0, content.length);
      socket.write(content.subarray(0, 200_000));
      const other = new Tus(gateway.client(OTHER_KEY));
      await eventually(async () => (await other.head(url)).status === 423, 'the first one writes');
      refused(await other.patch(url, 0, content), 423, 'upload_locked');
      const isStored = (): boolean =>
        readdirSync(sshd.files)
          .filter((name) => name.startsWith('.ftg-'))
          .some((name) => statSync(path.join(sshd.files, name)).size === 200_000);
      await eventually(isStored, 'what was sent is stored');
      let answer = '';
      socket.on('data', (bytes: Buffer) => (answer += bytes.toString()));
      const reached = await tus.offset(url);
      await eventually(() => answer !== '', 'the first one is answered');
      assert.match(answer, /^HTTP\/1\.1 423 /);
      assert.equal(reached, 200_000);
      socket.destroy();
      const last = await tus.patch(url, reached, content.subarray(reached));
      assert.equal(last.status, 204, last.text);
    });

    test('its owner cancels it while it is sent: nothing of it is left, and the history says so', async () => {
      const pairs = named();
      const url = await tus.begin(pairs, 500_000);
      const { socket } = tus.sendHead(url, 0, 500_000);
      socket.write(randomBytes(100_000));
      const admin = gateway.client(ADMIN);
      let id = '';
      const isLive = async (): Promise<boolean> => {
        const live = (await admin.get('/manage/transfers/live')).json['transfers'] as Record<string, string>[];
        id = live.find(({ filename }) => filename === pairs.filename)?.['id'] ?? '';
        return id !== '';
      };
      await eventually(isLive, 'it is live');
      assert.equal((await admin.post(`/manage/transfers/${id}/cancel`, {})).status, 202);
      const other = new Tus(gateway.client(OTHER_KEY));
      await eventually(async () => (await other.head(url)).status === 404, 'it is gone');
      socket.destroy();
      assert.deepEqual(await hidden(), []);
      const { json } = await gateway.api.get(`/api/transfers/${id}`);
      assert.equal((json['transfer'] as Record<string, string>)['status'], 'failed');
    });

    test('with two concurrent writers one is accepted, and the file is complete', async () => {
      const content = randomBytes(900_000);
      const pairs = named();
      const url = await tus.begin(pairs, content.length);
      const answers = await Promise.all([0, 1, 2].map(() => new Tus(gateway.client()).patch(url, 0, content)));
      for (const { status } of answers) assert.ok([204, 409, 423].includes(status), String(status));
      for (let offset = await tus.offset(url); offset < content.length; offset = await tus.offset(url)) {
        assert.equal((await tus.patch(url, offset, content.subarray(offset))).status, 204);
      }
      const { bytes } = await gateway.api.get('/api/download/c1', { query: { path: `/${pairs.filename}` } });
      assert.ok(bytes.equals(content));
      const history = await gateway.api.get('/api/transfers', { query: { type: 'upload', limit: '100' } });
      const items = (history.json['transfers'] as { filename: string }[]).filter(
        ({ filename }) => filename === pairs.filename,
      );
      assert.equal(items.length, 1);
    });
  });

  async function hidden(): Promise<string[]> {
    const { json } = await gateway.api.get('/api/list/c1', { query: { path: '/' } });
    return (json['files'] as { name: string }[]).map(({ name }) => name).filter((name) => name.startsWith('.ftg-'));
  }
});
