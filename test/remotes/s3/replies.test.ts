import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { streamOf } from '../../../src/remotes/whole.js';
import {
  at,
  chunked,
  connectionTo,
  failsWith,
  fetchAll,
  finish,
  namesIn,
  PART,
  patterned,
  S3Rig,
  store,
} from '../support/s3-rig.js';
import { listed, S3Stub, s3Error, xml, type Answer } from '../../servers/scripted-s3.js';
import { redirectTo, selfSigned } from '../support/s3-over-tls.js';
import { freePort } from '../../support/ports.js';
import { entriesOf } from '../../support/seam.js';

const MIB = 1024 * 1024;

/** Answers that no available store can be made to give. */
describe('s3 answers', () => {
  let stub: S3Stub;
  let rig: S3Rig;
  let remote: Remote;

  before(async () => {
    stub = await S3Stub.start();
  });
  beforeEach(async () => {
    stub.reset();
    rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b' }));
    remote = await rig.open();
  });
  afterEach(() => rig.close());
  after(() => stub.stop());

  describe('a whole folder', () => {
    const fill = (...keys: string[]): void => {
      for (const key of keys) stub.objects.set(key, Buffer.from('x'));
    };
    const removeTree = async (): Promise<number> => {
      let removed = 0;
      await remote.removeTree?.(at('/t'), (entries) => void (removed += entries));
      return removed;
    };

    test('goes in one request, with the checksum that old stores require, for any keys', async () => {
      fill('t/', 't/a', 't/b//c', 't/./d', 'u', 't');
      assert.equal(await removeTree(), 4);
      assert.deepEqual([...stub.objects.keys()], ['u', 't']);
      assert.deepEqual(stub.asked, ['GET ?list-type', 'POST ?delete']);
      const sent = stub.requests.find(({ query }) => query.has('delete'));
      assert.equal(
        sent?.headers['content-md5'],
        createHash('md5')
          .update(sent?.body ?? '')
          .digest('base64'),
      );
    });

    test('what a batch leaves is removed alone, which shows the reason', async () => {
      fill('t/a', 't/locked', 't/z');
      stub.late = ({ method, key, query }) => {
        if (method === 'DELETE' && key === 't/locked') return s3Error(403, 'AccessDenied', 'locked');
        if (!query.has('delete')) return undefined;
        stub.objects.delete('t/a');
        stub.objects.delete('t/z');
        return xml('<DeleteResult><Error><Key>t/locked</Key><Code>AccessDenied</Code></Error></DeleteResult>');
      };
      await assert.rejects(removeTree(), failsWith('permission_denied', /\/t\/locked/));
    });

    test('for a store without DeleteObjects, objects are removed one by one, and that is remembered', async () => {
      stub.late = ({ query }) => (query.has('delete') ? s3Error(501, 'NotImplemented') : undefined);
      fill('t/a', 't/b');
      assert.equal(await removeTree(), 2);
      fill('t/c');
      assert.equal(await removeTree(), 1);
      assert.equal(stub.objects.size, 0);
      assert.equal(stub.asked.filter((line) => line === 'POST ?delete').length, 1);
    });

    test('keys that XML cannot contain are removed one by one', async () => {
      stub.late = ({ key, method }) =>
        key === '' && method === 'GET' && stub.objects.size > 0
          ? listed(['t/a%01b'], '<IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>')
          : undefined;
      fill('t/a\u0001b');
      assert.equal(await removeTree(), 1);
      assert.equal(stub.objects.size, 0);
    });

    test('a missing one, or a file', async () => {
      await assert.rejects(removeTree(), failsWith('not_found'));
      fill('t');
      await assert.rejects(removeTree(), failsWith('not_a_folder'));
    });
  });

  test('a copy inside the store keeps the metadata of its origin, and its time, which only the store knew', async () => {
    stub.objects.set('from', Buffer.from('x'));
    const seen: Record<string, unknown>[] = [];
    stub.late = ({ method, key, headers }) => {
      if (method === 'PUT') seen.push(headers);
      if (method !== 'HEAD' || key !== 'from') return undefined;
      const carried = { 'x-amz-meta-own': 'kept', 'cache-control': 'no-store', 'content-type': 'text/x-own' };
      return { headers: { ...carried, 'last-modified': 'Thu, 29 Feb 2024 12:34:56 GMT', 'content-length': '1' } };
    };
    const info = await remote.copyFrom?.(remote, at('/from'), at('/to'), { exclusive: false });
    assert.equal(info?.keptModifiedAt?.toISOString(), '2024-02-29T12:34:56.000Z');
    const headers = seen.at(-1) ?? {};
    const sent = ['x-amz-metadata-directive', 'x-amz-meta-mtime', 'x-amz-meta-own', 'cache-control', 'content-type'];
    assert.deepEqual(
      sent.map((name) => headers[name]),
      ['REPLACE', '1709210096', 'kept', 'no-store', 'text/x-own'],
    );
  });

  test('a time is written as rclone writes it, and read as others write it', async () => {
    const shownTime = async (mtime: string): Promise<string | undefined> => {
      stub.late = ({ method }) =>
        method === 'HEAD' ? { headers: { 'x-amz-meta-mtime': mtime, 'content-length': '1' } } : undefined;
      return (await remote.stat(at('/f'))).keptModifiedAt?.toISOString();
    };
    assert.equal(await shownTime('1709210096.789123456'), '2024-02-29T12:34:56.789Z');
    assert.equal(await shownTime('1709210096'), '2024-02-29T12:34:56.000Z');
    for (const odd of ['', 'yesterday', '-5', '1e9', '17092100961234'])
      assert.equal(await shownTime(odd), undefined, odd);
    stub.reset();
    const writer = await remote.write(at('/f'), { size: 1, modifiedAt: new Date('2024-02-29T12:34:56.780Z') });
    await pipeline(chunked(Buffer.from('x')), writer);
    await writer.commit({ size: 1, modifiedAt: new Date('2024-02-29T12:34:56.780Z') });
    assert.equal(stub.requests.at(-1)?.headers['x-amz-meta-mtime'], '1709210096.78');
  });

  const conditional = (method: string): void => {
    stub.late = ({ method: asked, key, query, headers }) => {
      const isWrite = asked === method && (method === 'PUT' || query.has('uploadId'));
      return isWrite && headers['if-none-match'] === '*' && stub.objects.has(key)
        ? s3Error(412, 'PreconditionFailed')
        : undefined;
    };
  };

  test('a store that obeys If-None-Match is detected, and then gets the condition at the start of a streamed upload', async () => {
    conditional('PUT');
    // Created by another client between our check and our write.
    stub.early = ({ method, key }) => {
      if (method === 'PUT') stub.objects.set(key, Buffer.from('theirs'));
      return undefined;
    };
    await assert.rejects(store(remote, '/f', patterned(9), {}, { exclusive: true }), failsWith('already_exists'));
    assert.deepEqual(stub.asked, ['GET ?list-type', 'HEAD f', 'PUT f']);
    stub.requests.length = 0;
    const size = 2 * MIB;
    const storing = store(remote, '/g', patterned(size), { size, exclusive: true }, { exclusive: true });
    await assert.rejects(storing, failsWith('already_exists'));
    assert.deepEqual(stub.asked, ['GET ?list-type', 'PUT g']);
    assert.equal(stub.objects.get('g')?.toString(), 'theirs');
    // Refused at the start, while the body is being sent.
    stub.early = ({ method }) => (method === 'PUT' ? s3Error(412, 'PreconditionFailed') : undefined);
    const large = store(remote, '/h', patterned(20 * MIB), { size: 20 * MIB, exclusive: true }, { exclusive: true });
    await assert.rejects(large, failsWith('already_exists'));
  });

  test('a path that no store accepts is refused before its levels are checked', async () => {
    await assert.rejects(store(remote, '/d'.repeat(513), patterned(9)), failsWith('bad_path'));
    await assert.rejects(remote.makeFolder(at('/d'.repeat(513))), failsWith('bad_path'));
    assert.ok(stub.asked.length <= 4, `${stub.asked.length} requests`);
    await store(remote, '/d'.repeat(512), patterned(9));
    assert.equal(stub.objects.size, 1);
  });

  test('a condition on joining the parts is obeyed, and the upload is removed', async () => {
    conditional('POST');
    stub.early = ({ method, key, query }) => {
      if (method === 'POST' && query.has('uploadId')) stub.objects.set(key, Buffer.from('theirs'));
      return undefined;
    };
    const storing = store(remote, '/f', patterned(2 * PART), {}, { exclusive: true });
    await assert.rejects(storing, failsWith('already_exists'));
    assert.deepEqual([stub.uploads.size, rig.notes.multiparts.size], [0, 0]);
  });

  test('two writers at once: the conflict is an existing file', async () => {
    stub.late = ({ method }) => (method === 'PUT' ? s3Error(409, 'ConditionalRequestConflict') : undefined);
    await assert.rejects(store(remote, '/f', patterned(9), {}, { exclusive: true }), failsWith('already_exists'));
  });

  test('joined parts of another size are an error', async () => {
    stub.late = ({ method, key, query }) => {
      if (method !== 'POST' || !query.has('uploadId')) return undefined;
      stub.objects.set(key, Buffer.alloc(PART));
      return xml('<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>');
    };
    await assert.rejects(store(remote, '/f', patterned(2 * PART), {}), failsWith('size_mismatch'));
  });

  test('a lost answer to joining the parts is resolved by the ETag of the parts', async () => {
    const bytes = patterned(2 * PART + 5);
    const sums = [bytes.subarray(0, PART), bytes.subarray(PART, 2 * PART), bytes.subarray(2 * PART)].map((part) =>
      createHash('md5').update(part).digest(),
    );
    const etag = `"${createHash('md5').update(Buffer.concat(sums)).digest('hex')}-3"`;
    stub.late = ({ method, query, incoming }) => {
      if (method === 'POST' && query.has('uploadId')) {
        stub.objects.set('f', bytes);
        incoming.socket.destroy();
        return 'taken';
      }
      return method === 'HEAD' ? { headers: { etag, 'content-length': String(bytes.length) } } : undefined;
    };
    const info = await store(remote, '/f', bytes, {});
    assert.deepEqual([info.size, `"${info.etag}"`, rig.notes.multiparts.size], [bytes.length, etag, 0]);
  });

  for (const [what, isIt] of [
    ['joining parts', (method: string) => method === 'POST'],
    ['a copy', (method: string) => method === 'PUT'],
  ] as const) {
    test(`an error inside a 200 answer to ${what} is an error`, async () => {
      stub.objects.set('from', Buffer.from('x'));
      const writer = await remote.write(at('/f'), {});
      await pipeline(chunked(patterned(PART + 1)), writer);
      stub.late = ({ method, query }) =>
        isIt(method) && !query.has('uploads') ? xml('<Error><Code>AccessDenied</Code></Error>') : undefined;
      const work =
        what === 'a copy' ? remote.move(at('/from'), at('/to'), { replace: true }) : writer.commit({ size: PART + 1 });
      await assert.rejects(work, failsWith('permission_denied'));
      await writer.abort(new GatewayError('client_gone', 'test'));
      assert.ok(stub.objects.has('from'));
      assert.deepEqual([stub.uploads.size, rig.notes.multiparts.size], [0, 0]);
    });
  }

  test('an origin that changes during a copy is an error', async () => {
    stub.objects.set('from', Buffer.from('x'));
    stub.late = ({ method, headers }) => {
      if (method !== 'PUT' || headers['x-amz-copy-source-if-match'] === undefined) return undefined;
      stub.objects.set('from', Buffer.from('y'));
      return s3Error(412, 'PreconditionFailed');
    };
    await assert.rejects(
      remote.move(at('/from'), at('/to'), { replace: true }),
      failsWith('remote_failure', /changed/),
    );
    assert.deepEqual([...stub.objects.keys()], ['from']);
  });

  test('listings of version 1: version 2 is refused, or ignored', async () => {
    const pages = (marker: string | null, isTruncated: string): ReturnType<typeof listed> =>
      marker === null ? listed(['a', 'b'], isTruncated) : listed(marker === 'b' ? ['c'] : ['wrong']);
    const truncated = '<IsTruncated>true</IsTruncated>';
    stub.late = ({ query }) =>
      query.has('list-type') ? s3Error(501, 'NotImplemented') : pages(query.get('marker'), truncated);
    assert.deepEqual(await namesIn(remote, '/'), ['a', 'b', 'c']);
    assert.deepEqual(stub.asked, ['GET ?list-type', 'GET', 'GET']);
    await namesIn(remote, '/');
    assert.deepEqual(stub.asked.slice(3), ['GET', 'GET']);
    const other = new S3Rig(rig.connection);
    stub.late = ({ query }) => pages(query.get('marker'), truncated);
    assert.deepEqual(await namesIn(await other.open(), '/'), ['a', 'b', 'c']);
    other.close();
  });

  test('times are cut to the second, so that HEAD and listings agree', async () => {
    stub.late = () => listed(['a']);
    for await (const { modifiedAt } of entriesOf(remote.list(at('/')))) {
      assert.equal(modifiedAt.toISOString(), '2026-01-02T03:04:05.000Z');
    }
  });

  test('a bucket in another region is named, also by a redirect without a body', async () => {
    stub.early = () => ({ status: 301, headers: { 'x-amz-bucket-region': 'eu-central-1' } });
    for (const work of [() => remote.stat(at('/x')), () => namesIn(remote, '/'), () => fetchAll(remote, '/x')]) {
      await assert.rejects(work(), failsWith('login_refused', /"eu-central-1".*"us-east-1"/));
    }
  });

  test('a body that ends or breaks before its length never looks complete', async () => {
    for (const isReset of [false, true]) {
      stub.late = (_request, response) => {
        response.writeHead(200, { 'content-length': 100_000, etag: '"e"' });
        response.write(Buffer.alloc(50_000), () => {
          if (isReset) (response.socket as net.Socket).resetAndDestroy();
          else response.socket?.end();
        });
        return 'taken';
      };
      const body = streamOf(await remote.read(at('/f')));
      let got = 0;
      let hasEnded = false;
      body.on('data', (chunk: Buffer) => (got += chunk.length)).once('end', () => (hasEnded = true));
      const [error] = (await once(body, 'error')) as [GatewayError];
      assert.ok(failsWith('connection_lost')(error));
      assert.ok(got <= 50_000 && !hasEnded);
    }
  });

  test('a store that ignores the range is detected', async () => {
    stub.objects.set('f', patterned(1000));
    const reading = fetchAll(remote, '/f', () => ({ start: 10, end: 19 }));
    await assert.rejects(reading, failsWith('protocol_error', /length/));
  });

  test('an upload that is reset half way fails as it happens', async () => {
    stub.early = ({ method, incoming }) => {
      if (method !== 'PUT') return undefined;
      incoming.once('data', () => incoming.socket.resetAndDestroy());
      return 'taken';
    };
    const size = 40 * MIB;
    await assert.rejects(store(remote, '/f', patterned(size), { size }), failsWith('connection_lost'));
    assert.equal(stub.objects.size, 0);
  });

  test('an upload that is refused before its end reports the reason', async () => {
    stub.early = ({ method }) => (method === 'PUT' ? s3Error(403, 'AccessDenied', 'no') : undefined);
    const size = 2 * MIB;
    await assert.rejects(store(remote, '/f', patterned(size), { size }), failsWith('permission_denied'));
  });

  test('a streamed body is sent once, plain and unsigned; a small one whole and signed', async () => {
    const size = 2 * MIB;
    await store(remote, '/f', patterned(size));
    await store(remote, '/g.json', patterned(10));
    const [streamed, small] = stub.requests.filter(({ method }) => method === 'PUT');
    assert.equal(streamed?.headers['x-amz-content-sha256'], 'UNSIGNED-PAYLOAD');
    assert.equal(streamed?.headers['content-length'], String(size));
    assert.deepEqual([streamed?.headers['content-encoding'], streamed?.headers.expect], [undefined, undefined]);
    assert.match(String(small?.headers['x-amz-content-sha256']), /^[0-9a-f]{64}$/);
    assert.equal(small?.headers['content-type'], 'application/json');
    // The only other request is whether a folder exists there.
    assert.deepEqual(stub.asked, ['GET ?list-type', 'PUT f', 'GET ?list-type', 'PUT g.json']);
  });

  test('a login that may not check a path can still write there', async () => {
    stub.late = ({ method }) => (method === 'PUT' ? undefined : s3Error(403, 'AccessDenied'));
    await store(remote, '/deep/down/f', patterned(10));
    assert.deepEqual([...stub.objects.keys()], ['deep/down/f']);
  });

  test('a name that others gave to both a file and a folder stays both', async () => {
    for (const key of ['both', 'both/f', 'both/sub/f']) stub.objects.set(key, Buffer.from('theirs'));
    for (const path of ['/both', '/both/new', '/both/sub/new']) await store(remote, path, patterned(10));
    assert.equal(stub.objects.get('both')?.length, 10);
    await assert.rejects(store(remote, '/both/sub', patterned(10)), failsWith('is_a_folder'));
  });

  test('a session token is sent with every request', async () => {
    const held = await rig.open(undefined, { ...rig.connection, sessionToken: 'a-token' });
    await store(held, '/f', patterned(10));
    assert.equal(stub.requests[0]?.headers['x-amz-security-token'], 'a-token');
  });

  test('a busy store, or one that cuts an idle socket, is asked again; an upload that may exist is not opened twice', async () => {
    stub.objects.set('f', Buffer.from('hello'));
    let refusals = 2;
    stub.late = ({ incoming }) => {
      refusals -= 1;
      if (refusals === 1) return s3Error(503, 'SlowDown');
      if (refusals !== 0) return undefined;
      incoming.socket.destroy();
      return 'taken';
    };
    assert.equal((await remote.stat(at('/f'))).size, 5);
    stub.requests.length = 0;
    stub.late = ({ query }) => (query.has('list-type') ? undefined : s3Error(503, 'SlowDown'));
    await assert.rejects(remote.stat(at('/f')), failsWith('remote_failure'));
    // The entries below are requested at the same time, in any order.
    assert.deepEqual(
      stub.asked.filter((asked) => asked !== 'GET ?list-type'),
      ['HEAD f', 'HEAD f', 'HEAD f'],
    );
    stub.requests.length = 0;
    await assert.rejects(store(remote, '/m', patterned(PART + 1), {}), failsWith('remote_failure', /fewer requests/));
    assert.deepEqual(stub.asked, ['GET ?list-type', 'POST m ?uploads']);
  });

  test('a part that fails once is sent again; one that fails for good ends the upload, parts first', async () => {
    let failures = 1;
    stub.late = ({ query }) => {
      if (!query.has('partNumber')) return undefined;
      failures -= 1;
      return failures === 0 ? s3Error(500, 'InternalError') : undefined;
    };
    const bytes = patterned(2 * PART + 5);
    await store(remote, '/f', bytes, {});
    assert.ok(stub.objects.get('f')?.equals(bytes));
    stub.requests.length = 0;
    stub.late = ({ query }) => (query.get('partNumber') === '1' ? s3Error(400, 'EntityTooSmall') : undefined);
    await assert.rejects(store(remote, '/g', patterned(6 * PART), {}), failsWith('remote_failure'));
    assert.equal(stub.asked.at(-1), 'DELETE g ?uploadId');
    assert.deepEqual([stub.uploads.size, rig.notes.multiparts.size, stub.objects.has('g')], [0, 0, false]);
  });

  test('an upload that cannot be aborted keeps its note for the sweep', async () => {
    stub.late = ({ method }) => (method === 'DELETE' ? s3Error(403, 'AccessDenied') : undefined);
    const writer = await remote.write(at('/f'), {});
    await pipeline(chunked(patterned(PART + 1)), writer);
    await writer.abort(new GatewayError('client_gone', 'test'));
    assert.deepEqual([...rig.notes.multiparts.values()], ['/f']);
    assert.deepEqual(rig.notes.abortLater, [...rig.notes.multiparts.keys()]);
  });

  test('a temporary object that cannot be removed is left to the sweep', async () => {
    stub.late = ({ method, query }) =>
      method === 'DELETE' && !query.has('uploadId') ? s3Error(403, 'AccessDenied') : undefined;
    const writer = await remote.write(at('/d/f'), { provisional: true });
    await finish(writer, patterned(PART + 1), { path: at('/d/final') });
    assert.ok(stub.objects.has('d/final'));
    assert.deepEqual(rig.notes.removeLater, ['/d/.ftg-test-1.f']);
  });

  test('a folder whose move fails half way is unchanged', async () => {
    for (const name of ['from/a', 'from/b', 'from/c']) stub.objects.set(name, Buffer.from(name));
    stub.late = ({ method, key }) => (method === 'PUT' && key === 'to/b' ? s3Error(403, 'AccessDenied') : undefined);
    await assert.rejects(remote.move(at('/from'), at('/to'), { replace: false }), failsWith('permission_denied'));
    assert.deepEqual([...stub.objects.keys()].sort(), ['from/a', 'from/b', 'from/c']);
  });

  const REFUSALS = [
    [s3Error(403, 'InvalidAccessKeyId'), 'login_refused', /access key/],
    [s3Error(400, 'ExpiredToken', 'The provided token has expired.'), 'login_refused', /expired/],
    [s3Error(403, 'InvalidObjectState'), 'remote_failure', /archived/],
    [s3Error(400, 'KeyTooLongError'), 'bad_path', /longer/],
    [s3Error(400, 'EntityTooLarge'), 'too_large', /larger/],
    [s3Error(507, 'XMinioStorageFull'), 'no_space', /space/],
    [s3Error(400, 'XMinioAdminBucketQuotaExceeded'), 'no_space', /as full as it may be/],
    [s3Error(418, 'Teapot'), 'remote_failure', /refused/],
    [
      { status: 403, headers: { 'content-type': 'text/html' }, body: '<html><p>blocked</html>' },
      'protocol_error',
      /HTML/,
    ],
    [{ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>log in <b>first' }, 'protocol_error', /S3/],
  ] as const;
  for (const [answer, code, text] of REFUSALS) {
    test(`a listing answered with ${String(answer.body).slice(0, 60)} is ${code}`, async () => {
      stub.late = () => answer;
      const error = await namesIn(remote, '/x').catch((thrown: unknown) => thrown as GatewayError);
      assert.ok(error instanceof GatewayError && failsWith(code, text)(error));
      assert.doesNotMatch(error.clientText, /undefined|UnknownError/);
    });
  }

  test('the client never gets a signature of ours', async () => {
    const secret = 'a'.repeat(64);
    stub.late = () => s3Error(403, 'SignatureDoesNotMatch', `Signature=${secret} is not ${secret}`);
    const error = await namesIn(remote, '/').catch((thrown: unknown) => thrown as GatewayError);
    assert.ok(error instanceof GatewayError && !error.clientText.includes(secret.slice(0, 32)));
  });
});

describe('s3 silence', () => {
  let stub: S3Stub;
  let rig: S3Rig;
  let remote: Remote;
  const stallTimeoutMs = 1_500;

  before(async () => {
    stub = await S3Stub.start();
    rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b' }), {
      limits: { stallTimeoutMs, maxSessions: 2 },
    });
    remote = await rig.open();
  });
  beforeEach(() => stub.reset());
  after(async () => {
    rig.close();
    await stub.stop();
  });

  test('a store that never answers is a stall', async () => {
    stub.early = () => 'taken';
    await assert.rejects(remote.stat(at('/f')), failsWith('stall_timeout'));
  });

  test('a download without progress is a stall, one whose reader pauses is not', async () => {
    const bytes = patterned(8 * MIB);
    stub.objects.set('f', bytes);
    const body = streamOf(await remote.read(at('/f')));
    await new Promise((done) => setTimeout(done, stallTimeoutMs * 2));
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk as Buffer);
    assert.ok(Buffer.concat(chunks).equals(bytes));
    stub.late = (_request, response) => {
      response.writeHead(200, { 'content-length': 100, etag: '"e"' });
      response.write('half');
      return 'taken';
    };
    await assert.rejects(fetchAll(remote, '/f'), failsWith('stall_timeout'));
  });

  test('an upload that the store no longer reads is a stall, one whose source or commit pauses is not', async () => {
    const bytes = patterned(2 * MIB);
    async function* rests(): AsyncGenerator<Buffer> {
      yield bytes.subarray(0, MIB);
      await new Promise((done) => setTimeout(done, stallTimeoutMs * 2));
      yield bytes.subarray(MIB);
    }
    const writer = await remote.write(at('/f'), { size: bytes.length });
    await pipeline(Readable.from(rests()), writer);
    await new Promise((done) => setTimeout(done, stallTimeoutMs * 2));
    assert.equal(stub.objects.has('f'), false);
    await writer.commit({ size: bytes.length });
    assert.ok(stub.objects.get('f')?.equals(bytes));
    stub.early = () => 'taken';
    const size = 40 * MIB;
    await assert.rejects(store(remote, '/g', patterned(size), { size }), failsWith('stall_timeout'));
  });

  test('sockets to the store never exceed the limit, with any number of parts and readers', async (t) => {
    const bytes = patterned(6 * PART);
    const fresh = await S3Stub.start();
    t.after(() => fresh.stop());
    const own = new S3Rig(connectionTo({ endpoint: fresh.endpoint, bucket: 'b' }), { limits: { maxSessions: 3 } });
    t.after(() => own.close());
    const remotes = await Promise.all([own.open(), own.open(), own.open()]);
    await Promise.all(remotes.map((each, n) => store(each, `/f${n}`, bytes, {})));
    for (const n of [0, 1, 2]) assert.ok(fresh.objects.get(`f${n}`)?.equals(bytes));
    // A reader that pauses holds one socket; the others continue without it.
    const resting = await remotes[0].read(at('/f0'));
    await store(remotes[1], '/g1', bytes, {});
    assert.equal((await fetchAll(remotes[2], '/g1')).length, bytes.length);
    streamOf(resting).destroy();
    assert.equal(fresh.mostSockets, 3);
  });

  test('sockets end with the last session, and a closed session reports it', async () => {
    const session = await rig.protocol.openSession(
      rig.connection,
      { ...rig.limits, idleTimeoutMs: 1234 },
      new AbortController().signal,
    );
    let closed = 0;
    session.onClose(() => (closed += 1));
    session.close();
    session.close();
    assert.deepEqual([session.alive, closed], [false, 1]);
  });
});

