/**
 * The form upload. Mistakes of other gateways: a cut form whose file ended like a complete one, lost fields after the
 * file, an ignored `filename*`, a part of another encoding that was stored unchanged.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { GatewayError, hasCode } from '../../src/base/errors.js';
import { readMultipart } from '../../src/http/body/multipart-body.js';
import { assertFlatMemory } from '../support/memory.js';
import { bodyOf, collect, cut, settled } from './body-source.js';

const OPTIONS: Parameters<typeof readMultipart>[2] = { fileField: 'file', maxFieldBytes: 1000, maxFields: 4 };
const BOUNDARY = '----boundary7MA4YWxkTrZu0gW';
const FORM = `multipart/form-data; boundary=${BOUNDARY}`;
const MiB = 1024 * 1024;

interface Part {
  readonly headers: readonly string[];
  readonly content: Buffer | string;
}

const field = (name: string, content: Buffer | string): Part => ({
  headers: [`Content-Disposition: form-data; name="${name}"`],
  content,
});
const file = (content: Buffer | string, disposition = 'name="file"; filename="a.bin"'): Part => ({
  headers: [`Content-Disposition: form-data; ${disposition}`, 'Content-Type: application/octet-stream'],
  content,
});

function form(...parts: readonly Part[]): Buffer {
  const written = parts.flatMap(({ headers, content }) => [
    Buffer.from(`--${BOUNDARY}\r\n${headers.join('\r\n')}\r\n\r\n`, 'utf8'),
    Buffer.from(content as Buffer),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...written, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

async function read(bytes: Buffer, sizes: readonly number[] = [65536], isSlow = false, contentType = FORM) {
  const opened = await readMultipart(bodyOf(cut(bytes, sizes)), contentType, OPTIONS);
  const content = await collect(opened.file.stream, isSlow);
  const { filename, contentType: type } = opened.file;
  return { before: { ...opened.fields }, fields: { ...(await opened.rest()) }, filename, type, content };
}

const isBadRequest = (error: unknown) => hasCode(error, 'bad_request');
const isTooLarge = (error: unknown) => hasCode(error, 'too_large');

/** Content that keeps beginning a boundary without finishing it. */
const almostBoundary = fc
  .array(
    fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      '\r\n-',
      '\r\n--',
      `\r\n--${BOUNDARY.slice(0, -1)}`,
      `--${BOUNDARY}`,
      'x',
      '\u0000',
    ),
    {
      maxLength: 40,
    },
  )
  .map((parts) => `x${parts.join('x')}`);

