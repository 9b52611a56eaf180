/**
 * Ends of resumable uploads that their clients do not end: expired, their node killed during the publication, their
 * remote away.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import net from 'node:net';
import postgres from 'postgres';
import { bytesOf, Signer } from '../attacks/support/s3-signer.js';
import { clientOf, PAIR } from '../s3/suite.js';
import { OPENSSH, S3_SERVERS, type ServerEntry, type TestServer, VSFTPD } from '../servers/catalogue.js';
import { held } from '../support/reliability.js';
import { startSystemServer, tellDue, TEST_KEY, type TestServer as DatabaseServer } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { type ApiAnswer, KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { portOf, through } from '../support/seam.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { startTogether } from '../support/together.js';
import type { Connection } from '../../src/connections/connection.js';
import { reprDigest, Tus, WANTED } from './support.js';

const MIB = 1024 * 1024;
const ADMIN_KEY = 'ftg_admin-key-0123456789-abcdefgh';
const A_DAY_MS = 86_400_000;
const servers = [OPENSSH[1], VSFTPD[0], S3_SERVERS[0]].filter((entry) => entry !== undefined);

let databases: DatabaseServer;

function suite(entry: ServerEntry): void {
  describe(`ends of resumable uploads on ${entry.name}`, { concurrency: 1 }, () => {
    let server: TestServer;
    let databaseUrl: string;
    let sql: postgres.Sql;
    let proxy: Proxy;
    /** Only in front of the connection `proven`, so that two nodes can die at once. */
    let provenProxy: Proxy;
    let nodes: TestGateway[];
    let tus: Tus;
    let count = 0;

    before(async () => {
      [server, databaseUrl] = await Promise.all([entry.start(), databases.createDatabase()]);
      const connection = server.connection as unknown as Connection;
      const newProxy = () => startProxy(portOf(connection), { ftp: connection.type === 'ftp' });
      [proxy, provenProxy] = await Promise.all([newProxy(), newProxy()]);
      nodes = await startTogether([startNode(), startNode()]);
      tus = new Tus(nodes[0]?.api ?? assert.fail());
      sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
    });
    after(async () => {
      await sql?.end();
      await Promise.all((nodes ?? []).map((node) => node.stop()));
      await Promise.all([proxy?.stop(), provenProxy?.stop(), server?.stop()]);
    });

    function startNode(): Promise<TestGateway> {
      const direct = server.connection as unknown as Connection;
      const proven = { ...through(direct, provenProxy.port), digests: 'always', verify: 'readback' };
      return startGateway({
        connections: [
          { ...through(direct, proxy.port), id: 'c1', name: 'Server' },
          { ...proven, id: 'proven', name: 'Proven' },
        ],
        apiKeys: [
          { name: 'test', key: KEY, s3: PAIR },
          { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
        ],
        env: { GATEWAY_MASTER_KEY: TEST_KEY },
        config: { database: { url: databaseUrl }, streams: { s3PartBytes: 5 * MIB }, s3: { enabled: true } },
      });
    }

    /** A connection made by its owner, not by the configuration. */
    async function ownConnection(id: string, others: object = {}): Promise<void> {
      const { privateKeyFile, ...connection } = through(
        server.connection as unknown as Connection,
        proxy.port,
      ) as unknown as Record<string, string>;
      const key = privateKeyFile === undefined ? {} : { privateKey: readFileSync(privateKeyFile, 'utf8') };
      const made = await admin().send('/manage/connections', {
        method: 'POST',
        json: { id, name: id, ...connection, ...key, ...others },
      });
      assert.equal(made.status, 201, made.text);
    }

    const admin = () => nodes[0]?.client(ADMIN_KEY) ?? assert.fail();
    const newFolder = (): string => `${server.base ?? ''}/ends-${++count}`;
    const idOf = (url: string): string => url.split('/').at(-1) ?? '';

    test('unfinished uploads are removed when they have expired, here and on the server; a finished file is kept', async () => {
      const folder = newFolder();
      const open = await tus.begin({ path: folder, filename: 'open.bin' }, 10 * MIB);
      assert.equal((await tus.patch(open, 0, randomBytes(9 * MIB))).status, 204);
      const done = await tus.begin({ path: folder, filename: 'done.bin' }, 5);
      assert.equal((await tus.patch(done, 0, randomBytes(5))).status, 204);
      await sql`update uploads set expires_at = now() - interval '1 second'`;
      await tellDue(sql, 'uploads');
      assert.equal((await tus.head(open)).status, 404);
      assert.equal((await tus.patch(open, 9 * MIB, randomBytes(1))).status, 404);
      const rows = async (): Promise<number> => (await sql`select from uploads`).length;
      await eventually(async () => (await rows()) === 0, 'the rows are gone');
      assert.equal((await sql`select from upload_parts`).length, 0);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/done.bin`]);
    });

    test('deleting a connection removes stored bytes of its uploads from the server, also of one that is being written on another node', async () => {
      const folder = newFolder();
      await ownConnection('passing');
      const passing = new Tus(nodes[1]?.client() ?? assert.fail(), 'passing');
      const open = await passing.begin({ path: folder, filename: 'open.bin' }, 20 * MIB);
      assert.equal((await passing.patch(open, 0, randomBytes(9 * MIB))).status, 204);
      const written = await passing.begin({ path: folder, filename: 'written.bin' }, 20 * MIB);
      const { socket } = passing.sendHead(written, 0, 20 * MIB);
      socket.write(randomBytes(9 * MIB));
      const isWritten = async (): Promise<boolean> => {
        const [row] = await sql`select writer from uploads where id = ${idOf(written)}`;
        return row?.['writer'] !== null && (await server.disk.files(folder)).length >= 2;
      };
      await eventually(isWritten, 'it is being written');
      assert.equal((await passing.begin({ path: folder, filename: 'begun.bin' }, 5)) === '', false);
      const deleted = await admin().send('/manage/connections/passing?confirm=true', { method: 'DELETE' });
      assert.equal(deleted.status, 200, deleted.text);
      assert.deepEqual(await server.disk.files(folder), []);
      assert.equal((await sql`select from uploads where connection_id = 'passing'`).length, 0);
      socket.destroy();
    });

    test('deleting a connection removes the parts of its multipart uploads, also of one that arrives on another node', async () => {
      const folder = newFolder();
      await ownConnection('parted');
      const [first, second] = [nodes[0] ?? assert.fail(), nodes[1] ?? assert.fail()];
      const client = clientOf(first);
      const at = { Bucket: 'parted', Key: `${folder}/parts.bin`.slice(1) };
      const { UploadId = '' } = await client.send(new CreateMultipartUploadCommand(at));
      for (const [PartNumber, bytes] of [
        [1, 5 * MIB],
        [2, 5 * MIB],
        // A last part, which has no place yet.
        [9, 70_000],
      ] as const) {
        await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body: randomBytes(bytes) }));
      }
      client.destroy();
      const part = { method: 'PUT', path: `/s3/parted/${at.Key}`, query: `partNumber=3&uploadId=${UploadId}` };
      const arriving = bytesOf(new Signer(second.port, PAIR).sign({ ...part, body: randomBytes(5 * MIB) }));
      const socket = net.connect(second.port, '127.0.0.1').on('error', () => undefined);
      socket.write(arriving.subarray(0, -MIB));
      const writers = () => sql`select from multipart_writers where upload_id = ${UploadId} and number = 3`;
      await eventually(async () => (await writers()).length === 1, 'the part arrives');
      const isStore = server.connection.type === 's3';
      const stored = isStore ? await openIn(storeConnection(), folder) : await server.disk.files(folder);
      assert.ok(stored.length > 0, 'there is something to remove');
      const deleted = await admin().send('/manage/connections/parted?confirm=true', { method: 'DELETE' });
      assert.equal(deleted.status, 200, deleted.text);
      await eventually(async () => (await server.disk.files(folder)).length === 0, 'no file is left');
      if (isStore) assert.deepEqual(await openIn(storeConnection(), folder), []);
      for (const table of ['uploads', 'multipart_parts', 'multipart_writers', 'multipart_files']) {
        const column = table === 'uploads' ? 'id' : 'upload_id';
        assert.equal((await sql`select from ${sql(table)} where ${sql(column)} = ${UploadId}`).length, 0, table);
      }
      socket.destroy();
    });

    const storeConnection = () => server.connection as unknown as S3Connection;

    test('a connection whose server is away is still deleted, without waiting for it', async () => {
      const folder = newFolder();
      // A request that waits for the server waits for a day.
      const pool = { acquireTimeoutMs: A_DAY_MS, connectTimeoutMs: A_DAY_MS, stallTimeoutMs: A_DAY_MS };
      await ownConnection('away', { pool });
      const away = new Tus(nodes[0]?.client() ?? assert.fail(), 'away');
      for (const filename of ['a.bin', 'b.bin', 'c.bin']) await away.begin({ path: folder, filename }, 5);
      proxy.isSilent = true;
      try {
        const deleted = await admin().send('/manage/connections/away?confirm=true', { method: 'DELETE' });
        assert.equal(deleted.status, 200, deleted.text);
      } finally {
        proxy.isSilent = false;
        proxy.fail('reset');
      }
      const line = 'unfinished uploads of a deleted connection are still on its server';
      await eventually(() => nodes[0]?.output().includes(line) === true, 'its line in the log');
    });

    /** As a person at the server does, or a clean-up rule of the store. */
    async function takeAway(folder: string): Promise<void> {
      if (server.connection.type === 's3') return abortIn(server.connection as unknown as S3Connection, folder);
      for (const path of await server.disk.files(folder)) {
        const removed = await tus.api.post('/api/delete/c1', { path });
        assert.equal(removed.status, 200, removed.text);
      }
    }

    async function isOver(url: string, answer: ApiAnswer, filename: string): Promise<void> {
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [404, 'unknown_upload'], answer.text);
      assert.equal((await tus.head(url)).status, 404);
      assert.equal((await sql`select from uploads where id = ${idOf(url)}`).length, 0);
      const items = await sql`select status, error_code from transfers where filename = ${filename}`;
      assert.deepEqual([...items], [{ status: 'failed', error_code: 'unknown_upload' }]);
    }

    test('an upload whose bytes are deleted on the server ends at once, and the history says so', async () => {
      const folder = newFolder();
      const filename = `taken-${count}.bin`;
      const url = await tus.begin({ path: folder, filename }, 20 * MIB);
      assert.equal((await tus.patch(url, 0, randomBytes(9 * MIB))).status, 204);
      await takeAway(folder);
      await isOver(url, await tus.patch(url, 9 * MIB, randomBytes(11 * MIB)), filename);
      assert.deepEqual(await server.disk.files(folder), []);
    });

    test('the same if all bytes had arrived, and its length is announced now', async () => {
      const folder = newFolder();
      const filename = `taken-${count}.bin`;
      const begun = await tus.create({ path: folder, filename }, { 'Upload-Defer-Length': '1' });
      const url = String(begun.headers.location);
      assert.equal((await tus.patch(url, 0, randomBytes(9 * MIB))).status, 204);
      await takeAway(folder);
      await isOver(url, await tus.patch(url, 9 * MIB, Buffer.alloc(0), { 'Upload-Length': `${9 * MIB}` }), filename);
      assert.deepEqual(await server.disk.files(folder), []);
    });

    test('a file that was shortened on the server is continued at its end', async () => {
      if (server.connection.type === 's3') return;
      const folder = newFolder();
      const content = randomBytes(9 * MIB);
      const url = await tus.begin({ path: folder, filename: 'shorter.bin' }, content.length);
      assert.equal((await tus.patch(url, 0, content.subarray(0, 6 * MIB))).status, 204);
      const [hidden = ''] = await server.disk.files(folder);
      await server.disk.write(hidden, content.subarray(0, 2 * MIB));
      const refused = await tus.patch(url, 6 * MIB, content.subarray(6 * MIB));
      assert.deepEqual([refused.status, refused.headers['x-error-code']], [502, 'size_mismatch'], refused.text);
      assert.equal(await tus.offset(url), 2 * MIB);
      const last = await tus.patch(url, 2 * MIB, content.subarray(2 * MIB));
      assert.equal(last.status, 204, last.text);
      assert.ok((await server.disk.read(`${folder}/shorter.bin`)).equals(content));
    });

    test('one whose remote is away is kept until it is back', async () => {
      const folder = newFolder();
      const url = await tus.begin({ path: folder, filename: 'a.bin' }, 10);
      assert.equal((await tus.patch(url, 0, randomBytes(5))).status, 204);
      proxy.isDown = true;
      proxy.fail('reset');
      const away = await tus.patch(url, 5, randomBytes(5));
      assert.ok(away.status >= 500, away.text);
      proxy.isDown = false;
      assert.equal(await tus.offset(url), 5);
      const last = await tus.patch(url, 5, randomBytes(5));
      assert.equal(last.status, 204, last.text);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/a.bin`]);
    });

    test('a remote that is lost in the middle of a piece is asked how many bytes it has', async () => {
      const folder = newFolder();
      const content = randomBytes(24 * MIB);
      const url = await tus.begin({ path: folder, filename: 'lost.bin' }, content.length);
      proxy.after('up', 14 * MIB, () => proxy.fail('reset'));
      const broken = await tus.patch(url, 0, content);
      // A part of S3 is sent again automatically.
      if (broken.status === 204) assert.equal(server.connection.type, 's3');
      if (broken.status === 204) return;
      assert.ok(broken.status >= 500, `${broken.status} ${broken.text}`);
      const reached = await tus.offset(url);
      assert.ok(reached > 0 && reached < content.length, `${reached} are stored`);
      const last = await tus.patch(url, reached, content.subarray(reached));
      assert.equal(last.status, 204, last.text);
      assert.ok((await server.disk.read(`${folder}/lost.bin`)).equals(content));
    });

    describe('nodes that die', { concurrency: true }, () => {
      test('a node that dies in the middle of a piece: another one continues with the digest', async () => {
        const folder = newFolder();
        const content = randomBytes(30 * MIB);
        const url = await tus.begin({ path: folder, filename: 'a.bin' }, content.length, WANTED);
        assert.equal((await tus.patch(url, 0, content.subarray(0, MIB))).status, 204);
        const other = await startNode();
        nodes.push(other);
        proxy.after('up', 20 * MIB, () => other.process.kill('SIGKILL'));
        await assert.rejects(new Tus(other.client()).patch(url, MIB, content.subarray(MIB)));
        const reached = await tus.offset(url);
        assert.ok(reached > MIB && reached < content.length, `${reached} are stored`);
        const last = await tus.patch(url, reached, content.subarray(reached));
        assert.deepEqual([last.status, last.headers['repr-digest']], [204, reprDigest(content)], last.text);
        const { json } = await tus.api.get(`/api/transfers/${String(last.headers['x-transfer-id'])}`);
        const { digestReadBytes: read } = json['transfer'] as { digestReadBytes: number };
        // An object store does not return stored parts before the object is complete.
        if (server.connection.type === 's3') assert.equal(read, 0);
        else assert.ok(read > 0 && read <= reached - MIB, `${read} bytes read of ${reached}`);
      });

      test('a node that dies while it reads back stored bytes: another one does it again', async () => {
        const folder = newFolder();
        const content = randomBytes(9 * MIB);
        const proven = new Tus(tus.api, 'proven');
        const url = await proven.begin({ path: folder, filename: 'a.bin', overwrite: 'false' }, content.length);
        assert.equal((await proven.patch(url, 0, content.subarray(0, 7 * MIB))).status, 204);
        const other = await startNode();
        nodes.push(other);
        provenProxy.after('down', 4 * MIB, () => other.process.kill('SIGKILL'));
        await assert.rejects(new Tus(other.client(), 'proven').patch(url, 7 * MIB, content.subarray(7 * MIB)));
        assert.ok(!(await server.disk.files(folder)).includes(`${folder}/a.bin`));
        const looked = await proven.head(url);
        assert.deepEqual([looked.status, looked.headers['repr-digest']], [200, reprDigest(content)]);
        assert.deepEqual(await server.disk.files(folder), [`${folder}/a.bin`]);
        assert.ok((await server.disk.read(`${folder}/a.bin`)).equals(content));
        const receipt = await tus.api.get(`/api/transfers/${String(looked.headers['x-transfer-id'])}/receipt`);
        const payload = Buffer.from(receipt.text.split('.')[1] ?? '', 'base64url').toString();
        assert.equal((JSON.parse(payload) as { verified: string }).verified, 'readback');
      });
    });

    test('a node that dies after the file was published, and before that is recorded: another one reports it, once', async () => {
      const folder = newFolder();
      const content = randomBytes(9 * MIB);
      const filename = `published-${count}.bin`;
      const url = await tus.begin({ path: folder, filename, overwrite: 'false' }, content.length);
      assert.equal((await tus.patch(url, 0, content.subarray(0, 6 * MIB))).status, 204);
      // The history cannot be written: the file is published, and the answer is not sent.
      await sql`alter table transfers rename to transfers_away`;
      try {
        const [, other] = nodes;
        const patching = new Tus(other?.client() ?? assert.fail()).patch(url, 6 * MIB, content.subarray(6 * MIB));
        patching.catch(() => undefined);
        await eventually(
          async () => (await server.disk.files(folder)).includes(`${folder}/${filename}`),
          'it is published',
        );
        other?.process.kill('SIGKILL');
        await patching.catch(() => undefined);
      } finally {
        await sql`alter table transfers_away rename to transfers`;
      }
      const looked = await tus.head(url);
      assert.deepEqual(
        [looked.status, looked.headers['upload-offset']],
        [200, String(content.length)],
        JSON.stringify(looked.headers),
      );
      assert.ok(looked.headers['x-transfer-id']);
      assert.equal((await sql`select from transfers where filename = ${filename}`).length, 1);
      assert.equal((await sql`select state from uploads where id = ${idOf(url)}`)[0]?.['state'], 'done');
      assert.ok((await server.disk.read(`${folder}/${filename}`)).equals(content));
      assert.deepEqual(await server.disk.files(folder), [`${folder}/${filename}`]);
      held({
        area: 'Faults',
        what: 'a node is killed (SIGKILL) between the publication of a resumable upload and its record',
        done: 'the history taken away until the file has its name, then the node killed and another one asked, on SFTP, FTP and S3',
        held: 'the upload is reported as done, and is in the history once, although it may not replace a file',
        tries: 1,
      });
    });
  });
}

type S3Connection = Connection & { readonly type: 's3' };

async function withStore<T>(connection: S3Connection, work: (client: S3Client, bucket: string) => Promise<T>) {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = connection;
  const client = new S3Client({
    endpoint: endpoint ?? assert.fail(),
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  try {
    return await work(client, bucket);
  } finally {
    client.destroy();
  }
}

/** Its multipart uploads in a folder; the gateway may still be aborting those that earlier tests left elsewhere. */
function openIn(connection: S3Connection, folder: string) {
  return withStore(connection, async (client, bucket) => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    return Uploads.filter(({ Key }) => `/${Key}`.includes(`${folder}/`));
  });
}

async function abortIn(connection: S3Connection, folder: string): Promise<void> {
  const found = await openIn(connection, folder);
  assert.ok(found.length > 0, folder);
  await withStore(connection, async (client, Bucket) => {
    for (const { Key, UploadId } of found) {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    }
  });
}

describe('at once', { concurrency: true }, () => {
  before(async () => {
    // For up to four nodes of each suite.
    databases = await startSystemServer({ settings: ['max_connections=200'] });
  });
  after(() => databases?.stop());
  servers.forEach(suite);
});
