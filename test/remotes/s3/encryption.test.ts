/** Encryption of objects by the store: with its own keys, with its key management, with a key of the customer. */
import assert from 'node:assert/strict';
import { createHash, hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import type { S3Connection } from '../../../src/connections/connection.js';
import { createSecretReader } from '../../../src/connections/secrets/read-secret.js';
import { ReferencedSecrets } from '../../../src/connections/secrets/referenced-secrets.js';
import { createRemotes } from '../../../src/remotes/registry.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { listed, S3Stub, s3Error, type Answer, type StubRequest } from '../../servers/scripted-s3.js';
import { NO_STORES } from '../../connections/secrets/support/stores.js';
import { LIMITS, testDeps, TestLeftovers } from '../support/harness.js';
import { redirectTo, selfSigned } from '../support/s3-over-tls.js';
import { at, connectionTo, failsWith, fetchAll, namesIn, PART, patterned, S3Rig, store } from '../support/s3-rig.js';
import { entriesOf } from '../../support/seam.js';

const MIB = 1024 * 1024;
const SIZES = [0, 10, 2 * MIB, 2 * PART + 5];
const SSE = 'x-amz-server-side-encryption';
const KEY = Buffer.alloc(32, 'one').toString('base64');
const OTHER_KEY = Buffer.alloc(32, 'two').toString('base64');
const BY_CUSTOMER = { encryption: { type: 'customer' }, encryptionKey: KEY } as const;

const makes = ({ method, query }: StubRequest): boolean =>
  (method === 'PUT' && !query.has('partNumber')) || (method === 'POST' && query.has('uploads'));
const copies = ({ headers }: StubRequest): boolean => headers['x-amz-copy-source'] !== undefined;
const isOnContent = (request: StubRequest): boolean =>
  makes(request) ||
  request.query.has('partNumber') ||
  (request.method === 'POST' && request.query.has('uploadId')) ||
  ((request.method === 'GET' || request.method === 'HEAD') && request.key !== '');

/** The three headers of a customer's key; undefined if there are none. */
function keyIn({ headers }: StubRequest, prefix: string): string | undefined {
  const [algorithm, key, md5] = ['algorithm', 'key', 'key-md5'].map((name) => headers[`${prefix}-customer-${name}`]);
  if (key === undefined) {
    assert.deepEqual([algorithm, md5], [undefined, undefined]);
    return undefined;
  }
  const sum = createHash('md5')
    .update(Buffer.from(String(key), 'base64'))
    .digest('base64');
  assert.deepEqual([algorithm, md5], ['AES256', sum]);
  return String(key);
}
const SOURCE = 'x-amz-copy-source-server-side-encryption';

for (const uploader of ['streamed', 'sdk'] as const)
  describe(`encryption by an S3 store (${uploader})`, () => {
    let stub: S3Stub;
    const rigs: S3Rig[] = [];
    before(async () => {
      stub = await S3Stub.start(selfSigned('127.0.0.1'));
    });
    beforeEach(() => stub.reset());
    afterEach(() => {
      for (const rig of rigs.splice(0)) rig.close();
    });
    after(() => stub.stop());

    const connection = (settings: Partial<S3Connection>): S3Connection => ({
      ...connectionTo({ endpoint: stub.endpoint, bucket: 'b', uploader }),
      tlsVerify: false,
      ...settings,
    });
    const open = (settings: Partial<S3Connection>): Promise<Remote> => {
      const rig = new S3Rig(connection(settings));
      rigs.push(rig);
      return rig.open();
    };

    const useAll = async (remote: Remote): Promise<void> => {
      for (const size of SIZES) {
        const bytes = patterned(size);
        await store(remote, '/known', bytes);
        await store(remote, '/unknown', bytes, {});
        assert.ok((await fetchAll(remote, '/known')).equals(bytes));
        if (size > 5) assert.equal((await fetchAll(remote, '/known', () => ({ start: 1, end: 3 }))).length, 3);
      }
      await remote.makeFolder(at('/folder'));
      await remote.copyFrom?.(remote, at('/known'), at('/folder/copy'), { exclusive: false });
      await remote.move(at('/folder/copy'), at('/folder/moved'), { replace: true });
      await namesIn(remote, '/folder');
      await remote.stat(at('/known'));
      await remote.remove(at('/known'));
      await remote.removeTree?.(at('/folder'), () => undefined);
    };
    const answerRanges = (): void => {
      stub.late = ({ method, key, headers }) => {
        const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
        const found = stub.objects.get(key);
        if (method !== 'GET' || start === undefined || found === undefined) return undefined;
        const modified = new Date().toUTCString();
        const range = { 'content-range': `bytes ${start}-${end}/${found.length}`, 'last-modified': modified };
        return { status: 206, headers: range, body: found.subarray(Number(start), Number(end) + 1) };
      };
    };

    test('with keys of the store, and with its key management: every object that is made says so, signed', async () => {
      answerRanges();
      for (const encryption of [{ type: 'aes256' }, { type: 'kms', keyId: 'arn:aws:kms:r:1:key/k' }] as const) {
        stub.requests.length = 0;
        await useAll(await open({ encryption }));
        assert.ok(stub.requests.some(copies) && stub.requests.some(({ query }) => query.has('uploads')));
        const [algorithm, keyId] = encryption.type === 'kms' ? ['aws:kms', encryption.keyId] : ['AES256', undefined];
        for (const request of stub.requests) {
          const { method, key, headers } = request;
          const made = makes(request);
          assert.equal(headers[SSE], made ? algorithm : undefined, `${method} ${key}`);
          assert.equal(headers[`${SSE}-aws-kms-key-id`], made ? keyId : undefined, `${method} ${key}`);
          if (made) assert.match(headers.authorization ?? '', /SignedHeaders=[^,]*x-amz-server-side-encryption/);
          assert.equal(keyIn(request, SSE), undefined);
        }
      }
    });

    test("with the customer's key: all requests on content carry it, copies for both objects, and no others", async () => {
      answerRanges();
      await useAll(await open(BY_CUSTOMER));
      assert.ok(stub.requests.some(copies) && stub.requests.some(({ query }) => query.has('uploads')));
      for (const request of stub.requests) {
        const what = `${request.method} ${request.key} ${request.query.toString()}`;
        assert.equal(keyIn(request, SSE), isOnContent(request) ? KEY : undefined, what);
        assert.equal(keyIn(request, SOURCE), copies(request) ? KEY : undefined, what);
        assert.equal(request.headers[SSE], undefined, what);
        if (isOnContent(request)) {
          assert.match(request.headers.authorization ?? '', /SignedHeaders=[^,]*encryption-customer-key;/);
        }
      }
    });

    test('the store copies only between connections with the same key', async () => {
      const [mine, same] = [await open(BY_CUSTOMER), await open(BY_CUSTOMER)];
      const others = [await open({ ...BY_CUSTOMER, encryptionKey: OTHER_KEY }), await open({})];
      await store(mine, '/f', patterned(10));
      assert.ok(await same.copyFrom?.(mine, at('/f'), at('/same'), { exclusive: false }));
      for (const other of others) {
        assert.equal(await other.copyFrom?.(mine, at('/f'), at('/other'), { exclusive: false }), undefined);
        assert.equal(await mine.copyFrom?.(other, at('/f'), at('/other'), { exclusive: false }), undefined);
      }
    });

    test('what has no key, or another one, is listed, in the way of a new file, and removed', async () => {
      const [plain, remote] = [await open({}), await open(BY_CUSTOMER)];
      await plain.makeFolder(at('/in/folder'));
      await plain.makeFolder(at('/in'), { isLasting: true });
      await store(plain, '/in/plain', patterned(10));
      const isPlain = ({ key }: StubRequest): boolean => ['in/', 'in/folder/', 'in/plain'].includes(key);
      const words = 'The encryption parameters are not applicable to this object.';
      const folder = '<IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>in/folder/</Prefix></CommonPrefixes>';
      stub.late = (request) => {
        const { query } = request;
        if (query.has('delimiter') && query.get('prefix') === 'in/') return listed(['in/', 'in/plain'], folder);
        if (!isPlain(request) || keyIn(request, SSE) === undefined) return undefined;
        if (request.method === 'HEAD') return { status: 400 };
        return request.method === 'GET' ? s3Error(400, 'InvalidRequest', words) : undefined;
      };
      const entries: string[] = [];
      for await (const { name, modifiedAt } of entriesOf(remote.list(at('/in'), { folderTimes: true }))) {
        assert.ok(modifiedAt.getTime() > 0, name);
        entries.push(name);
      }
      assert.deepEqual(entries, ['folder', 'plain']);
      assert.equal((await remote.stat(at('/in/plain'))).isDirectory, false);
      const exclusive = { exclusive: true };
      const stored = store(remote, '/in/plain', patterned(20), { size: 20, ...exclusive }, exclusive);
      await assert.rejects(stored, failsWith('already_exists'));
      await assert.rejects(
        fetchAll(remote, '/in/plain', () => ({ start: 0, end: 0 })),
        failsWith('remote_failure', /refused/),
      );
      await remote.remove(at('/in/plain'));
      await remote.removeFolder(at('/in/folder'));
      assert.deepEqual([...stub.objects.keys()], ['in/']);
    });

    test('a connection that has lost its key stores nothing', async () => {
      await assert.rejects(open({ encryption: { type: 'customer' } }), failsWith('login_refused', /encryption\.key/));
      assert.equal(stub.requests.length, 0);
    });

    test('a refusal keeps its words but not a quoted key; the card names the kind', async () => {
      const remote = await open(BY_CUSTOMER);
      assert.equal(remote.facts['encryption'], 'customer');
      const words = `The calculated MD5 hash of the key ${KEY} did not match.`;
      stub.late = (request) => (makes(request) ? s3Error(400, 'InvalidArgument', words) : undefined);
      await assert.rejects(store(remote, '/f', patterned(10)), (error: { remote?: { text?: string } }) => {
        assert.match(error.remote?.text ?? '', /MD5 hash of the key … did not match/);
        return failsWith('remote_failure')(error);
      });
    });
  });

test('a key that is read by reference is checked, and read again when it is not usable', async (t) => {
  const stub = await S3Stub.start(selfSigned('127.0.0.1'));
  t.after(() => stub.stop());
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-key-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'key');
  const secrets = new ReferencedSecrets({
    read: createSecretReader(NO_STORES, {}),
    refreshMinutes: 15,
    betweenReadsMs: 0,
    configured: [],
    log: () => undefined,
  });
  const remotes = createRemotes({ ...testDeps(), limits: { default: LIMITS, hosts: {} }, secrets });
  t.after(() => remotes.close());
  const connection: S3Connection = {
    ...connectionTo({ endpoint: stub.endpoint, bucket: 'b' }),
    tlsVerify: false,
    encryption: { type: 'customer' },
    references: { encryptionKey: `file:${file}` },
  };
  const use = { signal: new AbortController().signal, leftovers: () => new TestLeftovers() };
  const put = (): Promise<unknown> => remotes.use(connection, use, (remote) => store(remote, '/f', patterned(10)));
  const source = `encryptionKey is read from file:${file}`;
  await assert.rejects(put(), { code: 'login_refused', message: `${source}, which does not exist` });
  for (const text of ['PLANTED', `${KEY}A`, Buffer.alloc(16, 'short').toString('base64'), `${KEY}\n${KEY}\n`]) {
    writeFileSync(file, text);
    const message = `encryption.key is not 32 bytes in base64; ${source}`;
    await assert.rejects(put(), { code: 'login_refused', step: 'login', message });
  }
  assert.ok(!stub.requests.some(makes));
  writeFileSync(file, `${KEY}\n`);
  await put();
  const sent = stub.requests.filter(makes).map((request) => keyIn(request, SSE));
  assert.ok(sent.length > 0 && sent.every((key) => key === KEY));
});

