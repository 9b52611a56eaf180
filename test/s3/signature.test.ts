/** Signatures of requests and of chunks, against the examples of the S3 API reference. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Borrower, Lender } from '../../src/base/lent.js';
import { Checksum } from '../../src/s3/body/checksums.js';
import { ChunkedBody } from '../../src/s3/body/chunks.js';
import { S3Error } from '../../src/s3/errors.js';
import { signedRequestOf } from '../../src/s3/signature/signed-request.js';
import { SignatureCheck } from '../../src/s3/signature/verify.js';

const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE';
const NOW = Date.UTC(2013, 4, 24);
const SCOPE = '20130524/us-east-1/s3/aws4_request';
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

interface Example {
  readonly method?: string;
  readonly path: string;
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
}

const at = { host: 'examplebucket.s3.amazonaws.com', 'x-amz-date': '20130524T000000Z' };
const none = { ...at, 'x-amz-content-sha256': EMPTY };

function requestOf({ method = 'GET', path, query = '', headers }: Example, authorization?: string) {
  const fields = new Map(Object.entries(headers));
  if (authorization !== undefined) fields.set('authorization', authorization);
  return { method, path, query: new URLSearchParams(query), headers: fields };
}

const authorizationOf = (names: string, signature: string): string =>
  `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/${SCOPE},SignedHeaders=${names},Signature=${signature}`;

function isRight(request: ReturnType<typeof requestOf>, now = NOW): boolean {
  const signed = signedRequestOf(request, 'us-east-1', now);
  assert.ok(signed !== undefined);
  const check = new SignatureCheck();
  return check.isRight(request, signed, check.keyOf(signed, SECRET));
}

const EXAMPLES: readonly (readonly [what: string, example: Example, names: string, signature: string])[] = [
  [
    'GET Object',
    { path: '/test.txt', headers: { ...none, range: 'bytes=0-9' } },
    'host;range;x-amz-content-sha256;x-amz-date',
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'PUT Object',
    {
      method: 'PUT',
      path: '/test$file.text',
      headers: {
        ...at,
        date: 'Fri, 24 May 2013 00:00:00 GMT',
        'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
        'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      },
    },
    'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'GET Bucket Lifecycle',
    { path: '/', query: 'lifecycle', headers: none },
    'host;x-amz-content-sha256;x-amz-date',
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'Get Bucket (List Objects)',
    { path: '/', query: 'max-keys=2&prefix=J', headers: none },
    'host;x-amz-content-sha256;x-amz-date',
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
];

describe('the signature of a request', () => {
  for (const [what, example, names, signature] of EXAMPLES) {
    test(`${what}: right as it is, wrong with any other byte`, () => {
      assert.ok(isRight(requestOf(example, authorizationOf(names, signature))));
      const other = signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
      assert.ok(!isRight(requestOf(example, authorizationOf(names, other))));
      assert.ok(!isRight(requestOf({ ...example, method: 'DELETE' }, authorizationOf(names, signature))));
      assert.ok(!isRight(requestOf({ ...example, path: `${example.path}x` }, authorizationOf(names, signature))));
      assert.ok(!isRight(requestOf({ ...example, query: 'prefix=K' }, authorizationOf(names, signature))));
    });
  }

  const presigned = (expires = '86400', more = '') =>
    requestOf({
      path: '/test.txt',
      query: `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${ACCESS_KEY}%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=${expires}&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404${more}`,
      headers: { host: 'examplebucket.s3.amazonaws.com' },
    });

  test('a presigned URL, until it expires', () => {
    assert.ok(isRight(presigned()));
    assert.ok(isRight(presigned(), NOW + 86_400_000));
    assert.ok(!isRight(presigned('86401')));
    assert.ok(!isRight(presigned('86400', '&response-content-type=text/html')));
    refused('AccessDenied', () => isRight(presigned(), NOW + 86_400_001));
    refused('RequestTimeTooSkewed', () => isRight(presigned(), NOW - 16 * 60_000));
    refused('AuthorizationQueryParametersError', () => isRight(presigned('604801')));
    refused('AuthorizationQueryParametersError', () => isRight(presigned('0')));
    refused('AuthorizationQueryParametersError', () => isRight(presigned('86400', '&X-Amz-Expires=1')));
  });

  const [, first, names, signature] = EXAMPLES[0] ?? assert.fail();
  const refusals: readonly (readonly [
    what: string,
    code: string,
    request: ReturnType<typeof requestOf>,
    now?: number,
  ])[] = [
    [
      'a clock 16 minutes ahead',
      'RequestTimeTooSkewed',
      requestOf(first, authorizationOf(names, signature)),
      NOW - 960_000,
    ],
    [
      'a clock 16 minutes behind',
      'RequestTimeTooSkewed',
      requestOf(first, authorizationOf(names, signature)),
      NOW + 960_000,
    ],
    ['version 2', 'InvalidRequest', requestOf(first, 'AWS AKIA:abc=')],
    ['another algorithm', 'AuthorizationHeaderMalformed', requestOf(first, 'AWS4-HMAC-SHA1 Credential=x')],
    ['no credential', 'AuthorizationHeaderMalformed', requestOf(first, `AWS4-HMAC-SHA256 Signature=${signature}`)],
    [
      'a field twice',
      'AuthorizationHeaderMalformed',
      requestOf(first, `${authorizationOf(names, signature)},Signature=${signature}`),
    ],
    [
      'a signature in capitals',
      'AuthorizationHeaderMalformed',
      requestOf(first, authorizationOf(names, signature.toUpperCase())),
    ],
    [
      'another region',
      'AuthorizationHeaderMalformed',
      requestOf(first, authorizationOf(names, signature).replace('us-east-1', 'eu-west-1')),
    ],
    [
      'another service',
      'AuthorizationHeaderMalformed',
      requestOf(first, authorizationOf(names, signature).replace('/s3/', '/sts/')),
    ],
    [
      'another day',
      'AuthorizationHeaderMalformed',
      requestOf(first, authorizationOf(names, signature).replace('20130524', '20130523')),
    ],
    [
      'host is not signed',
      'AuthorizationHeaderMalformed',
      requestOf(first, authorizationOf('range;x-amz-content-sha256;x-amz-date', signature)),
    ],
    [
      'names out of order',
      'AuthorizationHeaderMalformed',
      requestOf(first, authorizationOf('host;x-amz-date;range', signature)),
    ],
    [
      'an x-amz header that is not signed',
      'AccessDenied',
      requestOf(
        { ...first, headers: { ...first.headers, 'x-amz-acl': 'public-read' } },
        authorizationOf(names, signature),
      ),
    ],
    [
      'no digest',
      'MissingSecurityHeader',
      requestOf({ path: '/', headers: at }, authorizationOf('host;x-amz-date', signature)),
    ],
    [
      'both ways at once',
      'InvalidArgument',
      requestOf({ ...first, query: 'X-Amz-Signature=a' }, authorizationOf(names, signature)),
    ],
  ];
  for (const [what, code, request, now] of refusals) test(what, () => refused(code, () => isRight(request, now)));

  test('a request without a signature', () => {
    assert.equal(signedRequestOf(requestOf({ path: '/', headers: at }), 'us-east-1', NOW), undefined);
  });
});

const SIGNED = {
  seed: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  chunks: [
    [65_536, 'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648'],
    [1_024, '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497'],
    [0, 'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9'],
  ],
} as const;
const WITH_TRAILER = {
  seed: '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e',
  chunks: [
    [65_536, 'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2'],
    [1_024, '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7'],
    [0, '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992'],
  ],
} as const;
const TRAILER =
  'x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n';
const SIZE = 66_560;

type Chunk = readonly [size: number, signature: string];

const chunk = ([size, signature]: Chunk, letter = 'a'): string =>
  `${size.toString(16)};chunk-signature=${signature}\r\n${size === 0 ? '' : `${letter.repeat(size)}\r\n`}`;

function signerOf(seed: string) {
  const check = new SignatureCheck();
  const signed = { accessKeyId: ACCESS_KEY, scope: SCOPE, date: '20130524T000000Z' };
  const rest = { signedHeaders: [], signature: seed, payload: '' };
  return { key: check.keyOf({ ...signed, ...rest }, SECRET), ...signed, seed };
}

type Options = ConstructorParameters<typeof ChunkedBody>[1];

/** In pieces of this length: a line may be cut anywhere. */
async function read(text: string, options: Options, pieceBytes = 1_000): Promise<Buffer> {
  const bytes = Buffer.from(text, 'latin1');
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
  return buffer(new ChunkedBody(Readable.from(pieces), options));
}