describe('a form', () => {
  test('gives its fields and its file, however it is cut and however slowly it is read', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.stringMatching(/^[a-z]{1,8}$/).filter((name) => name !== 'file'),
          fc.string({ unit: 'grapheme', maxLength: 30 }),
          { maxKeys: 4 },
        ),
        fc.nat(4),
        almostBoundary,
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (fields, place, content, sizes, isSlow) => {
          const parts = Object.entries(fields).map(([name, value]) => field(name, value));
          const index = Math.min(place, parts.length);
          parts.splice(index, 0, file(content));
          const outcome = await read(form(...parts), sizes, isSlow);
          assert.deepEqual(outcome.fields, { ...fields });
          assert.deepEqual(Object.keys(outcome.before), Object.keys(fields).slice(0, index));
          assert.equal(outcome.content.toString(), content);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('is read as a browser writes it', async () => {
    const data = new FormData();
    data.set('path', '/größe');
    data.set('file', new Blob(['hello'], { type: 'text/plain' }), 'a "quoted" \\ näme%41.txt');
    data.set('overwrite', 'false');
    const sent = new Response(data);
    const bytes = Buffer.from(await sent.clone().arrayBuffer());
    const outcome = await read(bytes, [10], false, sent.headers.get('content-type')!);
    assert.deepEqual(outcome, {
      before: { path: '/größe' },
      fields: { path: '/größe', overwrite: 'false' },
      // Cut at the backslash, which browsers send unescaped.
      filename: ' näme%41.txt',
      type: 'text/plain',
      content: Buffer.from('hello'),
    });
  });

  test('that is cut off anywhere never ends its file as if it were complete', async () => {
    const whole = form(field('path', '/a'), file('line\r\n--\r\nline'), field('overwrite', 'false'));
    const closed = whole.lastIndexOf('--') + 2;
    const fileEnd = whole.indexOf('\r\n', whole.indexOf('--\r\nline') + 4) + `\r\n--${BOUNDARY}`.length;
    for (let length = 0; length < closed; length++) {
      const opened = await readMultipart(bodyOf(cut(whole.subarray(0, length), [9])), FORM, OPTIONS).catch(
        (error: unknown) => {
          assert.ok(isBadRequest(error), `cut at ${length}: ${String(error)}`);
        },
      );
      if (opened === undefined) continue;
      const ended = await collect(opened.file.stream).catch((error: unknown) => assert.ok(isBadRequest(error)));
      assert.ok(ended === undefined || length >= fileEnd, `the file ended, cut at ${length}`);
      await assert.rejects(opened.rest(), isBadRequest, `cut at ${length}`);
    }
    assert.equal((await read(whole.subarray(0, closed))).content.toString(), 'line\r\n--\r\nline');
  });

  test('may carry a preamble, an epilogue and an empty file', async () => {
    const bytes = Buffer.concat([
      Buffer.from('ignore me\r\n'),
      form(file('')),
      Buffer.from(`and me\r\n--${BOUNDARY}\r\n`),
    ]);
    for (const size of [1, 3, 65536]) assert.equal((await read(bytes, [size])).content.length, 0);
    const bare = await read(form({ headers: ['content-disposition: form-data;name=file'], content: 'x' }));
    assert.deepEqual([bare.filename, bare.type, bare.content.toString()], [undefined, undefined, 'x']);
  });

  const names: Record<string, [disposition: string, filename: string | undefined]> = {
    'a plain name': ['filename="a b.txt"', 'a b.txt'],
    'a token': ['filename=a.txt', 'a.txt'],
    'UTF-8': ['filename="größe 😀.txt"', 'größe 😀.txt'],
    'a quote as browsers write it': ['filename="a%22b%41%0A.txt"', 'a"b%41%0A.txt'],
    'escaped quotes': ['filename="a\\"b.txt"', 'a"b.txt'],
    'a semicolon inside': ['filename="a;b=c.txt"; x="y"', 'a;b=c.txt'],
    'a folder of the client': ['filename="/home/me/a.txt"', 'a.txt'],
    'a folder of a Windows client': ['filename="C:\\temp\\new.txt"', 'new.txt'],
    'escaped backslashes': ['filename="C:\\\\temp\\\\a.txt"', 'a.txt'],
    'an empty name': ['filename=""', undefined],
    'a folder alone': ['filename="a/"', undefined],
    'filename* before filename': [`filename*=UTF-8''gr%C3%B6%c3%9fe.txt; filename="ascii.txt"`, 'größe.txt'],
    'filename* after filename': [`filename="ascii.txt"; filename*=utf-8'de'gr%C3%B6%C3%9Fe.txt`, 'größe.txt'],
    'filename* in latin1': [`filename*=ISO-8859-1''gr%F6sse.txt`, 'grösse.txt'],
    'a folder in filename*': [`filename*=UTF-8''a%2F..%5Cb.txt`, 'b.txt'],
  };
  for (const [name, [disposition, filename]] of Object.entries(names)) {
    test(`takes the file name from ${name}`, async () => {
      assert.equal((await read(form(file('x', `name="file"; ${disposition}`)), [11])).filename, filename);
    });
  }

  const malformed: Record<string, Buffer> = {
    'no part': Buffer.from(`--${BOUNDARY}--\r\n`),
    'an empty body': Buffer.alloc(0),
    'another boundary': Buffer.from(form(file('x')).toString().replaceAll(BOUNDARY, 'other')),
    'no file': form(field('path', '/a')),
    'a file under another name': form(file('x', 'name="upload"; filename="a"')),
    'a second file': form(file('x'), file('y')),
    'a file under another name after the file': form(file('x'), file('y', 'name="upload"; filename="a"')),
    'a repeated field': form(field('path', '/a'), field('path', '/b'), file('x')),
    'a repeated field after the file': form(field('path', '/a'), file('x'), field('path', '/b')),
    'too many fields': form(...['a', 'b', 'c', 'd', 'e'].map((name) => field(name, '1')), file('x')),
    'a field that is not UTF-8': form(field('path', Buffer.of(0xff)), file('x')),
    'a part without a name': form({ headers: ['Content-Disposition: form-data'], content: 'x' }, file('x')),
    'a part without Content-Disposition': form({ headers: ['Content-Type: text/plain'], content: 'x' }, file('x')),
    'a part without headers': form({ headers: [], content: 'x' }, file('x')),
    'an attachment for a part': form({ headers: ['Content-Disposition: attachment; name="file"'], content: 'x' }),
    'a disposition that is not closed': form(file('x', 'name="file"; filename="a')),
    'two names': form(file('x', 'name="file"; name="path"')),
    'two dispositions': form({ headers: [...field('a', '').headers, ...field('file', '').headers], content: 'x' }),
    'a bare line feed in a header': form(file('x', 'name="file"; filename="a\nb"')),
    'filename* without a charset': form(file('x', 'name="file"; filename*=a.txt')),
    'filename* in bad UTF-8': form(file('x', `name="file"; filename*=UTF-8''%FF`)),
    'a file in base64': form({ headers: [...file('').headers, 'Content-Transfer-Encoding: base64'], content: 'eA==' }),
    'huge part headers': form({ headers: [...file('').headers, `X-A: ${'x'.repeat(20_000)}`], content: 'x' }),
    'a delimiter inside the headers': Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n--${BOUNDARY}--\r\n`,
    ),
    'two delimiters in a row': Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n`), form(file('x'))]),
  };
  for (const [name, bytes] of Object.entries(malformed)) {
    test(`with ${name} is bad_request, in one chunk and byte by byte`, async () => {
      await assert.rejects(read(bytes), isBadRequest);
      await assert.rejects(read(bytes, [1]), isBadRequest);
    });
  }

  test('without a usable boundary is bad_request', async () => {
    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/mixed; boundary=x',
      `multipart/form-data; boundary=${'x'.repeat(71)}`,
    ]) {
      await assert.rejects(readMultipart(bodyOf([form(file('x'))]), type, OPTIONS), isBadRequest, type);
    }
    const quoted = `Multipart/Form-Data; charset=utf-8; Boundary="${BOUNDARY}"`;
    assert.equal((await read(form(file('x')), [65536], false, quoted)).content.toString(), 'x');
  });

  test('with a large field, or endless other bytes, is too_large', async () => {
    assert.equal((await read(form(field('path', 'x'.repeat(1000)), file('x')))).fields.path?.length, 1000);
    await assert.rejects(read(form(field('path', 'x'.repeat(1001)), file('x')), [50]), isTooLarge);
    await assert.rejects(read(Buffer.concat([Buffer.alloc(MiB), form(file('x'))])), isTooLarge);
    await assert.rejects(read(form({ headers: [`X-A: ${'x'.repeat(MiB)}`], content: '' })), isTooLarge);
    await assert.rejects(read(Buffer.concat([form(file('x')), Buffer.alloc(MiB)])), isTooLarge);
  });
});

