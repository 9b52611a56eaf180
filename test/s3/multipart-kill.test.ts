/**
 * Nodes are killed (SIGKILL) between the calls of multipart uploads and during their parts. A failure is a file that is
 * visible before it is whole, an upload that was answered and is missing or has other bytes, or anything that is left
 * once the uploads that did not end are aborted.
 *
 * S3_KILL_UPLOADS sets their number, and how many kills there are at most (default 24; the documented run had 500).
 */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { OPENSSH, S3_SERVERS, type ServerEntry, type TestServer, VSFTPD } from '../servers/catalogue.js';
import { type PostgresServer, startPostgres } from '../servers/postgres.js';
import { TEST_KEY, withSql } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { clientOf, PAIR } from './suite.js';

const UPLOADS = Number(process.env['S3_KILL_UPLOADS'] ?? 24);
const AT_ONCE = 4;
const MIB = 1024 * 1024;
const PART_BYTES = [5 * MIB, 5 * MIB, 100_000];
const BUCKET = 'c1';
/** After the last kill: the part of a dead node can be written again once its lease has expired. */
const TRIES_MS = 180_000;
const AGAIN_MS = 500;

describe('nodes are killed under multipart uploads', { concurrency: 1 }, () => {
  for (const [entry] of [OPENSSH, VSFTPD, S3_SERVERS]) {
    if (entry !== undefined)
      test(entry.name, { timeout: 900_000 }, (context) => storm(entry, context.diagnostic.bind(context)));
  }
});

async function storm(entry: ServerEntry, say: (text: string) => void): Promise<void> {
  const [server, database] = await Promise.all([entry.start(), startPostgres()]);
  const cluster = new Cluster(server, database);
  try {
    await cluster.start();
    const base = `${(server.base ?? '').replace(/^\//, '')}/killed`.replace(/^\//, '');
    const queue = new PQueue({ concurrency: AT_ONCE });
    const contents = new Map<string, string>();
    const answered = new Set<string>();
    const uploads = queue.addAll(
      Array.from({ length: UPLOADS }, (_, index) => async () => {
        const key = `${base}/${index}.bin`;
        const parts = PART_BYTES.map((size) => randomBytes(size));
        contents.set(key, digestOf(...parts));
        if (await upload(cluster, key, parts)) answered.add(key);
      }),
    );
    await Promise.all([uploads, cluster.killUntil(() => queue.size + queue.pending === 0)]);
    const visible = (await server.disk.files(`/${base}`)).filter((file) => !/\/\.|\?upload$/.test(file));
    for (const file of visible) assert.equal(digestOf(await server.disk.read(file)), contents.get(file.slice(1)), file);
    const missing = [...answered].filter((key) => !visible.includes(`/${key}`));
    assert.deepEqual(missing, [], 'uploads that were answered');
    const unknown = await cluster.cutCreations();
    await cluster.abortAll();
    const left = async (): Promise<readonly string[]> => {
      const files = (await server.disk.files(`/${base}`)).filter((file) => !visible.includes(file));
      // The store began an upload, and the node was killed before it knew its id.
      return files.filter((file) => !unknown.some((key) => file === `${key}?upload`));
    };
    await eventually(async () => (await left()).length === 0, 'nothing is left of the others').catch(async (error) => {
      throw new Error(`left: ${(await left()).join(', ')}`, { cause: error });
    });
    say(`${answered.size} of ${UPLOADS} uploads answered, ${visible.length} files, ${cluster.kills} kills`);
    assert.ok(cluster.kills > 0 && answered.size > 0);
    held({
      area: 'Faults',
      what: 'nodes are killed (SIGKILL) under multipart uploads of the S3 front',
      done: 'at random on two nodes, between the calls and during the parts, on SFTP, FTP and S3',
      held: 'what was answered is there and whole, nothing is seen before its end, nothing is left of what was aborted',
      tries: cluster.kills,
    });
  } finally {
    await cluster.stop();
    await Promise.all([server.stop(), database.stop()]);
  }
}

const digestOf = (...parts: Buffer[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** Whether its completion was answered. A call that fails is made again, on any node. */
async function upload(cluster: Cluster, Key: string, parts: readonly Buffer[]): Promise<boolean> {
  const at = { Bucket: BUCKET, Key };
  const { UploadId } = await cluster.try((client) => client.send(new CreateMultipartUploadCommand(at)));
  const sent = await Promise.all(
    parts.map(async (Body, index) => {
      const PartNumber = index + 1;
      const part = { ...at, UploadId, PartNumber, Body };
      const { ETag } = await cluster.try((client) => client.send(new UploadPartCommand(part)));
      return { PartNumber, ETag };
    }),
  );
  const order = { ...at, UploadId, MultipartUpload: { Parts: sent } };
  await cluster.try((client) => client.send(new CompleteMultipartUploadCommand(order)));
  return true;
}

class Cluster {
  readonly #server: TestServer;
  readonly #database: PostgresServer;
  readonly #nodes: { gateway: TestGateway; client: S3Client }[] = [];
  kills = 0;
  #killedAt = performance.now();

  constructor(server: TestServer, database: PostgresServer) {
    this.#server = server;
    this.#database = database;
  }

  async start(): Promise<void> {
    this.#nodes.push(await this.#startNode(), await this.#startNode());
  }

  /** Any node answers, some time. */
  async try<T>(call: (client: S3Client) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call(this.#node(randomInt(2)).client);
      } catch (error) {
        if (performance.now() > this.#killedAt + TRIES_MS) throw error;
        await delay(AGAIN_MS);
      }
    }
  }

  async killUntil(isOver: () => boolean): Promise<void> {
    while (!isOver() && this.kills < UPLOADS) {
      await delay(randomInt(500, 3_000));
      const index = randomInt(2);
      const { gateway, client } = this.#node(index);
      await gateway.kill();
      client.destroy();
      this.kills += 1;
      this.#killedAt = performance.now();
      this.#nodes[index] = await this.#startNode();
    }
  }

  async abortAll(): Promise<void> {
    const { Uploads = [] } = await this.try((any) => any.send(new ListMultipartUploadsCommand({ Bucket: BUCKET })));
    for (const { Key, UploadId } of Uploads) {
      await this.try((any) => any.send(new AbortMultipartUploadCommand({ Bucket: BUCKET, Key, UploadId })));
    }
  }

  /** The paths of uploads that were cut while they began. */
  cutCreations(): Promise<readonly string[]> {
    return withSql(this.#database.url, async (sql) => {
      const rows = await sql<{ path: string }[]>`select path from uploads where store_id = ''`;
      return rows.map(({ path }) => path);
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map(({ gateway }) => gateway.stop()));
  }

  #node(index: number): { gateway: TestGateway; client: S3Client } {
    const node = this.#nodes[index];
    if (node === undefined) throw new Error(`no node ${index}`);
    return node;
  }

  async #startNode(): Promise<{ gateway: TestGateway; client: S3Client }> {
    const gateway = await startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      connections: [{ id: BUCKET, name: 'Server', ...this.#server.connection }],
      apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
      config: { database: { url: this.#database.url }, s3: { enabled: true }, server: { drainSeconds: 1 } },
    });
    return { gateway, client: clientOf(gateway) };
  }
}
