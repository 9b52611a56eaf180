/**
 * Resumable uploads through links, on servers of each protocol and several nodes: interrupted, continued on another
 * node, and counted once.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { Upload } from 'tus-js-client';
import { type Cluster, startCluster } from '../jobs/cluster.js';
import { OPENSSH, S3_SERVERS, VSFTPD } from '../servers/catalogue.js';
import { withSql } from '../storage/databases.js';
import type { Sql } from '../support/sql.js';
import { eventually } from '../support/eventually.js';
import type { ApiAnswer } from '../support/gateway.js';
import { reprDigest, Tus, VERSION, WANTED } from '../uploads/support.js';

const MIB = 1024 * 1024;
const PART_BYTES = 5 * MIB;
const SERVERS = ['sftp', 'ftp', 's3'] as const;

let cluster: Cluster<(typeof SERVERS)[number]>;
let folders = 0;

before(async () => {
  cluster = await startCluster(
    { sftp: OPENSSH[1], ftp: VSFTPD[1], s3: S3_SERVERS[0] },
    { nodes: 2, config: { streams: { s3PartBytes: PART_BYTES } } },
  );
});
after(() => cluster?.stop());

interface Made {
  readonly id: string;
  readonly at: string;
  readonly folder: string;
}

async function make(connectionId: (typeof SERVERS)[number], link: object = {}): Promise<Made> {
  const folder = `${cluster.servers[connectionId].base ?? ''}/link-uploads-${++folders}`;
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = { operation: 'upload', connectionId, path: folder, expiresAt, ...link };
  const answer = await cluster.api.post('/api/links', body);
  assert.equal(answer.status, 201, answer.text);
  const { id, url } = answer.json['link'] as { id: string; url: string };
  return { id, at: new URL(url).pathname, folder };
}

/** A visitor at this node: without a key. */
const tusAt = (index: number, at: string): Tus => new Tus(cluster.node(index).client(''), '', at);
const code = ({ status, headers }: ApiAnswer): string => `${status} ${(headers['x-error-code'] as string) ?? ''}`;
const linkNow = async (id: string) =>
  (await cluster.api.get(`/api/links/${id}`)).json['link'] as Record<string, unknown>;
const isVisible = (name: string): boolean => !name.includes('/.ftg-') && !name.endsWith('?upload');
const usesOf = async (id: string) =>
  (await cluster.api.get('/api/transfers', { query: { link_id: id } })).json['transfers'] as Record<string, unknown>[];

