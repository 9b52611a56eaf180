/** Stores that require a checksum for each body (Object Lock), and stores that omit lengths or list names twice. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { PartJournal, Remote, StoredPart, StoredTail } from '../../../src/remotes/remote.js';
import { putWhole, streamOf } from '../../../src/remotes/whole.js';
import { listed, S3Stub, s3Error, xml, type Answer, type StubRequest } from '../../servers/scripted-s3.js';
import { at, connectionTo, failsWith, fetchAll, namesIn, PART, patterned, S3Rig, store } from '../support/s3-rig.js';
import { entriesOf } from '../../support/seam.js';

const MIB = 1024 * 1024;
const WORDS = 'Content-MD5 OR x-amz-checksum- header is required for Put Object requests with Object Lock parameters';

const carriesBody = ({ method, query, headers }: StubRequest): boolean =>
  (method === 'PUT' && headers['x-amz-copy-source'] === undefined) || (method === 'POST' && query.has('delete'));

const md5Of = (body: Buffer): string => createHash('md5').update(body).digest('base64');

const refuseUnsummed = (request: StubRequest): Answer | undefined =>
  carriesBody(request) && request.headers['content-md5'] === undefined
    ? s3Error(400, 'InvalidRequest', WORDS)
    : undefined;

const refuseWrongSum = (request: StubRequest): Answer | undefined =>
  carriesBody(request) && request.headers['content-md5'] !== md5Of(request.body)
    ? s3Error(400, 'BadDigest', 'The Content-MD5 you specified did not match what we received.')
    : undefined;

describe('s3 stores with Object Lock', () => {
  let stub: S3Stub;
  const rigs: S3Rig[] = [];

  /** A gateway that does not know the store yet. */
  const newRemote = (uploader: 'streamed' | 'sdk' = 'streamed'): Promise<Remote> => {
    const rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b', uploader }));
    rigs.push(rig);
    return rig.open();
  };

  before(async () => {
    stub = await S3Stub.start();
  });
  beforeEach(() => stub.reset());
  afterEach(() => {
    for (const rig of rigs.splice(0)) rig.close();
  });
  after(() => stub.stop());

  const SIZES = [0, 10, 2 * MIB, PART + 1, 2 * PART + 5];
  for (const uploader of ['streamed', 'sdk'] as const) {
    for (const moment of ['early', 'late'] as const) {
      for (const isKnown of [true, false]) {
        const size = isKnown ? 'known' : 'unknown';
        test(`files of ${size} size are stored with their checksum, if the store refuses ${moment} (${uploader})`, async () => {
          for (const bytes of SIZES.map((length) => patterned(length))) {
            // A store that reads a streamed body to its end before it refuses it: a longer body cannot be sent again.
            if (moment === 'late' && uploader === 'streamed' && isKnown && bytes.length > PART) continue;
            stub.reset();
            stub[moment] = refuseUnsummed;
            if (moment === 'early') stub.late = refuseWrongSum;
            const remote = await newRemote(uploader);
            for (const file of ['/f', '/g']) {
              const info = await store(remote, file, bytes, isKnown ? { size: bytes.length } : {});
              assert.equal(info.size, bytes.length);
              assert.ok(stub.objects.get(file.slice(1))?.equals(bytes), `${bytes.length} bytes at ${file}`);
            }
            assert.equal(stub.uploads.size, 0, 'uploads that are left open');
          }
        });
      }
    }
  }

  test('a long streamed body that the store refuses at its end fails once, names the cause, and is taken the next time', async () => {
    stub.late = refuseUnsummed;
    const remote = await newRemote();
    const bytes = patterned(2 * PART + 5);
    await assert.rejects(store(remote, '/f', bytes), failsWith('remote_failure', /checksum.*Object Lock.*again/));
    await store(remote, '/f', bytes);
    assert.ok(stub.objects.get('f')?.equals(bytes));
  });

  test('folders, short files, copies inside the store and removals pass at once', async () => {
    stub.early = refuseUnsummed;
    stub.late = refuseWrongSum;
    const remote = await newRemote();
    await remote.makeFolder(at('/d'));
    await putWhole(remote, at('/d/f'), patterned(10));
    await remote.copyFrom?.(remote, at('/d/f'), at('/d/g'), { exclusive: false });
    await remote.move(at('/d/g'), at('/d/h'), { replace: true });
    await remote.removeTree?.(at('/d'), () => undefined);
    assert.equal(stub.objects.size, 0);
    const refusals = stub.requests.filter((request) => refuseUnsummed(request) !== undefined);
    assert.deepEqual(refusals, []);
  });

  test('pieces and their tails carry a checksum', async () => {
    stub.early = refuseUnsummed;
    stub.late = refuseWrongSum;
    const remote = await newRemote();
    const { pieces } = remote;
    assert.ok(pieces);
    const parts: StoredPart[] = [];
    const tails: StoredTail[] = [];
    const journal: PartJournal = {
      parts: async () => parts,
      tails: async () => tails,
      add: async (more) => void parts.push(...more),
      keep: async (tail) => void tails.push(tail),
    };
    const bytes = patterned(2 * PART + 5);
    const about = { path: at('/f'), hidden: at('/.f'), length: bytes.length };
    const { storeId } = await pieces.begin(about, { modifiedAt: undefined, isChecked: false });
    const file = { ...about, storeId, journal };
    let offset = 0;
    for (const end of [2 * MIB, bytes.length]) {
      const writer = await pieces.resume(file, { offset, isUnproven: false }, { isProven: true });
      writer.write(bytes.subarray(offset, end));
      ({ offset } = await writer.settle(true));
    }
    await pieces.publish(file, { size: bytes.length, isAgain: false });
    assert.ok(stub.objects.get('f')?.equals(bytes));
  });

  test('other buckets are not affected by what one requires, and a store that accepts streams gets them', async () => {
    stub.early = (request) =>
      request.incoming.url?.startsWith('/locked/') === true ? refuseUnsummed(request) : undefined;
    const rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b' }));
    rigs.push(rig);
    const locked = await rig.open(undefined, { ...rig.connection, bucket: 'locked' });
    const bytes = patterned(2 * MIB);
    await store(locked, '/f', bytes);
    stub.requests.length = 0;
    const remote = await rig.open();
    await store(remote, '/f', bytes);
    await store(remote, '/g', bytes);
    await store(locked, '/h', bytes);
    const sums = stub.requests.filter(({ method }) => method === 'PUT').map(({ headers }) => headers['content-md5']);
    assert.deepEqual(sums, [undefined, undefined, md5Of(bytes)]);
  });

  test('a wrong checksum is not treated as a missing one', async () => {
    stub.late = ({ method }) =>
      method === 'PUT' ? s3Error(400, 'BadDigest', 'The Content-MD5 you specified did not match') : undefined;
    await assert.rejects(store(await newRemote(), '/f', patterned(2 * MIB)), failsWith('remote_failure', /refused/));
    assert.equal(stub.requests.filter(({ method }) => method === 'PUT').length, 1);
  });
});