describe('s3 endpoints', () => {
  test('no listener, no HTTP, a denied address: each gives its own error', async () => {
    const talker = net.createServer((socket) => socket.on('error', () => undefined).end('220 ftp ready\r\n'));
    talker.listen(0, '127.0.0.1');
    await once(talker, 'listening');
    const cases = [
      [`http://127.0.0.1:${await freePort()}`, 'unreachable'],
      [`http://127.0.0.1:${(talker.address() as net.AddressInfo).port}`, 'protocol_error'],
      ['http://169.254.169.254', 'address_denied'],
      ['http://no-such-host.invalid', 'dns_failed'],
    ] as const;
    for (const [endpoint, code] of cases) {
      const rig = new S3Rig(connectionTo({ endpoint, bucket: 'b' }));
      const remote = await rig.open();
      await assert.rejects(remote.stat(at('/x')), failsWith(code));
      await assert.rejects(store(remote, '/x', patterned(2 * MIB)), failsWith(code));
      rig.close();
    }
    talker.close();
  });

  test('TLS: an unknown certificate is refused, trusted by its authority or on demand', async (t) => {
    const tls = selfSigned('127.0.0.1');
    const stub = await S3Stub.start(tls);
    t.after(() => stub.stop());
    stub.objects.set('f', Buffer.from('hello'));
    const connection = connectionTo({ endpoint: stub.endpoint, bucket: 'b' });
    const rig = new S3Rig(connection);
    t.after(() => rig.close());
    await assert.rejects((await rig.open()).stat(at('/f')), failsWith('certificate_rejected'));
    for (const trust of [{ tlsCa: tls.cert }, { tlsVerify: false }]) {
      const remote = await rig.open(undefined, { ...connection, ...trust });
      assert.equal((await remote.stat(at('/f'))).size, 5);
    }
  });

  test('AWS: the bucket is in the host name, bodies and parts carry checksums, conditions are trusted', async (t) => {
    const stub = await S3Stub.start(selfSigned('localhost'));
    t.after(() => stub.stop());
    const connection = {
      ...connectionTo({ endpoint: '', bucket: 'my-bucket' }),
      endpoint: undefined,
      region: 'eu-west-1',
    };
    const rig = new S3Rig({ ...connection, forcePathStyle: false });
    t.after(() => rig.close());
    const hosts = redirectTo(stub, rig);
    const remote = await rig.open();
    assert.equal(remote.can.exclusiveCreate, true);
    // The stub takes the first part of a path for the bucket: the folder's key is empty to it.
    const absent = s3Error(404, 'NoSuchKey');
    stub.late = ({ method, key }) => (method === 'HEAD' && key === '' ? absent : undefined);
    const size = 2 * MIB;
    await store(remote, '/x/f', patterned(size), { size, exclusive: true }, { exclusive: true });
    assert.deepEqual([...hosts], ['my-bucket.s3.eu-west-1.amazonaws.com']);
    assert.deepEqual([...stub.asked].sort(), ['GET ?list-type', 'HEAD', 'PUT f']);
    const put = stub.requests.at(-1);
    assert.equal(put?.headers['if-none-match'], '*');
    assert.equal(put?.headers['x-amz-decoded-content-length'], String(size));
    assert.equal(put?.headers['x-amz-trailer'], 'x-amz-checksum-crc32');
    stub.requests.length = 0;
    stub.late = ({ query, method, key, headers }): Answer | undefined => {
      if (method === 'HEAD' && key === '') return absent;
      if (method === 'HEAD') return { headers: { 'content-length': String(PART + 1) } };
      if (!query.has('partNumber')) return undefined;
      return { headers: { etag: '"e"', 'x-amz-checksum-crc32': String(headers['x-amz-checksum-crc32']) } };
    };
    await store(remote, '/x/m', patterned(PART + 1), {}, { exclusive: true });
    const [create, , , complete] = stub.requests.filter(({ method }) => method === 'POST' || method === 'PUT');
    assert.equal(create?.headers['x-amz-checksum-algorithm'], 'CRC32');
    assert.equal(complete?.headers['if-none-match'], '*');
    assert.equal(complete?.body.toString().match(/<ChecksumCRC32>[^<]+</g)?.length, 2);
  });
});