describe('a form that fails', () => {
  const open = (body: Readable, options = OPTIONS) => readMultipart(body, FORM, options);
  const half = form(file('x'.repeat(4 * MiB))).subarray(0, 3 * MiB);

  test('because the client left destroys the file with the same error', async () => {
    const gone = new GatewayError('client_gone', 'the client left');
    const opened = await open(bodyOf(cut(half, [65536]), gone));
    await assert.rejects(collect(opened.file.stream), gone);
    await assert.rejects(opened.rest(), gone);
    await assert.rejects(open(bodyOf([Buffer.from('--')], gone)), gone);
  });

  test('because the request was aborted stops with the reason', async () => {
    const reason = new GatewayError('draining', 'stopping');
    const abort = new AbortController();
    const body = bodyOf(cut(half, [65536]));
    const opened = await open(body, { ...OPTIONS, signal: abort.signal });
    opened.file.stream.once('data', () => abort.abort(reason));
    await assert.rejects(collect(opened.file.stream, true), reason);
    assert.equal(body.destroyed, true);
  });

  test('because its reader gave up destroys the body', async () => {
    const full = new GatewayError('no_space', 'the target is full');
    const body = bodyOf(cut(half, [65536]));
    const opened = await open(body);
    const sink = new Writable({ write: (_chunk, _encoding, done) => done(full) });
    await assert.rejects(pipeline(opened.file.stream, sink), full);
    await assert.rejects(opened.rest(), full);
    assert.equal(body.destroyed, true);
  });
});

describe('a large form', () => {
  test('of 200 MiB arrives complete in flat memory, and waits for a reader that stalls', async () => {
    const block = randomBytes(512 * 1024);
    await assertFlatMemory(200 * MiB, async (bytes, passed) => {
      const sent = createHash('md5');
      let made = 0;
      function* chunks(): Generator<Buffer> {
        yield form(file('')).subarray(0, -`\r\n--${BOUNDARY}--\r\n`.length);
        for (; made < bytes; made += block.length) {
          sent.update(block);
          yield Buffer.from(block);
        }
        yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
      }
      const opened = await readMultipart(bodyOf(chunks()), FORM, OPTIONS);
      assert.ok((await settled(() => made)) <= 3 * block.length, `took ${made} bytes that were not read`);
      const received = createHash('md5');
      for await (const chunk of opened.file.stream as AsyncIterable<Buffer>) {
        received.update(chunk);
        passed(chunk.length);
      }
      await opened.rest();
      assert.equal(received.digest('hex'), sent.digest('hex'));
    });
  });
});
