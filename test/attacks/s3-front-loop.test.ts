/** The S3 front's event loop: what a client with a key may send holds it for no more than 50 ms, and costs bounded memory. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, type TestGateway } from '../support/gateway.js';
import { longestHold, MAX_HOLD_MS, startWatchedGateway } from './support/loop.js';
import { chunksOf, type S3Answer, type Shot, Signer } from './support/s3-signer.js';

const PAIR = { accessKeyId: 'ATTACKLOOPXXXXXXXXXX', secretAccessKey: 'secret-of-the-loop-0123456789-0123456789' };
const MIB = 1024 * 1024;
/** Below the bound of 2 MiB, with what is around it. */
const MOST = 2 * MIB - 1_024;
const CHUNKS = 30_000;

const filled = (piece: string, bytes = MOST): string => piece.repeat(Math.floor(bytes / piece.length));
const deletion = (inside: string): Shot => ({
  method: 'POST',
  path: '/s3/first',
  query: 'delete=',
  body: `<Delete>${inside}</Delete>`,
});
const keys = (key: string): string => `<Object><Key>${key}</Key></Object>`.repeat(1_000);

/** Requests for the deletion of keys, and their answers. */
const DELETIONS: readonly (readonly [what: string, answer: string, inside: string])[] = [
  ['1,000 keys', '200 ', keys('none.txt')],
  ['1,000 keys of quotes, each longer in the answer', '200 InvalidArgument', keys(`${filled('"', 1_000)}//`)],
  ['2 MiB of elements', '400 MalformedXML', filled('<a/>')],
  ['2 MiB of elements with a prefix', '400 MalformedXML', filled('<a:b/>')],
  ['2 MiB of items', '400 MalformedXML', filled('<Object><Key>a</Key></Object>')],
  ['2 MiB of items of elements', '400 MalformedXML', filled(`<Object>${filled('<a/>', 8_000)}</Object>`)],
  ['2 MiB of beginnings', '400 MalformedXML', filled('<a>')],
  ['2 MiB of instructions', '400 MalformedXML', filled('<?a?>')],
  ['2 MiB of ends', '400 MalformedXML', filled('</Delete>')],
  ['2 MiB of spaces', '400 MalformedXML', filled(' ')],
  ['2 MiB of ends and spaces', '400 MalformedXML', filled(`</Delete>${' '.repeat(2_000)}`)],
  ['2 MiB of references', '400 MalformedXML', `<Object><Key>${filled('&amp;')}</Key></Object>`],
  ['2 MiB of attributes', '400 MalformedXML', `<Object ${filled('a="" ')}/>`],
  ['more than 2 MiB', '400 EntityTooLarge', filled('<a/>', 3 * MIB)],
];

describe('the event loop of the S3 front', { concurrency: 1 }, () => {
  let sshd: TestSshd;
  let gateway: TestGateway;
  let signer: Signer;

  before(async () => {
    sshd = await startSshd();
    mkdirSync(join(sshd.files, 'first'));
    const { port, username, clientKeyFile, files } = sshd;
    const place = { host: '127.0.0.1', port, username, privateKeyFile: clientKeyFile, rootPath: `${files}/first` };
    gateway = await startWatchedGateway({
      connections: [{ id: 'first', name: 'first', type: 'sftp', ...place, defaultPath: '/' }],
      apiKeys: [{ name: 'test', key: KEY, s3: PAIR }],
      config: { s3: { enabled: true }, limits: { requestsPerSecond: 0 } },
    });
    signer = new Signer(gateway.port, PAIR);
    // What is compiled at the first request is not what these tests are about.
    await signer.send(deletion(keys('none.txt')));
  });
  after(async () => {
    await gateway?.stop();
    await sshd?.stop();
  });

  async function isServing(work: () => Promise<S3Answer>, expected: string): Promise<void> {
    const hold = await longestHold(gateway, async () => {
      const { status, code } = await work();
      assert.equal(`${status} ${code}`, expected);
    });
    assert.ok(hold < MAX_HOLD_MS, `the event loop was held for ${Math.round(hold)} ms`);
  }

  for (const [what, expected, inside] of DELETIONS) {
    test(`a deletion of ${what}`, () => isServing(() => signer.send(deletion(inside)), expected));
  }

  test('a body in chunks of one byte, each signed', async () => {
    const headers = { 'x-amz-decoded-content-length': String(CHUNKS) };
    const signed = signer.sign({
      method: 'PUT',
      path: '/s3/first/small',
      headers,
      payload: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    });
    const body = Buffer.from(chunksOf(signed, filled('x', CHUNKS).split('')).join(''));
    await isServing(() => signer.send({ ...signed, body }), '200 ');
    assert.equal(readFileSync(join(sshd.files, 'first', 'small'), 'utf8'), filled('x', CHUNKS));
  });

  test('a body in chunks of one byte, not signed, with a checksum', async () => {
    const headers = { 'x-amz-decoded-content-length': String(4 * CHUNKS), 'x-amz-trailer': 'x-amz-checksum-crc32' };
    const signed = signer.sign({
      method: 'PUT',
      path: '/s3/first/small',
      headers,
      payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    });
    const body = Buffer.from(`${filled('1\r\nx\r\n', 6 * 4 * CHUNKS)}0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n`);
    await isServing(() => signer.send({ ...signed, body }), '400 BadDigest');
  });

  test('as many fields as a head may have', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 80 }, (_, at) => [`x-amz-meta-${at}`, filled('a b  ', 30)]),
    );
    await isServing(() => signer.send({ path: '/s3/', headers: withSingleSpaces(headers) }), '200 ');
  });
});

/** As they are signed. */
function withSingleSpaces(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace(/ +/g, ' ')]));
}