describe('a lost answer to joining the parts of an encrypted object', () => {
  const bytes = patterned(2 * PART + 5);
  /** AWS, whose ETags of encrypted parts are no digests. */
  const lostAnswer = async (sum: (crcs: readonly Buffer[]) => string) => {
    const stub = await S3Stub.start(selfSigned('localhost'));
    const aws = { ...connectionTo({ endpoint: '', bucket: 'b' }), endpoint: undefined, ...BY_CUSTOMER };
    const rig = new S3Rig(aws);
    redirectTo(stub, rig);
    const crcs = new Map<number, Buffer>();
    stub.late = ({ method, query, headers, incoming }): Answer | 'taken' | undefined => {
      if (method === 'PUT' && query.has('partNumber')) {
        const crc = String(headers['x-amz-checksum-crc32']);
        const number = Number(query.get('partNumber'));
        crcs.set(number, Buffer.from(crc, 'base64'));
        return { headers: { etag: `"${hash('md5', `opaque ${number}`)}"`, 'x-amz-checksum-crc32': crc } };
      }
      if (method === 'POST' && query.has('uploadId')) {
        if (stub.objects.has('f')) return s3Error(404, 'NoSuchUpload');
        stub.objects.set('f', bytes);
        incoming.socket.destroy();
        return 'taken';
      }
      if (method !== 'HEAD' || !stub.objects.has('f')) return undefined;
      const all = [...crcs].sort(([a], [b]) => a - b).map(([, crc]) => crc);
      const withSum: Record<string, string> =
        headers['x-amz-checksum-mode'] === 'ENABLED' ? { 'x-amz-checksum-crc32': sum(all) } : {};
      return {
        headers: {
          etag: '"0123456789abcdef0123456789abcdef-3"',
          'content-length': String(bytes.length),
          'last-modified': new Date().toUTCString(),
          ...withSum,
        },
      };
    };
    const close = async (): Promise<void> => {
      rig.close();
      await stub.stop();
    };
    return { remote: await rig.open(), notes: rig.notes, close };
  };

  test('is resolved by the checksum of the parts', async (t) => {
    const { remote, notes, close } = await lostAnswer((crcs) => {
      const sum = Buffer.alloc(4);
      sum.writeUInt32BE(crc32(Buffer.concat(crcs)));
      return `${sum.toString('base64')}-${crcs.length}`;
    });
    t.after(close);
    const info = await store(remote, '/f', bytes, {});
    assert.deepEqual([info.size, notes.multiparts.size], [bytes.length, 0]);
  });

  test('is an error if the object is another one', async (t) => {
    const { remote, close } = await lostAnswer(() => 'AAAAAA==-3');
    t.after(close);
    await assert.rejects(store(remote, '/f', bytes, {}), failsWith('remote_failure'));
  });
});
