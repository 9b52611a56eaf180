/**
 * Requests about one object are signed and sent without the SDK: the signature must be the same, and the SDK handles every answer
 * that is not a plain success.
 */
import { S3Client } from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import type { ErrorCode } from '../../../src/contract/errors.js';
import { putWhole } from '../../../src/remotes/whole.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { at, connectionTo, failsWith, namesIn, patterned, S3Rig } from '../support/s3-rig.js';
import { type Answer, listed, s3Error, S3Stub } from '../../servers/scripted-s3.js';
import { ended, startUpgrading, SWITCHING } from '../../servers/upgrading.js';

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

suite('short objects', () => {
  async function setUp(t: TestContext): Promise<[S3Stub, Remote]> {
    const stub = await S3Stub.start();
    const rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b', ...KEYS }));
    t.after(async () => {
      rig.close();
      await stub.stop();
    });
    const { connection } = rig;
    return [stub, await rig.open(undefined, { ...connection, sessionToken: 'a-token' })];
  }

  test('are signed as the SDK signs them, with any names', async (t) => {
    const [stub, remote] = await setUp(t);
    const names = ["a b+c(1)*!'~.txt", 'é/ü%41&=?#', '日本/語', 'x'.repeat(200)];
    for (const name of names) {
      const options = { modifiedAt: new Date('2024-02-29T12:34:56.789Z'), exclusive: name.startsWith('é') };
      await putWhole(remote, at(`/${name}`), patterned(100), options);
    }
    await putWhole(remote, at('/empty'), Buffer.alloc(0));
    const puts = stub.requests.filter(({ method }) => method === 'PUT');
    assert.deepEqual(
      puts.map(({ key }) => key),
      [...names, 'empty'],
    );
    stub.early = ({ headers: { range } }) =>
      range === undefined
        ? undefined
        : {
            status: 206,
            headers: { 'content-range': 'bytes 10-19/100', 'last-modified': 'Thu, 29 Feb 2024 12:34:56 GMT' },
            body: patterned(100).subarray(10, 20),
          };
    for (const name of names) {
      const { whole } = await remote.read(at(`/${name}`));
      assert.ok(whole?.equals(patterned(100)));
      const part = await remote.read(at(`/${name}`), () => ({ start: 10, end: 19 }));
      assert.ok(Buffer.concat((await part.body?.toArray()) ?? []).equals(patterned(100).subarray(10, 20)));
      await remote.remove(at(`/${name}`), { etag: (await remote.stat(at(`/${name}`))).etag ?? '' });
    }
    const asked = stub.requests.filter(({ key }) => key !== '');
    assert.deepEqual(new Set(asked.map(({ method }) => method)), new Set(['PUT', 'GET', 'HEAD', 'DELETE']));
    assert.ok(asked.some(({ headers }) => headers['if-match'] !== undefined && headers.range !== undefined));
    const client = new S3Client({ region: 'us-east-1', credentials: { ...KEYS, sessionToken: 'a-token' } });
    const signer = await client.config.signer({
      name: 'sigv4',
      signingName: 's3',
      signingRegion: 'us-east-1',
    } as never);
    assert.ok(stub.requests.some(({ query }) => names.some((name) => query.get('prefix') === `${name}/`)));
    for (const { method, incoming, headers, body, query } of stub.requests) {
      const { authorization = '', 'x-amz-date': time, ...others } = headers;
      const [, names = ''] = /SignedHeaders=([^,]+),/.exec(authorization) ?? [];
      const kept = Object.entries(others).filter(([name]) => names.split(';').includes(name)) as [string, string][];
      const [, date, hours] = /^(\d{8})T(\d{6})Z$/.exec(String(time)) ?? [];
      const signed = await signer.sign(
        {
          method,
          protocol: 'http:',
          hostname: '127.0.0.1',
          path: (incoming.url ?? '').replace(/\?.*/, ''),
          query: Object.fromEntries(query),
          body,
          headers: Object.fromEntries(kept),
        },
        { signingDate: new Date(`${date?.replace(/(....)(..)/, '$1-$2-')}T${hours?.replace(/(..)(..)/, '$1:$2:')}Z`) },
      );
      assert.equal(authorization, signed.headers['authorization']);
      assert.ok(names.includes('x-amz-content-sha256') && names.includes('host'), names);
    }
  });

  test('an answer that is not a plain success is handled by the SDK, without sending the request again', async (t) => {
    const [stub, remote] = await setUp(t);
    const answers = [
      [s3Error(403, 'AccessDenied'), 'permission_denied'],
      [s3Error(413, 'EntityTooLarge'), 'too_large'],
      [{ status: 302, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'protocol_error'],
    ] as const;
    for (const [answer, code] of answers) {
      stub.requests.length = 0;
      stub.late = ({ method }) => (method === 'PUT' ? answer : undefined);
      await assert.rejects(putWhole(remote, at('/f'), patterned(10)), failsWith(code));
      assert.equal(stub.requests.filter(({ method }) => method === 'PUT').length, 1);
    }
    stub.late = ({ method }) =>
      method === 'PUT' ? { headers: { etag: '"e"' }, body: '<?xml version="1.0"?><a/>' } : undefined;
    assert.equal((await putWhole(remote, at('/f'), patterned(10))).etag, 'e', 'a yes with words');
  });

  test('a name is free if the store plainly says so; otherwise the SDK asks', async (t) => {
    const [stub, remote] = await setUp(t);
    const list = listed([]);
    const long = { ...list, body: `<!--${'x'.repeat(20_000)}-->${String(list.body)}` };
    const answers: readonly [name: string, answer: Answer, lists: readonly string[], code?: ErrorCode][] = [
      ['free', list, ['v2']],
      ['folder', listed(['f/below']), ['v2', 'v2'], 'is_a_folder'],
      ['long', long, ['v2', 'v2']],
      ['forbidden', s3Error(403, 'AccessDenied'), ['v2']],
      ['no list', { body: '<html></html>' }, ['v2', 'v2'], 'protocol_error'],
      ['cut', { ...list, body: String(list.body).slice(0, -5) }, ['v2', 'v2'], 'protocol_error'],
      ['old', s3Error(501, 'NotImplemented'), ['v2', 'v2', 'v1'], 'remote_failure'],
      ['known to be old', list, ['v1']],
    ];
    for (const [name, answer, lists, code] of answers) {
      stub.requests.length = 0;
      stub.objects.clear();
      stub.early = ({ method, key }) => (method === 'GET' && key === '' ? answer : undefined);
      const stored = putWhole(remote, at('/f'), patterned(10));
      if (code === undefined) await stored;
      else await assert.rejects(stored, failsWith(code), name);
      const asked = stub.requests.filter(({ method }) => method === 'GET');
      assert.deepEqual(
        asked.map(({ query }) => (query.has('list-type') ? 'v2' : 'v1')),
        lists,
        name,
      );
    }
  });

  test('a store that changes the protocol ends the request', async (t) => {
    const [stub, remote] = await setUp(t);
    const left = new Promise<void>((done) => {
      stub.early = ({ method, incoming: { socket } }) => {
        if (method !== 'PUT') return undefined;
        socket.once('close', () => done()).write(SWITCHING);
        return 'taken';
      };
    });
    const stored = putWhole(remote, at('/f'), patterned(10));
    await assert.rejects(ended(stored, { left }), failsWith('protocol_error', /does not speak HTTP/));
  });

  test('the same, for a request of the SDK: it ends in time', { timeout: 900_000 }, async (t) => {
    const store = await startUpgrading(t);
    const rig = new S3Rig(connectionTo({ endpoint: store.url.href, bucket: 'b', ...KEYS }), {
      limits: { stallTimeoutMs: 100 },
    });
    t.after(() => rig.close());
    await assert.rejects(namesIn(await rig.open(), '/'), failsWith('stall_timeout'));
  });

  test('a busy store is asked three times in all', async (t) => {
    const [stub, remote] = await setUp(t);
    stub.late = ({ method }) => (method === 'PUT' ? s3Error(503, 'SlowDown') : undefined);
    await assert.rejects(putWhole(remote, at('/f'), patterned(10)), failsWith('remote_failure', /fewer requests/));
    assert.equal(stub.requests.filter(({ method }) => method === 'PUT').length, 3);
  });
});
