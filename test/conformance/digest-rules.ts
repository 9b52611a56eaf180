/**
 * The SHA-256 of transferred bytes: in answers, in the history, and as a filter; read back before a file is published.
 * `proven` is the same server with `digests: always` and `verify: readback`.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { keysOf, verifyChain, verifyReceipt } from '../../src/cli/receipt-chain.js';
import type { TestServer } from '../servers/catalogue.js';
import type { ApiAnswer, TestGateway } from '../support/gateway.js';

const MIB = 1024 * 1024;
/** In one piece, and as a stream. */
const SIZES = [0, 1000, 3 * MIB + 17] as const;
const WANTED = { 'Want-Repr-Digest': 'sha-256=10' };

export interface Bench {
  readonly gateway: TestGateway;
  readonly server: TestServer;
  readonly newFolder: () => string;
}

interface Detail {
  readonly digest: string | null;
  readonly noDigest: string | null;
  readonly stages: Record<string, number>;
  readonly requestId: string;
}

interface Reported {
  readonly sequence: number;
  readonly server: {
    readonly type: string;
    readonly host: string;
    readonly hostKey?: string;
    readonly certificate?: string;
  };
  readonly source?: { readonly connectionId: string; readonly path: string };
  readonly verified: string | null;
  readonly transfer: Detail & { readonly path: string; readonly fileSize: number; readonly connectionId: string };
}

async function* lines(text: string): AsyncGenerator<string> {
  yield* text.split('\n');
}

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();
const inField = (bytes: Buffer | string): string => `sha-256=:${sha256(bytes).toString('base64')}:`;
const inHistory = (bytes: Buffer | string): string => `sha-256:${sha256(bytes).toString('hex')}`;