/** A source of pieces that it reuses; the borrower takes this many bytes at most, and not every time. */
class LendingSource extends Readable implements Lender {
  #borrower: Borrower | undefined;

  override _read(): void {}

  lendTo(borrower: Borrower): void {
    this.#borrower = borrower;
  }

  async send(piece: Buffer, arrived: () => boolean): Promise<void> {
    const lent = Buffer.from(piece);
    const taken = this.#borrower?.borrow(lent) ?? 0;
    lent.fill('?');
    if (taken === piece.length) return;
    this.push(piece.subarray(taken));
    while (!arrived()) await setImmediate();
  }
}

/** The bytes that were lent, and those that were read, in their order. */
async function readLent(text: string, pieceBytes: number, mostTaken: number, size = SIZE): Promise<Buffer> {
  const source = new LendingSource();
  const body = new ChunkedBody(source, { size, signer: signerOf(SIGNED.seed), trailing: undefined });
  const ended = finished(body);
  // It may fail before it is awaited.
  ended.catch(() => undefined);
  const found: Buffer[] = [];
  body.on('data', (bytes: Buffer) => found.push(bytes));
  let calls = 0;
  body.lendTo({
    borrow: (bytes) => {
      const taken = ++calls % 3 === 0 ? 0 : Math.min(bytes.length, mostTaken);
      found.push(Buffer.from(bytes.subarray(0, taken)));
      return taken;
    },
    awaitRoom: () => true,
  });
  const bytes = Buffer.from(text, 'latin1');
  const arrived = (): boolean =>
    body.destroyed || source.readableLength + body.writableLength + body.readableLength === 0;
  for (let at = 0; at < bytes.length && !body.destroyed; at += pieceBytes)
    await source.send(bytes.subarray(at, at + pieceBytes), arrived);
  source.push(null);
  await ended;
  return Buffer.concat(found);
}

