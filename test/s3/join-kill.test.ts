/**
 * A node is killed (SIGKILL) while it joins the parts of a multipart upload, on servers that keep each part as a hidden
 * file. Another node completes the upload, aborts it, or removes it when it has expired.
 */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { LIMITED_VSFTPD, OTHER_SFTP, type ServerEntry, type TestServer } from '../servers/catalogue.js';
import { type PostgresServer, startPostgres } from '../servers/postgres.js';
import { TEST_KEY, tellDue, withSql } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { clientOf, PAIR } from './suite.js';

const MIB = 1024 * 1024;
const PART_BYTES = [5 * MIB, 5 * MIB, 100_000];
const WHOLE_BYTES = PART_BYTES.reduce((sum, size) => sum + size, 0);
/** A join takes some seconds, on any machine. */
const BYTES_PER_SECOND = 8 * MIB;
const BUCKET = 'c1';
/** The lease of the dead node has to expire. */
const TRIES_MS = 120_000;
const AGAIN_MS = 500;

interface Node {
  readonly gateway: TestGateway;
  readonly client: S3Client;
}

interface Begun {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string;
}

const joinsParts = (name: string): boolean => name === 'rclone' || name === 'vsftpd that goes on in no file';

describe('a node is killed while it joins parts', { concurrency: 1 }, () => {
  for (const entry of [...OTHER_SFTP, ...LIMITED_VSFTPD]) if (joinsParts(entry.name)) killOn(entry);
});

function killOn(entry: ServerEntry): void {
  describe(entry.name, { concurrency: 1 }, () => {
    let server: TestServer;
    let database: PostgresServer;
    /** Takes over from those that are killed. */
    let other: Node;
    const nodes: Node[] = [];

    before(async () => {
      [server, database] = await Promise.all([entry.start(), startPostgres()]);
      other = await startNode();
    });
    after(async () => {
      await Promise.all(nodes.map(({ gateway }) => gateway.stop()));
      await Promise.all([server?.stop(), database?.stop()]);
    });

    async function startNode(): Promise<Node> {
      const gateway = await startGateway({
        env: { GATEWAY_MASTER_KEY: TEST_KEY },
        connections: [{ id: BUCKET, name: 'Server', ...server.connection, bytesPerSecond: BYTES_PER_SECOND }],
        apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
        config: { database: { url: database.url }, s3: { enabled: true }, server: { drainSeconds: 1 } },
      });
      const node = { gateway, client: clientOf(gateway) };
      nodes.push(node);
      return node;
    }

    const folderOf = (key: string): string => `/${key.slice(0, key.lastIndexOf('/'))}`;
    const filesOf = ({ Key }: Begun): Promise<string[]> => server.disk.files(folderOf(Key));

    /** What the database knows of hidden files beside that of the upload. */
    const hiddenOf = ({ UploadId }: Begun): Promise<string[]> =>
      withSql(database.url, async (sql) => {
        const rows = await sql<{ path: string }[]>`select path from multipart_files where upload_id = ${UploadId}`;
        return rows.map(({ path }) => path);
      });

    /** Bytes on the disk of what was not there before. */
    async function joinedBytes(upload: Begun, before: readonly string[]): Promise<number> {
      const [joined] = (await hiddenOf(upload)).filter((file) => !before.includes(file));
      if (joined === undefined) return 0;
      return (await server.disk.read(joined).catch(() => Buffer.alloc(0))).length;
    }

    /** Sends parts to a node, and kills it during the join. */
    async function cutJoin(key: string, parts: readonly Buffer[]): Promise<{ upload: Begun; sent: CompletedPart[] }> {
      const { gateway, client } = await startNode();
      const at = { Bucket: BUCKET, Key: `${(server.base ?? '').replace(/^\//, '')}/${key}`.replace(/^\//, '') };
      const { UploadId = '' } = await client.send(new CreateMultipartUploadCommand(at));
      const upload = { ...at, UploadId };
      const sent: CompletedPart[] = [];
      for (const [index, Body] of parts.entries()) {
        const part = { ...upload, PartNumber: index + 1, Body };
        const { ETag } = await client.send(new UploadPartCommand(part));
        sent.push({ PartNumber: index + 1, ETag });
      }
      const before = await hiddenOf(upload);
      assert.ok(before.length > 0, 'parts are hidden files of their own');
      const order = { ...upload, MultipartUpload: { Parts: sent } };
      const completing = assert.rejects(client.send(new CompleteMultipartUploadCommand(order)));
      let joined = 0;
      await eventually(async () => (joined = await joinedBytes(upload, before)) > MIB, 'some parts are joined');
      await gateway.kill();
      client.destroy();
      await completing;
      assert.ok(joined < WHOLE_BYTES, `${joined} bytes were joined`);
      assert.deepEqual((await filesOf(upload)).includes(`/${upload.Key}`), false, 'the object is not visible');
      await assert.rejects(other.client.send(new HeadObjectCommand(at)), { name: 'NotFound' });
      return { upload, sent };
    }

    /** A call that fails is made again, until the lease of the dead node is over. */
    async function insist<T>(call: () => Promise<T>): Promise<T> {
      const until = performance.now() + TRIES_MS;
      for (;;) {
        try {
          return await call();
        } catch (error) {
          if (performance.now() > until) throw error;
          await delay(AGAIN_MS);
        }
      }
    }

    async function requireNothing(upload: Begun): Promise<void> {
      await eventually(async () => (await filesOf(upload)).length === 0, 'nothing is left on the server');
      await eventually(async () => (await hiddenOf(upload)).length === 0, 'no hidden file is remembered');
    }

    const newParts = (): Buffer[] => PART_BYTES.map((size) => randomBytes(size));

    test('another node completes the upload', async () => {
      const parts = newParts();
      const { upload, sent } = await cutJoin('completed/file.bin', parts);
      const order = { ...upload, MultipartUpload: { Parts: sent } };
      await insist(() => other.client.send(new CompleteMultipartUploadCommand(order)));
      assert.ok((await server.disk.read(`/${upload.Key}`)).equals(Buffer.concat(parts)));
      await eventually(async () => (await filesOf(upload)).length === 1, 'the object alone is left');
    });

    test('another node aborts the upload', async () => {
      const { upload } = await cutJoin('aborted/file.bin', newParts());
      await insist(() => other.client.send(new AbortMultipartUploadCommand(upload)));
      await requireNothing(upload);
    });

    test('the upload expires', async () => {
      const { upload } = await cutJoin('expired/file.bin', newParts());
      await withSql(database.url, async (sql) => {
        await sql`update uploads set expires_at = now() - interval '1 s' where id = ${upload.UploadId}`;
        await tellDue(sql, 'uploads');
      });
      await requireNothing(upload);
      held({
        area: 'Faults',
        what: 'a node is killed (SIGKILL) while it joins the parts of a multipart upload',
        done: 'once some of the bytes are joined, on SFTP and FTP servers that keep parts as files of their own; another node completes the upload, aborts it, or lets it expire',
        held: 'the object is not seen before it is whole; completed, it is whole and the only file; aborted or expired, nothing is left',
        tries: 3,
      });
    });
  });
}
