/** Bad input to the S3 front over a server of each protocol: what was there stays, and nothing is left behind. */
import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { bytesOf, chunksOf, type S3Answer, type Shot, type Signed, Signer } from '../attacks/support/s3-signer.js';
import { OPENSSH, S3_SERVERS, type ServerEntry, type TestServer, VSFTPD } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { PAIR } from './suite.js';

const MIB = 1024 * 1024;
const ROUNDS = 4;
const SIGNED_CHUNKS = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';

/** As the signature has it. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
const encodedKey = (key: string): string => key.split('/').map(encoded).join('/');
const factsOf = ({ status, code }: S3Answer): string => `${status} ${code}`.trim();
const elementOf = (name: string, { text }: S3Answer): string =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '';

interface ListedPart {
  readonly number: number | string;
  readonly tag: string;
}

const listOf = (parts: readonly ListedPart[]): string => {
  const items = parts.map(({ number, tag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${tag}</ETag></Part>`);
  return `<CompleteMultipartUpload>${items.join('')}</CompleteMultipartUpload>`;
};

describe('at once', { concurrency: true }, () =>
  [OPENSSH, VSFTPD, S3_SERVERS].forEach(([first]) => first && badInput(first)),
);

function badInput(entry: ServerEntry): void {
  describe(`bad input to the S3 front on ${entry.name}`, { concurrency: 1 }, () => {
    let server: TestServer;
    let gateway: TestGateway;
    let signer: Signer;
    let base = '';
    let count = 0;

    before(async () => {
      server = await entry.start();
      gateway = await startGateway({
        connections: [{ id: 'c1', name: 'Server', ...server.connection }],
        apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
        config: { s3: { enabled: true } },
      });
      signer = new Signer(gateway.port, PAIR);
      base = (server.base ?? '/').replace(/^\//, '').replace(/(.)$/, '$1/');
    });
    after(async () => {
      await gateway?.stop();
      await server?.stop();
    });

    const fresh = (name = 'file.bin'): string => `${base}bad-${++count}/${name}`;
    const at = (key: string): string => `/s3/c1/${encodedKey(key)}`;
    const put = (key: string, body: string | Buffer): Shot => ({ method: 'PUT', path: at(key), body });
    const send = async (shot: Shot | Signed): Promise<string> => factsOf(await signer.send(shot));
    const filesBeside = (key: string): Promise<string[]> => server.disk.files(`/${key.slice(0, key.lastIndexOf('/'))}`);
    const isAlone = (key: string): Promise<void> =>
      eventually(async () => (await filesBeside(key)).join() === `/${key}`, `only ${key} is left`);

    async function begin(key: string) {
      const id = elementOf('UploadId', await signer.send({ method: 'POST', path: at(key), query: 'uploads=' }));
      const query = `uploadId=${id}`;
      const part = (number: number | string, body: string | Buffer): Shot => ({
        ...put(key, body),
        query: `partNumber=${number}&${query}`,
      });
      const store = async (number: number, body: string | Buffer): Promise<ListedPart> => {
        const { headers } = await signer.send(part(number, body));
        return { number, tag: headers.get('etag') ?? '' };
      };
      const complete = (body: string, headers: Shot['headers'] = {}): Shot => {
        return { method: 'POST', path: at(key), query, body, headers };
      };
      return {
        part,
        store,
        complete,
        abort: { method: 'DELETE', path: at(key), query },
        parts: { path: at(key), query },
      };
    }

    /** What is sent is not what the head promised. 0: the client ends before its body does. */
    const bodies = (
      shot: Shot,
      content: string,
    ): readonly (readonly [what: string, answer: string, sent: Signed])[] => {
      const pieces = [content.slice(0, -1_000), content.slice(-1_000)];
      const size = { 'x-amz-decoded-content-length': String(content.length) };
      const chunked = (
        change: (chunks: string[]) => readonly string[],
        headers: Shot['headers'] = size,
        sent = pieces,
      ): Signed => {
        const signed = signer.sign({ ...shot, headers, payload: SIGNED_CHUNKS });
        return { ...signed, body: Buffer.from(change(chunksOf(signed, sent)).join('')) };
      };
      const decoded = (bytes: number) => ({ 'x-amz-decoded-content-length': String(bytes) });
      const plain = (headers: Shot['headers'], body = content): Signed => signer.sign({ ...shot, headers, body });
      return [
        [
          'another chunk',
          '403 SignatureDoesNotMatch',
          chunked(([a = '', b = '', end = '']) => [a, b.replace('x\r', 'y\r'), end]),
        ],
        ['chunks in another order', '403 SignatureDoesNotMatch', chunked(([a = '', b = '', end = '']) => [b, a, end])],
        ['no last chunk', '403 SignatureDoesNotMatch', chunked(([a = '', , end = '']) => [a, end])],
        [
          'a last chunk of another signature',
          '403 SignatureDoesNotMatch',
          chunked(([a = '', b = '', end = '']) => [a, b, end.replace(/=.{8}/, '=00000000')]),
        ],
        ['more than announced', '400 IncompleteBody', chunked((chunks) => chunks, decoded(content.length - 1))],
        ['less than announced', '400 IncompleteBody', chunked((chunks) => chunks, size, [content.slice(1)])],
        [
          'another digest in the signature',
          '400 XAmzContentSHA256Mismatch',
          { ...plain({}), body: Buffer.from(content.replace(/x$/, 'y')) },
        ],
        ['another Content-MD5', '400 BadDigest', plain({ 'content-md5': hash('md5', 'other', 'base64') })],
        ['another checksum', '400 BadDigest', plain({ 'x-amz-checksum-crc32': 'AAAAAA==' })],
        [
          'cut',
          '0',
          { ...plain({ 'content-length': String(content.length) }), body: Buffer.from(content.slice(0, -1)) },
        ],
      ];
    };

    for (const size of [3_000, 2 * MIB]) {
      const content = 'x'.repeat(size);
      test(`bodies of ${size} bytes that are not what was promised`, async () => {
        const key = fresh();
        assert.equal(await send(put(key, 'first')), '200');
        for (const [what, expected, sent] of bodies(put(key, ''), content)) {
          const answer = await signer.raw(bytesOf(sent), expected === '0');
          // The client has closed its side: it may get an answer, and may get none.
          if (expected !== '0') assert.equal(factsOf(answer), expected, what);
          await isAlone(key);
          assert.equal((await server.disk.read(`/${key}`)).toString(), 'first', what);
        }
      });

      test(`parts of ${size} bytes that are not what was promised`, async () => {
        const key = fresh();
        const { part, store, complete, parts } = await begin(key);
        const good = 'g'.repeat(size);
        const first = await store(1, good);
        for (const number of [1, 2]) {
          for (const [what, expected, sent] of bodies(part(number, ''), content)) {
            const answer = await signer.raw(bytesOf(sent), expected === '0');
            if (expected !== '0') assert.equal(factsOf(answer), expected, what);
          }
        }
        const listed = await signer.send(parts);
        assert.ok(!listed.text.includes('<PartNumber>2<'), listed.text);
        // The first part may have been written over in place: then it is gone, and must be sent again.
        const again = elementOf('ETag', listed) === first.tag ? first : await store(1, good);
        assert.equal(await send(complete(listOf([again]))), '200');
        assert.equal((await server.disk.read(`/${key}`)).toString(), good);
        await isAlone(key);
      });
    }

    test('lists of parts that are wrong, and XML that is none; the upload goes on', async () => {
      const key = fresh();
      const { part, store, complete, abort, parts } = await begin(key);
      for (const number of ['0', '10001', '-1', 'x', '1.5', '', '1e3']) {
        assert.equal(await send(part(number, 'x')), '400 InvalidArgument', number);
      }
      const one = await store(1, randomBytes(5 * MIB));
      const two = await store(2, 'second');
      const last = await store(3, 'last');
      // Swift takes part 1,000 at most. It would refuse it again.
      if (server.connection['type'] === 's3') assert.equal(await send(part(10_000, 'x')), '400 InvalidArgument');
      const lists: readonly (readonly [what: string, answer: string, body: string])[] = [
        ['too small', '400 EntityTooSmall', listOf([one, two, last])],
        ['a part twice', '400 InvalidPartOrder', listOf([one, one])],
        ['in another order', '400 InvalidPartOrder', listOf([two, one])],
        ['a part that is missing', '400 InvalidPart', listOf([one, { number: 3, tag: two.tag }])],
        ['another tag', '400 InvalidPart', listOf([{ number: 1, tag: two.tag }])],
        ...[0, 10_001, 'x', '', '1.0', '99999999999999999999'].map(
          (number) => [`the number ${number}`, '400 InvalidPart', listOf([{ number, tag: one.tag }])] as const,
        ),
        [
          '10,001 parts',
          '400 MalformedXML',
          listOf(Array.from({ length: 10_001 }, (_, index) => ({ number: index + 1, tag: 'a' }))),
        ],
        ['no parts', '400 MalformedXML', listOf([])],
        ['no tag', '400 MalformedXML', listOf([one]).replace(/<ETag>.*<\/ETag>/, '')],
        ['two tags', '400 MalformedXML', listOf([one]).replace(/<ETag>.*<\/ETag>/, '$&$&')],
        [
          'two checksums',
          '400 MalformedXML',
          listOf([one]).replace('<ETag>', '<ChecksumCRC32>a</ChecksumCRC32><ChecksumSHA1>b</ChecksumSHA1><ETag>'),
        ],
        ['another root', '400 MalformedXML', listOf([one]).replaceAll('CompleteMultipartUpload', 'Delete')],
        ['a document type', '400 MalformedXML', `<!DOCTYPE a [<!ENTITY b "b">]>${listOf([one])}`],
        [
          'entities of entities',
          '400 MalformedXML',
          `<!DOCTYPE l [<!ENTITY a "aa">${'<!ENTITY b "&a;&a;">'.repeat(9)}]>${listOf([{ number: 1, tag: '&b;' }])}`,
        ],
        ['an entity that is not known', '400 MalformedXML', listOf([{ number: 1, tag: '&b;' }])],
        [
          'elements in each other',
          '400 MalformedXML',
          listOf([{ number: 1, tag: '<a>'.repeat(1_000) + '</a>'.repeat(1_000) }]),
        ],
        ['3 MiB', '400 EntityTooLarge', listOf([{ number: 1, tag: 'x'.repeat(3 * MIB) }])],
        ['cut', '400 MalformedXML', listOf([one]).slice(0, -10)],
        ['nothing', '400 MalformedXML', ''],
      ];
      for (const [what, expected, body] of lists) assert.equal(await send(complete(body)), expected, what);
      for (const field of ['if-match', 'if-none-match']) {
        assert.equal(await send(complete(listOf([one]), { [field]: '"other"' })), '501 NotImplemented');
      }
      assert.equal(await send(put(key, 'there')), '200');
      const exclusive = { 'if-none-match': '*' };
      assert.equal(await send(complete(listOf([one, last]), exclusive)), '412 PreconditionFailed');
      assert.equal(await send({ method: 'DELETE', path: at(key) }), '204');
      assert.equal(await send(complete(listOf([one, last]), exclusive)), '200');
      assert.equal((await server.disk.read(`/${key}`)).length, 5 * MIB + 4);
      assert.equal(await send(complete(listOf([one, last]))), '200');
      for (const shot of [part(3, 'x'), parts, abort]) assert.equal(await send(shot), '404 NoSuchUpload');
      await isAlone(key);
    });

    test('completions, a part and an end of one upload at once: the whole file or none', async () => {
      const content = randomBytes(5 * MIB);
      for (let round = 0; round < ROUNDS; round++) {
        const key = fresh();
        const { part, store, complete, abort } = await begin(key);
        const list = listOf([await store(1, content)]);
        const [late, ...completions] = await Promise.all([
          signer.send(part(2, randomBytes(3 * MIB))),
          signer.send(complete(list)),
          signer.send(complete(list)),
        ]);
        assert.deepEqual(completions.map(factsOf), ['200', '200']);
        const tags = new Set(completions.map((answer) => elementOf('ETag', answer)));
        assert.equal(tags.size, 1);
        assert.ok(['200', '404 NoSuchUpload', '409 OperationAborted'].includes(factsOf(late)), factsOf(late));
        assert.ok((await server.disk.read(`/${key}`)).equals(content));
        await isAlone(key);
        assert.equal(await send(abort), '404 NoSuchUpload');
      }
      for (let round = 0; round < ROUNDS; round++) {
        const key = fresh();
        const { store, complete, abort } = await begin(key);
        const list = listOf([await store(1, content)]);
        const [completed, aborted] = await Promise.all([signer.send(complete(list)), signer.send(abort)]);
        const facts = `${factsOf(completed)}, ${factsOf(aborted)}`;
        const isThere = completed.status === 200;
        const others = isThere ? ['404 NoSuchUpload', '409 OperationAborted'] : ['204'];
        assert.ok(others.includes(factsOf(aborted)), facts);
        assert.ok(isThere || factsOf(completed) === '404 NoSuchUpload', facts);
        if (!isThere) await eventually(async () => (await filesBeside(key)).length === 0, 'nothing is left');
        else {
          assert.ok((await server.disk.read(`/${key}`)).equals(content));
          await isAlone(key);
        }
      }
    });

    test('odd keys are put, read, listed and deleted; one that a server does not take is an error of the client', async () => {
      const folder = fresh('');
      const long = `${folder}${'d'.repeat(200)}/${'d'.repeat(200)}/${'d'.repeat(200)}/${'d'.repeat(200)}/`;
      const names = [
        'a+b c',
        ' lead',
        'trail ',
        'a\\b',
        'a?b',
        'a#b',
        'a%2Fb',
        '"q"',
        '<x>&',
        'e\u0301',
        '~x',
        '-x',
        '.hidden',
        'a:b',
      ];
      const keys = names.filter((name) => server.deviations.refusesName?.(name) !== true).map((name) => folder + name);
      keys.push(long + 'f'.repeat(1_000 - Buffer.byteLength(long)));
      for (const key of keys) {
        assert.equal(await send(put(key, key)), '200', key);
        assert.equal((await signer.send({ path: at(key) })).text, Buffer.from(key).toString('latin1'));
        const query = `encoding-type=url&list-type=2&prefix=${encoded(key)}`;
        const listed = await signer.send({ path: '/s3/c1', query });
        assert.equal(decodeURIComponent(elementOf('Key', listed)), key);
        assert.equal(await send({ method: 'DELETE', path: at(key) }), '204', key);
      }
      const tooLong = long + 'f'.repeat(1_025 - Buffer.byteLength(long));
      for (const method of ['PUT', 'GET', 'DELETE']) {
        assert.equal(await send({ method, path: at(tooLong) }), '400 KeyTooLongError');
      }
    });

    test('a name of 256 bytes, which no file system takes, is an error of the client', async () => {
      const key = fresh('n'.repeat(256));
      const isStore = server.connection['type'] === 's3';
      for (const body of ['short', 'x'.repeat(2 * MIB)]) {
        assert.equal(await send(put(key, body)), isStore ? '200' : '400 InvalidArgument');
      }
      if (!isStore) assert.deepEqual(await filesBeside(key), []);
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        const { status } = await signer.send({ method, path: at(key) });
        assert.ok(isStore ? status < 300 : status < 500, `${method}: ${status}`);
      }
    });

    test('a list of uploads: encoded keys, and texts that no key has', async () => {
      const key = fresh('a b+ü.bin');
      const { abort } = await begin(key);
      const list = (query: string): Promise<S3Answer> => signer.send({ path: '/s3/c1', query: `${query}&uploads=` });
      const found = await list(`encoding-type=url&prefix=${encoded(key)}`);
      assert.equal(elementOf('EncodingType', found), 'url');
      for (const name of ['Key', 'Prefix']) assert.equal(decodeURIComponent(elementOf(name, found)), key);
      assert.equal(elementOf('EncodingType', await list(`prefix=${encoded(key)}`)), '');
      for (const query of ['prefix=%00', 'key-marker=a%00', 'encoding-type=base64', 'max-uploads=-1']) {
        assert.equal(factsOf(await list(query)), '400 InvalidArgument', query);
      }
      assert.equal(factsOf(await list('delimiter=%2F')), '501 NotImplemented');
      assert.equal(await send(abort), '204');
    });

    test('a folder has one tag, and conditions count', async () => {
      const key = fresh('');
      const made = await signer.send(put(key, ''));
      const tag = made.headers.get('etag') ?? '';
      const ask = (method: string, headers: Shot['headers'] = {}) => signer.send({ method, path: at(key), headers });
      assert.equal((await ask('HEAD')).headers.get('etag'), tag);
      assert.equal(elementOf('ETag', await signer.send({ path: '/s3/c1', query: `prefix=${encoded(key)}` })), tag);
      for (const method of ['GET', 'HEAD']) {
        assert.equal((await ask(method, { 'if-match': tag })).status, 200);
        assert.equal((await ask(method, { 'if-match': '"other"' })).status, 412);
        assert.equal((await ask(method, { 'if-none-match': tag })).status, 304);
        assert.equal((await ask(method, { 'if-none-match': '"other"' })).status, 200);
      }
    });
  });
}