describe('s3 stores that leave out lengths', () => {
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

  /** Answers without lengths; `ranges`: how it handles a range. */
  const withoutLengths =
    (ranges: 'obeyed' | 'overlooked' | 'without a total'): S3Stub['late'] =>
    ({ method, key, headers }, response) => {
      const found = stub.objects.get(key);
      if (found === undefined || (method !== 'HEAD' && method !== 'GET')) return undefined;
      const own = { etag: '"e"', 'last-modified': 'Thu, 29 Feb 2024 12:34:56 GMT' };
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
      if (from === undefined || method === 'HEAD' || ranges === 'overlooked') {
        response.writeHead(200, own);
        response.end(method === 'HEAD' ? undefined : found);
        return 'taken';
      }
      const total = ranges === 'obeyed' ? String(found.length) : '*';
      if (found.length === 0) return s3Error(416, 'InvalidRange');
      response.writeHead(206, { ...own, 'content-range': `bytes ${from}-${to}/${total}` });
      response.end(found.subarray(Number(from), Number(to) + 1));
      return 'taken';
    };

  for (const ranges of ['obeyed', 'overlooked', 'without a total'] as const) {
    test(`sizes are found if a range is ${ranges}, and bodies without a length arrive complete`, async () => {
      for (const length of ranges === 'overlooked' ? [1, 100_000] : [0, 1, 100_000]) {
        const bytes = patterned(length);
        stub.objects.set('f', bytes);
        const answer = withoutLengths(ranges);
        stub.late = (request, response) =>
          request.key === ''
            ? xml(
                `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>f</Key><Size>${length}</Size></Contents></ListBucketResult>`,
              )
            : answer(request, response);
        assert.equal((await remote.stat(at('/f'))).size, length);
        assert.ok((await fetchAll(remote, '/f')).equals(bytes), `${length} bytes`);
        if (length < 100 || ranges === 'overlooked') continue;
        const part = await fetchAll(remote, '/f', () => ({ start: 10, end: 19 }));
        assert.ok(part.equals(bytes.subarray(10, 20)));
      }
    });
  }

  test('a whole file without a length is not accepted as the answer to a range', async () => {
    stub.objects.set('f', patterned(1_000));
    stub.late = (request, response) =>
      request.method === 'HEAD' ? undefined : withoutLengths('overlooked')(request, response);
    const reading = fetchAll(remote, '/f', () => ({ start: 10, end: 19 }));
    await assert.rejects(reading, failsWith('protocol_error', /length/));
  });

  test('an upload of unknown size is verified where HEAD has no length', async () => {
    stub.late = (request, response) =>
      request.method === 'HEAD' || (request.method === 'GET' && request.key !== '')
        ? withoutLengths('obeyed')(request, response)
        : undefined;
    const bytes = patterned(2 * PART + 5);
    assert.equal((await store(remote, '/f', bytes, {})).size, bytes.length);
  });

  for (const uploader of ['streamed', 'sdk'] as const) {
    test(`an acknowledged upload counts if the login may only write, or the object is taken away at once (${uploader})`, async () => {
      const own = await rig.open(undefined, { ...rig.connection, uploader });
      const bytes = patterned(2 * PART + 5);
      stub.late = ({ method }) => (method === 'HEAD' || method === 'GET' ? s3Error(403, 'AccessDenied') : undefined);
      assert.equal((await store(own, '/f', bytes, {})).size, bytes.length);
      assert.ok(stub.objects.get('f')?.equals(bytes));
      assert.deepEqual(await own.makeFolder(at('/d')), { created: true });
      stub.late = ({ method, key }) => (method === 'HEAD' && key === 'g' ? s3Error(404, 'NoSuchKey') : undefined);
      assert.equal((await store(own, '/g', bytes, {})).size, bytes.length);
      assert.deepEqual(rig.notes.unverified, ['may_not_look', 'taken_away']);
    });
  }

  test('a folder that is taken away right after its move counts as moved', async () => {
    stub.objects.set('from/a', Buffer.from('x'));
    stub.late = ({ key, query }) =>
      key === '' && query.get('prefix') === 'to/' && !stub.objects.has('from/a') ? listed([]) : undefined;
    const { name, isDirectory } = await remote.move(at('/from'), at('/to'), { replace: false });
    assert.deepEqual([name, isDirectory], ['to', true]);
  });

  test('a chunked body that is cut never looks complete', async () => {
    stub.objects.set('f', patterned(100_000));
    stub.late = ({ method }, response) => {
      if (method !== 'GET') return undefined;
      response.writeHead(200, { etag: '"e"' });
      response.write(Buffer.alloc(50_000), () => response.socket?.end());
      return 'taken';
    };
    const body = streamOf(await remote.read(at('/f'), () => undefined));
    let hasEnded = false;
    body.resume().once('end', () => (hasEnded = true));
    const [error] = (await once(body, 'error')) as [Error];
    assert.ok(failsWith('connection_lost')(error));
    assert.ok(!hasEnded);
  });

  test('a chunked body that ends properly, before the size that HEAD has, is an incomplete file', async () => {
    stub.objects.set('f', patterned(100_000));
    stub.late = ({ method }, response) => {
      if (method !== 'GET') return undefined;
      response.writeHead(200, { etag: '"e"' });
      response.end(Buffer.alloc(50_000));
      return 'taken';
    };
    await assert.rejects(
      fetchAll(remote, '/f', () => undefined),
      failsWith('connection_lost'),
    );
  });

  for (const [what, answer] of [
    ['nothing', { status: 200 }],
    ['nothing, with status 204', { status: 204 }],
    ['another document', xml('<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>')],
    [
      'names of XML that have a prefix',
      xml('<s:ListBucketResult><s:Contents><s:Key>a</s:Key></s:Contents></s:ListBucketResult>'),
    ],
    ['a part, without a name or a token to go on with', listed([], '<IsTruncated>true</IsTruncated>')],
  ] as const) {
    test(`a listing answered with ${what} is no empty folder`, async () => {
      stub.late = () => answer;
      await assert.rejects(namesIn(remote, '/'), failsWith('protocol_error'));
      stub.late = ({ query }) => (query.has('list-type') ? s3Error(501, 'NotImplemented') : answer);
      await assert.rejects(namesIn(remote, '/'), failsWith('protocol_error'));
    });
  }

  test('a page with a token is not the last one, even if the store does not say that it is a part', async () => {
    stub.late = ({ query }) =>
      query.has('continuation-token')
        ? listed(['b'])
        : listed(['a'], '<NextContinuationToken>2</NextContinuationToken>');
    assert.deepEqual(await namesIn(remote, '/'), ['a', 'b']);
  });

  test('pages that come again and again, in turns, end the listing', async () => {
    for (const turns of [1, 2, 3, 7]) {
      let page = 0;
      stub.late = () => {
        page += 1;
        const token = `<NextContinuationToken>${page % turns}</NextContinuationToken>`;
        return listed([`k${page % turns}`], `<IsTruncated>true</IsTruncated>${token}`);
      };
      await assert.rejects(namesIn(remote, '/'), failsWith('protocol_error', /repeats/));
      assert.ok(page < 40, `${turns}: ${page} pages`);
    }
  });

  for (const uploader of ['streamed', 'sdk'] as const) {
    for (const size of [0, 10, 200_000]) {
      test(`an upload of ${size} bytes whose answer names no ETag counts if the object is there (${uploader})`, async () => {
        const own = await rig.open(undefined, { ...rig.connection, uploader });
        const bytes = patterned(size);
        let isStored = true;
        stub.late = ({ method, key, body }) => {
          if (method !== 'PUT') return undefined;
          if (isStored) stub.objects.set(key, body);
          return { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Please log in</html>' };
        };
        assert.equal((await store(own, '/f', bytes, { size })).size, size);
        isStored = false;
        await assert.rejects(store(own, '/g', bytes, { size }), failsWith('protocol_error', /ETag/));
        assert.deepEqual(rig.notes.unverified, []);
      });
    }
  }

  for (const uploader of ['streamed', 'sdk'] as const) {
    test(`joined parts whose answer names no ETag do not count without the object (${uploader})`, async () => {
      const own = await rig.open(undefined, { ...rig.connection, uploader });
      const bytes = patterned(2 * PART + 5);
      stub.late = ({ method, query }) => (method === 'POST' && query.has('uploadId') ? xml('<Done/>') : undefined);
      await assert.rejects(store(own, '/f', bytes, {}), failsWith('protocol_error'));
      assert.equal(stub.objects.has('f'), false);
    });
  }

  test('the origin of a copy stays if the answer does not name what was made', async () => {
    stub.objects.set('a', patterned(10));
    stub.late = ({ headers }) => (headers['x-amz-copy-source'] === undefined ? undefined : xml('<Done/>'));
    await assert.rejects(remote.move(at('/a'), at('/b'), { replace: false }), failsWith('protocol_error', /ETag/));
    assert.deepEqual([...stub.objects.keys()], ['a']);
  });

  for (const status of [200, 204]) {
    test(`objects are removed one by one if the answer to DeleteObjects is empty, with status ${status}`, async () => {
      for (const key of ['t/a', 't/b']) stub.objects.set(key, patterned(1));
      stub.late = ({ query }) => (query.has('delete') ? { status } : undefined);
      let removed = 0;
      await remote.removeTree?.(at('/t'), (entries) => void (removed += entries));
      assert.deepEqual([removed, stub.objects.size], [2, 0]);
    });
  }

  test('names on two pages, and twice on one, are listed once; a page without sizes still gets them all', async () => {
    const prefixes = (...names: string[]): string =>
      names.map((name) => `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`).join('');
    stub.objects.set('z', patterned(7));
    stub.late = ({ key, query }) => {
      if (key !== '') return undefined;
      if (query.has('continuation-token'))
        return listed(
          ['k'],
          `<IsTruncated>false</IsTruncated>${prefixes('d/', 'e/')}<Contents><Key>z</Key></Contents>`,
        );
      const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>2</NextContinuationToken>';
      return listed(['k'], more + prefixes('d/', 'd/'));
    };
    assert.deepEqual(await namesIn(remote, '/'), ['d/', 'e/', 'k', 'z']);
    for await (const { name, size } of entriesOf(remote.list(at('/')))) if (name === 'z') assert.equal(size, 7);
  });
});