export function digestRules(bench: () => Bench): void {
  describe('digests', () => {
    const isS3 = (): boolean => bench().server.connection.type === 's3';
    const upload = (
      connection: string,
      query: Record<string, string>,
      body: Buffer | string,
      headers: Record<string, string> = {},
    ): Promise<ApiAnswer> =>
      bench().gateway.api.send(`/api/upload/${connection}`, {
        method: 'POST',
        query,
        body,
        headers: { 'Content-Type': 'application/octet-stream', ...headers },
      });
    const detail = async (id: string): Promise<Detail> => {
      const answer = await bench().gateway.api.get(`/api/transfers/${id}`);
      assert.equal(answer.status, 200, answer.text);
      return answer.json['transfer'] as Detail;
    };
    const newest = async (type: string): Promise<Detail> => {
      const { json } = await bench().gateway.api.get('/api/transfers', { query: { type, limit: '1' } });
      return detail((json['transfers'] as { id: string }[])[0]!.id);
    };
    const found = async (bytes: Buffer | string): Promise<{ type: string; path: string }[]> => {
      const query = { digest: inHistory(bytes) };
      const { status, json, text } = await bench().gateway.api.get('/api/transfers', { query });
      assert.equal(status, 200, text);
      const transfers = json['transfers'] as { type: string; path: string }[];
      assert.equal(json['total'], transfers.length);
      return transfers.map(({ type, path }) => ({ type, path })).reverse();
    };

    test('there is none without a request', async () => {
      const { newFolder } = bench();
      const answer = await upload('c1', { path: newFolder(), filename: 'a' }, 'unasked');
      assert.equal(answer.headers['repr-digest'], undefined);
      const { digest, noDigest } = await detail((answer.json['transfer'] as { id: string }).id);
      assert.deepEqual({ digest, noDigest }, { digest: null, noDigest: null });
    });

    for (const size of SIZES) {
      test(`${size} bytes with a requested digest`, async () => {
        const { gateway, newFolder } = bench();
        const content = Buffer.concat([randomBytes(size)]);
        const [folder, other] = [newFolder(), newFolder()];
        const stored = await upload('c1', { path: folder, filename: 'a.bin' }, content, WANTED);
        assert.equal(stored.status, 200, stored.text);
        assert.equal(stored.headers['repr-digest'], inField(content));
        const { id } = stored.json['transfer'] as { id: string };
        const item = await detail(id);
        assert.equal(item.digest, inHistory(content));
        assert.equal(item.requestId, stored.headers['x-request-id']);
        assert.ok('open' in item.stages || 'transfer' in item.stages, JSON.stringify(item.stages));
        const path = `${folder}/a.bin`;
        const got = await gateway.api.get('/api/download/c1', { query: { path }, headers: WANTED });
        assert.ok(got.bytes.equals(content));
        const isShort = size <= 64 * 1024;
        // S3 also sends small files as a stream: they are still gathered.
        assert.equal(got.headers['repr-digest'], isShort ? inField(content) : undefined);
        assert.equal((await newest('download')).digest, inHistory(content));
        if (size <= MIB) {
          await gateway.api.get('/api/read/c1', { query: { path, encoding: 'base64' }, headers: WANTED });
          assert.equal((await newest('read')).digest, inHistory(content));
        }
        const copy = await gateway.api.post(
          '/api/copy',
          { source_connection_id: 'c1', source_path: path, dest_connection_id: 'c1', dest_path: `${other}/b.bin` },
          { headers: WANTED },
        );
        assert.equal(copy.status, 200, copy.text);
        const copied = await newest('copy');
        if (isS3()) {
          assert.equal(copy.json['noDigest'], 'server_side_copy');
          assert.deepEqual([copied.digest, copied.noDigest], [null, 'server_side_copy']);
        } else {
          assert.equal(copy.headers['repr-digest'], inField(content));
          assert.equal(copied.digest, inHistory(content));
        }
        if (size === 0) return;
        assert.deepEqual(await found(content), [
          { type: 'upload', path },
          { type: 'download', path },
          ...(size <= MIB ? [{ type: 'read', path }] : []),
          ...(isS3() ? [] : [{ type: 'copy', path: `${other}/b.bin` }]),
        ]);
      });

      test(`${size} bytes that are read back before the file is published`, async () => {
        const { server, newFolder } = bench();
        const folder = newFolder();
        await server.disk.write(`${folder}/a.bin`, 'old');
        const content = randomBytes(size);
        const answer = await upload('proven', { path: folder, filename: 'a.bin' }, content);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.headers['repr-digest'], inField(content));
        assert.ok((await server.disk.read(`${folder}/a.bin`)).equals(content));
        assert.deepEqual(await server.disk.files(folder), [`${folder}/a.bin`]);
        const asked = await upload('c1', { path: folder, filename: 'b.bin', verify: 'readback' }, content);
        assert.equal(asked.status, 200, asked.text);
        assert.equal(asked.headers['repr-digest'], undefined);
        assert.ok((await server.disk.read(`${folder}/b.bin`)).equals(content));
        const refused = await upload('proven', { path: folder, filename: 'a.bin', overwrite: 'false' }, 'other');
        assert.equal(refused.status, 409, refused.text);
      });
    }

    test('receipts: for files that were stored, sent, copied and deleted, and for nothing else', async () => {
      const { gateway, server, newFolder } = bench();
      const keys = keysOf((await gateway.api.get('/.well-known/jwks.json')).json);
      const folder = newFolder();
      const path = `${folder}/a.bin`;
      const receiptOf = async (id: string): Promise<ApiAnswer> => gateway.api.get(`/api/transfers/${id}/receipt`);
      const newestId = async (type: string): Promise<string> => {
        const { json } = await gateway.api.get('/api/transfers', { query: { type, limit: '1' } });
        return (json['transfers'] as { id: string }[])[0]!.id;
      };
      const reported = async (type: string): Promise<Reported> => {
        const { status, text } = await receiptOf(await newestId(type));
        assert.equal(status, 200, `${type}: ${text}`);
        return verifyReceipt(text, keys) as unknown as Reported;
      };
      await upload('proven', { path: folder, filename: 'a.bin' }, 'evidence');
      const stored = await reported('upload');
      const { type, host, hostKey, certificate } = stored.server;
      assert.equal(type, server.connection.type);
      assert.ok(host.startsWith('127.0.0.1:') || host.startsWith('localhost:'), host);
      assert.equal(stored.verified, 'readback');
      assert.deepEqual(
        [stored.transfer.path, stored.transfer.fileSize, stored.transfer.digest, stored.transfer.connectionId],
        [path, 8, inHistory('evidence'), 'proven'],
      );
      assert.equal(hostKey !== undefined, type === 'sftp');
      assert.equal(certificate !== undefined, type === 'ftp' && (server.connection['tls'] ?? 'none') !== 'none');
      if (hostKey !== undefined) assert.match(hostKey, /^SHA256:[A-Za-z0-9+/]{43}$/);
      if (certificate !== undefined) assert.match(certificate, /^[0-9a-f]{64}$/);
      await gateway.api.get('/api/download/proven', { query: { path } });
      const sent = await reported('download');
      assert.deepEqual([sent.transfer.digest, sent.verified], [inHistory('evidence'), null]);
      const to = { dest_connection_id: 'c1', dest_path: `${folder}/b.bin` };
      await gateway.api.post('/api/copy', { source_connection_id: 'proven', source_path: path, ...to });
      const copied = await reported('copy');
      assert.deepEqual([copied.source?.connectionId, copied.source?.path], ['proven', path]);
      assert.equal(copied.transfer.digest, isS3() ? null : inHistory('evidence'));
      assert.equal(copied.transfer.noDigest, isS3() ? 'server_side_copy' : null);
      await gateway.api.post('/api/delete/proven', { path });
      const deleted = await reported('delete');
      assert.deepEqual([deleted.transfer.path, deleted.transfer.digest], [path, null]);
      assert.equal(deleted.sequence, copied.sequence + 1);
      const missing = await gateway.api.post('/api/delete/proven', { path });
      assert.equal(missing.status, 404);
      assert.equal((await receiptOf(await newestId('delete'))).status, 404);
      const unasked = await upload('c1', { path: folder, filename: 'c.bin' }, 'unasked');
      const none = await receiptOf((unasked.json['transfer'] as { id: string }).id);
      assert.deepEqual([none.status, /digests were not on$/.test(String(none.json['error']))], [404, true]);
      const chain = await gateway.api.get('/api/receipts', { query: { after: String(stored.sequence - 1) } });
      const { receipts, last } = await verifyChain(lines(chain.text), keys);
      assert.deepEqual([receipts, last.sequence], [4, deleted.sequence]);
    });

    test('a write, also in place, an append and a range', async () => {
      const { gateway, newFolder } = bench();
      const path = `${newFolder()}/log.txt`;
      const text = 'first line\n';
      const written = await gateway.api.post('/api/write/proven', { path, content: text });
      assert.equal(written.headers['repr-digest'], inField(text));
      assert.equal((await newest('write')).digest, inHistory(text));
      const range = { headers: { ...WANTED, Range: 'bytes=0-3' }, query: { path } };
      const part = await gateway.api.get('/api/download/c1', range);
      assert.deepEqual([part.status, part.headers['repr-digest']], [206, undefined]);
      assert.deepEqual((({ digest, noDigest }) => [digest, noDigest])(await newest('download')), [null, 'range']);
      if (isS3()) return;
      const added = await gateway.api.post('/api/append/proven', { path, content: 'second\n' });
      assert.deepEqual([added.status, added.headers['repr-digest']], [200, undefined], added.text);
      assert.deepEqual((({ digest, noDigest }) => [digest, noDigest])(await newest('append')), [null, 'append']);
      const inPlace = await upload('in-place', { path, filename: 'x', verify: 'readback' }, 'in place', WANTED);
      assert.notEqual(inPlace.status, 200);
      const folder = newFolder();
      const placed = await upload('in-place', { path: folder, filename: 'x', verify: 'readback' }, 'in place', WANTED);
      assert.equal(placed.headers['repr-digest'], inField('in place'), placed.text);
    });

    test('the file must match the digests that a client promises', async () => {
      const { newFolder, server } = bench();
      const folder = newFolder();
      const send = (headers: Record<string, string>): Promise<ApiAnswer> =>
        upload('c1', { path: folder, filename: 'a' }, 'content', headers);
      assert.equal(
        (await send({ 'Repr-Digest': inField('content'), ...WANTED })).headers['repr-digest'],
        inField('content'),
      );
      const wrong = await send({ 'Repr-Digest': inField('another') });
      assert.deepEqual([wrong.status, wrong.headers['x-error-code']], [400, 'digest_mismatch']);
      assert.match(wrong.text, /its Repr-Digest/);
      const torn = await send({ 'Repr-Digest': inField('content'), 'Content-Digest': inField('another') });
      assert.deepEqual([torn.status, torn.headers['x-error-code']], [400, 'bad_request']);
      assert.equal((await server.disk.read(`${folder}/a`)).toString(), 'content');
    });
  });
}