describe('resumable uploads through links', { concurrency: 1 }, () => {
  for (const name of SERVERS) {
    test(`${name}: its node is killed amid a piece, another one goes on, and the one use is counted once`, async () => {
      const server = cluster.servers[name];
      const content = randomBytes(2 * PART_BYTES + 123_456);
      const { id, at, folder } = await make(name, { maxUses: 1, maxBytes: content.length });
      const url = await tusAt(1, at).begin({ filename: 'large.bin' }, content.length, WANTED);
      const first = content.subarray(0, PART_BYTES + 1);
      assert.equal((await tusAt(1, at).patch(url, 0, first)).status, 204);
      const { socket } = tusAt(1, at).sendHead(url, first.length, content.length - first.length);
      socket.write(content.subarray(first.length, first.length + MIB));
      const isHeld = async (): Promise<boolean> =>
        withSql(
          cluster.postgres.url,
          async (sql) => (await sql`select from links where id = ${id} and held <> '{}'`).length === 1,
        );
      await eventually(isHeld, 'the piece has the use of the link');
      const other = { method: 'PUT', key: '', body: 'x', query: { filename: 'other' } };
      assert.equal(code(await cluster.api.send(at, other)), '410 gone');
      await cluster.kill(1);
      socket.destroy();
      const offset = await tusAt(0, at).offset(url);
      assert.ok(offset >= first.length - PART_BYTES && offset <= first.length + MIB, `${offset} bytes are stored`);
      assert.deepEqual((await server.disk.files(folder)).filter(isVisible), []);
      const last = await tusAt(0, at).patch(url, offset, content.subarray(offset));
      assert.deepEqual([last.status, last.headers['repr-digest']], [204, reprDigest(content)], last.text);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/large.bin`]);
      assert.ok((await server.disk.read(`${folder}/large.bin`)).equals(content));
      // The answer may have been lost.
      assert.equal(await tusAt(0, at).offset(url), content.length);
      assert.equal(code(await tusAt(0, at).create({ filename: 'b' }, { 'Upload-Length': '1' })), '410 gone');
      const { uses, state } = await linkNow(id);
      assert.deepEqual([uses, state], [1, 'used_up']);
      assert.deepEqual(
        (await usesOf(id)).map((item) => [item['status'], item['path'], item['fileSize'], item['id']]),
        [['success', `${folder}/large.bin`, content.length, last.headers['x-transfer-id']]],
      );
      const events = async () => {
        const { json } = await cluster.api.get('/api/events', { query: { limit: '1000' } });
        const all = json['events'] as { type: string; data: { linkId?: string } }[];
        return all.filter(({ type, data }) => type === 'link.used' && data.linkId === id);
      };
      await eventually(async () => (await events()).length > 0, 'the use is an event');
      assert.equal((await events()).length, 1);
      await cluster.add();
    });
  }

  test('many begun with a link for one use: the last pieces come at once on two nodes, and one becomes a file', async () => {
    const { id, at, folder } = await make('sftp', { maxUses: 1, overwrite: true, filename: 'one.bin' });
    const contents = Array.from({ length: 8 }, () => randomBytes(200_000));
    const urls: string[] = [];
    for (const { length } of contents) urls.push(await tusAt(urls.length % 2, at).begin({}, length));
    const answers = await Promise.all(contents.map((content, i) => tusAt(i % 2, at).patch(urls[i] ?? '', 0, content)));
    assert.deepEqual(answers.map(code).sort(), ['204 ', ...Array<string>(7).fill('410 gone')]);
    const winner = contents[answers.findIndex(({ status }) => status === 204)] ?? assert.fail();
    assert.ok((await cluster.servers.sftp.disk.read(`${folder}/one.bin`)).equals(winner));
    assert.equal((await linkNow(id))['uses'], 1);
  });

  test('between two pieces others may use the link', async () => {
    const { id, at } = await make('sftp', { maxUses: 2 });
    const url = await tusAt(0, at).begin({ filename: 'a.bin' }, 10);
    assert.equal((await tusAt(0, at).patch(url, 0, Buffer.alloc(5))).status, 204);
    for (const node of [0, 1]) assert.equal(await tusAt(node, at).offset(url), 5);
    const put = await cluster.api.send(at, { method: 'PUT', key: '', body: 'x', query: { filename: 'b' } });
    assert.equal(put.status, 201, put.text);
    assert.equal((await tusAt(1, at).patch(url, 5, Buffer.alloc(5))).status, 204);
    assert.deepEqual([(await linkNow(id))['uses'], (await linkNow(id))['state']], [2, 'used_up']);
  });

  test('a tus client asks what the link can, defers the length, and sends everything by POST', async () => {
    const { at, folder } = await make('sftp', { maxUses: 1, maxBytes: 300_000 });
    const send = (url: string, options: object) => cluster.api.send(url, { key: '', ...options });
    const asked = await send(at, { method: 'OPTIONS' });
    assert.equal(code(asked), '204 ');
    assert.equal(asked.headers['tus-max-size'], '300000');
    assert.match(String(asked.headers['tus-extension']), /creation-defer-length/);
    assert.equal(asked.headers['referrer-policy'], 'no-referrer');
    assert.equal(code(await send('/l/unknown', { method: 'OPTIONS' })), '404 unknown_item');
    const tus = tusAt(0, at);
    const both = { 'Upload-Length': '5', 'Upload-Defer-Length': '1' };
    assert.equal(code(await tus.create({ filename: 'both' }, both)), '400 bad_request');

    const content = randomBytes(250_000);
    await new Promise<void>((onSuccess, onError) => {
      new Upload(Readable.from([content.subarray(0, 100_000), content.subarray(100_000)]), {
        endpoint: cluster.node(0).url + at,
        metadata: { filename: 'piped.bin' },
        uploadLengthDeferred: true,
        chunkSize: 100_000,
        overridePatchMethod: true,
        onSuccess: () => onSuccess(),
        onError,
      }).start();
    });
    assert.ok((await cluster.servers.sftp.disk.read(`${folder}/piped.bin`)).equals(content));
    assert.equal(code(await tus.create({ filename: 'b' }, { 'Upload-Length': '1' })), '410 gone');
  });

  test('a deferred length keeps the terms of the link; dropped pieces and uploads given up are counted', async () => {
    const { id, at, folder } = await make('sftp', { maxUses: 5, maxBytes: 10 });
    const tus = tusAt(0, at);
    const begun = await tus.create({ filename: 'a.bin' }, { 'Upload-Defer-Length': '1' });
    const url = String(begun.headers.location);
    assert.equal(code(await tus.patch(url, 0, Buffer.alloc(11))), '413 too_large');
    assert.equal(code(await tus.patch(url, 0, Buffer.alloc(0), { 'Upload-Length': '11' })), '413 too_large');
    const wrong = { 'Upload-Checksum': `sha1 ${Buffer.alloc(20).toString('base64')}` };
    assert.equal(code(await tus.patch(url, 0, Buffer.alloc(6), wrong)), '460 checksum_mismatch');
    const first = await tus.create({ filename: 'b.bin' }, { 'Upload-Length': '6', ...wrong }, Buffer.alloc(6));
    assert.equal(code(first), '460 checksum_mismatch');
    assert.equal(code(await tus.patch(url, 0, Buffer.alloc(6))), '204 ');
    const tunnel = (method: string) =>
      cluster.api.send(url, { method: 'POST', key: '', headers: { ...VERSION, 'X-HTTP-Method-Override': method } });
    assert.equal(code(await tunnel('PUT')), '400 bad_request');
    assert.equal((await tunnel('HEAD')).headers['upload-offset'], '6');
    assert.equal(code(await tunnel('DELETE')), '204 ');
    assert.deepEqual(await cluster.servers.sftp.disk.files(folder), []);
    const broken = async (sql: Sql) => (await sql<{ broken: number }[]>`select broken from links where id = ${id}`)[0];
    assert.equal((await withSql(cluster.postgres.url, broken))?.broken, 3);
  });
});