const signedBody = (size = SIZE): Options => ({ size, signer: signerOf(SIGNED.seed), trailing: undefined });

describe('a body in chunks', () => {
  const whole = `${SIGNED.chunks.map((one) => chunk(one)).join('')}\r\n`;

  for (const pieceBytes of [1, 7, 1_000, 100_000]) {
    test(`signed chunks, in pieces of ${pieceBytes} bytes`, async () => {
      const bytes = await read(whole, signedBody(), pieceBytes);
      assert.equal(bytes.toString(), 'a'.repeat(SIZE));
    });
  }

  for (const [pieceBytes, mostTaken] of [
    [7, 1],
    [1_000, 400],
    [20_000, 100_000],
    [100_000, 100_000],
  ] as const) {
    test(`signed chunks, lent in pieces of ${pieceBytes} bytes of which ${mostTaken} are taken`, async () => {
      assert.equal((await readLent(whole, pieceBytes, mostTaken)).toString(), 'a'.repeat(SIZE));
    });
  }

  test('a trailer with a checksum, signed', async () => {
    const trailing = await Checksum.open('x-amz-checksum-crc32c');
    const body = { size: SIZE, signer: signerOf(WITH_TRAILER.seed), trailing };
    const bytes = await read(`${WITH_TRAILER.chunks.map((one) => chunk(one)).join('')}${TRAILER}\r\n`, body);
    trailing.update(bytes);
    assert.equal(trailing.verify(), 'sOO8/Q==');
  });

  test('unsigned chunks with a trailer', async () => {
    const trailing = await Checksum.open('x-amz-checksum-crc32');
    const body = { size: 9, signer: undefined, trailing };
    const bytes = await read('4\r\n1234\r\n5\r\n56789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n', body, 3);
    trailing.update(bytes);
    assert.equal(trailing.verify(), 'y/Q5Jg==');
  });

  test('its client waits until it is read', async () => {
    const source = new PassThrough();
    source.write(whole);
    const body = new ChunkedBody(source, signedBody());
    await setImmediate();
    assert.equal(source.readableFlowing, null);
    body.resume();
    await once(source, 'resume');
    body.destroy();
  });

  test('a source that failed before it was read', async () => {
    const source = new PassThrough().on('error', () => undefined);
    source.destroy(new Error('gone'));
    await setImmediate();
    await assert.rejects(buffer(new ChunkedBody(source, signedBody())), /gone/);
  });

  const [one, two, end] = SIGNED.chunks;
  const bad: readonly (readonly [what: string, code: string, text: string, size?: number])[] = [
    ['other bytes in a chunk', 'SignatureDoesNotMatch', `${chunk(one, 'b')}${chunk(two)}${chunk(end)}\r\n`],
    ['chunks in another order', 'SignatureDoesNotMatch', `${chunk(two)}${chunk(one)}${chunk(end)}\r\n`],
    [
      'a chunk twice',
      'SignatureDoesNotMatch',
      `${chunk(one)}${chunk(two)}${chunk(two)}${chunk(end)}\r\n`,
      SIZE + 1_024,
    ],
    ['a chunk left out', 'SignatureDoesNotMatch', `${chunk(one)}${chunk(end)}\r\n`],
    ['no last chunk', 'IncompleteBody', `${chunk(one)}${chunk(two)}`],
    ['cut in a chunk', 'IncompleteBody', whole.slice(0, 40_000)],
    ['cut before the last line', 'IncompleteBody', whole.slice(0, -2)],
    ['bytes behind the end', 'IncompleteBody', `${whole}x`],
    ['a chunk without a signature', 'IncompleteBody', `5\r\nhello\r\n0\r\n\r\n`],
    ['a chunk longer than it says', 'IncompleteBody', chunk(one).replace('\r\naaaa', '\r\naaaaaa')],
    ['a size that is none', 'IncompleteBody', 'xyz;chunk-signature=00\r\n'],
    ['a size without end', 'IncompleteBody', '0'.repeat(300)],
    ['more than announced', 'IncompleteBody', whole, 66_559],
    ['less than announced', 'IncompleteBody', whole, 66_561],
    [
      'a trailer that was not announced',
      'IncompleteBody',
      `${whole.slice(0, -2)}x-amz-checksum-crc32:AAAAAA==\r\n\r\n`,
    ],
  ];
  for (const [what, code, text, size] of bad) {
    test(what, async () => {
      const isExpected = (error: unknown): boolean => error instanceof S3Error && error.s3Code === code;
      await assert.rejects(read(text, signedBody(size)), isExpected);
      await assert.rejects(readLent(text, 20_000, 100_000, size), isExpected);
    });
  }

  const trailers: readonly (readonly [what: string, code: string, trailer: string])[] = [
    ['another checksum', 'SignatureDoesNotMatch', TRAILER.replace('sOO8/Q==', 'sOO8/A==')],
    ['another signature of the trailer', 'SignatureDoesNotMatch', TRAILER.replace('d81f', 'd81e')],
    ['no signature of the trailer', 'SignatureDoesNotMatch', TRAILER.split('\r\n')[0] + '\r\n'],
    ['no trailer', 'IncompleteBody', ''],
    ['a checksum of another length', 'InvalidRequest', TRAILER.replace('sOO8/Q==', 'sOO8')],
    ['a field twice', 'IncompleteBody', TRAILER + TRAILER],
  ];
  for (const [what, code, trailer] of trailers) {
    test(`the trailer: ${what}`, async () => {
      const trailing = await Checksum.open('x-amz-checksum-crc32c');
      const body = { size: SIZE, signer: signerOf(WITH_TRAILER.seed), trailing };
      const text = `${WITH_TRAILER.chunks.map((part) => chunk(part)).join('')}${trailer}\r\n`;
      await assert.rejects(read(text, body), (error) => error instanceof S3Error && error.s3Code === code);
    });
  }
});

test('checksums of the letters 1 to 9', async () => {
  const expected = {
    'content-md5': 'JfnnlDI7RTiF9RgfG2JNCw==',
    'x-amz-checksum-crc32': 'y/Q5Jg==',
    'x-amz-checksum-crc32c': '4waSgw==',
    'x-amz-checksum-crc64nvme': 'rosUhgp5mIg=',
    'x-amz-checksum-sha1': '98O8HYCOBHMq32eZZczDTKeuNEE=',
    'x-amz-checksum-sha256': 'FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=',
  };
  for (const [field, value] of Object.entries(expected)) {
    const checksum = await Checksum.open(field, value);
    for (const piece of ['1234', '', '56789']) checksum.update(Buffer.from(piece));
    assert.equal(checksum.verify(), value, field);
    assert.equal(checksum.verify(), value, `${field} again, for the answer`);
  }
});

function refused(code: string, work: () => unknown): void {
  assert.throws(work, (error) => error instanceof S3Error && error.s3Code === code);
}
