/** A node in this process that takes multipart uploads: the real remotes, over a database that several nodes share. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { createValidator } from '../../src/config/validate.js';
import type { Connection } from '../../src/connections/connection.js';
import { CONNECTION_TYPES } from '../../src/contract/connection/types.js';
import { Sweeper } from '../../src/operations/leftovers.js';
import { LiveTransfers } from '../../src/operations/live.js';
import { Operations } from '../../src/operations/operation.js';
import { fixedPath } from '../../src/operations/path-reference.js';
import { createDialer } from '../../src/remotes/dial/dial.js';
import { parseRemotePath, ROOT } from '../../src/remotes/path.js';
import { createRemotes } from '../../src/remotes/registry.js';
import type { Storage } from '../../src/storage/storage.js';
import type { UploadRequest } from '../../src/uploads/file.js';
import type { MultipartUploads } from '../../src/uploads/multipart.js';
import { createUploads } from '../../src/uploads/uploads.js';
import { openTest } from '../storage/databases.js';

const KEY = 'ftg_key-of-the-multipart-tests';
const MIB = 1024 * 1024;

export interface PartNode {
  readonly storage: Storage;
  readonly multipart: MultipartUploads;
  readonly service: ReturnType<typeof createUploads>['service'];
  readonly expiry: ReturnType<typeof createUploads>['expiry'];
  readonly accountId: string;
  request(changes?: Partial<UploadRequest>): Promise<UploadRequest>;
  begin(path: string): Promise<string>;
  write(
    id: string,
    number: number,
    content: Buffer | Readable,
    size?: number,
  ): ReturnType<MultipartUploads['writePart']>;
  /** Removes a file from the server. */
  remove(path: string): Promise<void>;
  /** As a crash does: what it held stays held. */
  drop(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPartNode(
  databaseUrl: string,
  connection: object,
  { unfinished = 100, maxBytes = 0 }: { readonly unfinished?: number; readonly maxBytes?: number } = {},
): Promise<PartNode> {
  const account = { email: 'parts@example.com', plan: 'pro', apiKeys: [{ name: 'test', key: KEY }] };
  const tree = {
    accounts: [{ ...account, connections: [{ id: 'c1', name: 'Server', ...connection }] }],
    pools: { default: { maxSessions: 10 } },
    uploads: { unfinishedPerAccount: unfinished },
    streams: { s3PartBytes: 5 * MIB },
  };
  const origin = { placeOf: () => undefined, isVariable: () => false, writtenAt: () => undefined };
  const outcome = createValidator(CONNECTION_TYPES)(tree, origin);
  assert.ok('config' in outcome, 'mistakes' in outcome ? JSON.stringify(outcome.mistakes) : '');
  const { config } = outcome;
  const storage = await openTest(databaseUrl);
  await storage.provision(config.accounts);
  const remotes = createRemotes({
    dialer: createDialer(config.network, () => []),
    limits: config.pools,
    tuning: config.streams,
    trust: { checkHostKey: async () => undefined },
    log: () => undefined,
    warn: () => undefined,
  });
  const log = (): void => undefined;
  const sweeper = new Sweeper({ store: storage.leftovers, connections: storage.connections, remotes, log });
  const operations = new Operations({
    storage,
    remotes,
    live: new LiveTransfers(),
    plans: config.limits.plans,
    leftovers: (of) => sweeper.for(of),
  });
  const { service, expiry, multipart } = createUploads({ storage, operations, config: config.uploads, maxBytes, log });
  const caller = await storage.keys.findKey(KEY);
  assert.ok(caller);
  const found = (await storage.connections.find(caller.accountId, 'c1')) as Connection;
  const request = async (changes: Partial<UploadRequest> = {}): Promise<UploadRequest> => ({
    caller,
    connection: found,
    type: 'upload',
    path: '/asked',
    filename: 'asked',
    signal: new AbortController().signal,
    ...changes,
  });
  return {
    storage,
    multipart,
    service,
    expiry,
    accountId: caller.accountId,
    request,
    begin: async (path) => {
      const file = fixedPath(parseRemotePath(path, ROOT, 'path'));
      const { id } = await multipart.create(await request(), { file });
      paths.set(id, path);
      return id;
    },
    write: async (id, number, content, size) => {
      const body = Buffer.isBuffer(content) ? Readable.from(chunksOf(content), { objectMode: false }) : content;
      const bytes = size ?? (Buffer.isBuffer(content) ? content.length : 0);
      return multipart.writePart(await request({ path: pathOf(id) }), id, { number, size: bytes, body });
    },
    remove: (path) => {
      const use = { signal: new AbortController().signal, leftovers: () => sweeper.for(found) };
      return remotes.use(found, use, (remote) => remote.remove(parseRemotePath(path, ROOT, 'path')));
    },
    drop: async () => {
      await storage.close();
      remotes.close();
    },
    stop: async () => {
      await expiry.stop();
      await sweeper.stop();
      remotes.close();
      await storage.close();
    },
  };
}

/** The paths of uploads by id: any node continues what another one has begun. */
const paths = new Map<string, string>();

export const pathOf = (id: string): string => paths.get(id) ?? '/asked';

function* chunksOf(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 64 * 1024) yield content.subarray(at, at + 64 * 1024);
}
