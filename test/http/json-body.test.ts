/**
 * The JSON form of upload, write and append. Mistakes of other gateways: a cut body that ended like a complete one,
 * ignored fields after the content, a body held in memory, a slow target that did not slow down the client.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { GatewayError, hasCode } from '../../src/base/errors.js';
import { readJsonBody } from '../../src/http/body/json-body.js';
import { createBase64 } from '../../src/workers/base64.js';
import { assertFlatMemory } from '../support/memory.js';
import { bodyOf, collect, cut, settled } from './body-source.js';
import { anyCharacter } from '../support/any-character.js';

const OPTIONS: Parameters<typeof readJsonBody>[1] = { streamField: 'content', maxBytes: 0 };
const MiB = 1024 * 1024;

interface Outcome {
  readonly fields: Record<string, unknown>;
  readonly content: string | undefined;
}

/** Reads a whole body the way an upload does. */
async function read(bytes: Buffer | string, sizes: readonly number[] = [65536], isSlow = false): Promise<Outcome> {
  const json = await readJsonBody(bodyOf(cut(Buffer.from(bytes), sizes)), OPTIONS);
  const content = json.content === undefined ? undefined : (await collect(json.content, isSlow)).toString('utf8');
  return { fields: { ...(await json.rest()) }, content };
}

const isBadRequest = (error: unknown) => hasCode(error, 'bad_request');

const textWithEverything = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.base64String({ maxLength: 200 }),
);

/** Writes a string with escapes that JSON.stringify would not choose. */
function escapeFreely(text: string, choices: readonly number[]): string {
  let i = 0;
  const escaped = [
    ...JSON.stringify(text)
      .slice(1, -1)
      .matchAll(/\\u[0-9a-f]{4}|\\.|[^\\]/gsu),
  ].map(([token]) => {
    const choice = choices[i++ % choices.length]!;
    if (token.startsWith('\\') || choice > 1) return token === '/' && choice === 2 ? '\\/' : token;
    const units = Array.from({ length: token.length }, (_, k) => token.charCodeAt(k).toString(16).padStart(4, '0'));
    return units.map((unit) => `\\u${choice === 0 ? unit : unit.toUpperCase()}`).join('');
  });
  return `"${escaped.join('')}"`;
}

const space = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

/** A well-formed body as text, its fields in a random order. */
const body = fc
  .record({
    fields: fc.dictionary(
      textWithEverything.filter((key) => key !== 'content' && key.isWellFormed()),
      fc.jsonValue({ maxDepth: 3 }),
      {
        maxKeys: 6,
      },
    ),
    content: fc.option(
      textWithEverything.filter((text) => text.isWellFormed()),
      { nil: undefined },
    ),
    place: fc.nat(6),
    escapes: fc.array(fc.nat(4), { minLength: 1, maxLength: 20 }),
    space,
    mark: fc.constantFrom('', '\ufeff'),
  })
  .map(({ fields, content, place, escapes, space, mark }) => {
    const members = Object.entries(fields).map(
      ([key, value]) => `${escapeFreely(key, escapes)}${space}:${space}${JSON.stringify(value, null, space)}`,
    );
    if (content !== undefined) members.splice(place, 0, `"content"${space}:${space}${escapeFreely(content, escapes)}`);
    return mark + space + `{${space}${members.join(`${space},${space}`)}${space}}` + space;
  });

/** The result of JSON.parse for a body; throws if it does. */
function model(text: string): Outcome {
  const fields = { ...(JSON.parse(text.replace(/^\ufeff/, '')) as Record<string, unknown>) };
  if (typeof fields.content !== 'string') return { fields, content: undefined };
  const { content } = fields;
  delete fields.content;
  return { fields, content };
}

describe('a JSON body', () => {
  test('gives what JSON.parse gives, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(body, sizes, fc.boolean(), async (text, sizes, isSlow) => {
        assert.deepEqual(await read(text, sizes, isSlow), model(text));
      }),
      { numRuns: 400 },
    );
  });

  test('that is damaged is refused, or still means what JSON.parse reads', async () => {
    const damage = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.nat(3),
      put: fc.string({ unit: 'binary-ascii', maxLength: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(body, damage, sizes, async (text, { at, length, put }, sizes) => {
        const bytes = Buffer.from(text);
        const start = Math.floor(at * bytes.length);
        const damaged = Buffer.concat([bytes.subarray(0, start), Buffer.from(put), bytes.subarray(start + length)]);
        let outcome: Outcome;
        try {
          outcome = await read(damaged, sizes);
        } catch (error) {
          assert.ok(isBadRequest(error), String(error));
          return;
        }
        assert.deepEqual(outcome, model(new TextDecoder('utf-8', { fatal: true }).decode(damaged)));
      }),
      { numRuns: 1500 },
    );
  });

  test('is refused at every position where it can be cut off', async () => {
    const whole = Buffer.from(
      '\ufeff { "path": "/a\\u00e9", "n": [1, {"x": "]"}], "content": "a\\n\\ud83d\\ude00é", "t": true } ',
    );
    const end = whole.lastIndexOf('}');
    for (let length = 0; length <= end; length++) {
      await assert.rejects(read(whole.subarray(0, length), [7]), isBadRequest, `cut at ${length}`);
    }
    assert.deepEqual(await read(whole), {
      fields: { path: '/aé', n: [1, { x: ']' }], t: true },
      content: 'a\n😀é',
    });
  });

  const malformed: Record<string, string | Buffer> = {
    'an empty body': '',
    'white space alone': ' \n',
    'a byte order mark alone': '\ufeff',
    'half a byte order mark': Buffer.from([0xef, 0x7b, 0x7d]),
    'a byte order mark after a space': ' \ufeff{}',
    'an array': '[]',
    'a string': '"content"',
    'a trailing comma': '{"a":1,}',
    'a missing comma': '{"a":1 "b":2}',
    'a missing colon': '{"a" 1}',
    'a missing value': '{"a":,"b":1}',
    'a key without quotes': '{a:1}',
    'two objects': '{"content":"x"}{}',
    'trailing garbage': '{"content":"x"} x',
    'a repeated field': '{"a":1,"\\u0061":2}',
    'a repeated content': '{"content":"x","content":"y"}',
    'content after another content that is no string': '{"content":1,"content":"y"}',
    'an unknown literal': '{"a":nul}',
    NaN: '{"a":NaN}',
    'a leading zero': '{"a":01}',
    'brackets that do not match': '{"a":[1}]}',
    'a raw line break in a field': '{"a":"x\ny"}',
    'a raw control character in content': `{"content":"${'x'.repeat(40)}\u001f${'x'.repeat(40)}"}`,
    'a raw control character after an escape in content': '{"content":"\\n\u0001"}',
    'an unknown escape in content': '{"content":"\\x41"}',
    'a short \\u escape in content': '{"content":"\\u12"}',
    'a lone high surrogate': '{"content":"\\ud83dx"}',
    'a lone high surrogate before another escape': '{"content":"\\ud83d\\n"}',
    'an escape between the halves of a pair': '{"content":"\\ud83d\\n\\ude00"}',
    'two high surrogates': '{"content":"\\ud83d\\ud83d"}',
    'a lone high surrogate at the end': '{"content":"\\ud83d"}',
    'a lone low surrogate': '{"content":"\\ude00"}',
    'a lone surrogate in a field': '{"path":"a\\ud800b"}',
    'a lone surrogate in a key': '{"\\udc00":1}',
    'invalid UTF-8 in content': Buffer.from('{"content":"a\xffb"}', 'latin1'),
    'an overlong sequence in content': Buffer.from('{"content":"\xc0\xaf"}', 'latin1'),
    'a surrogate as UTF-8 in content': Buffer.from('{"content":"\xed\xa0\x80"}', 'latin1'),
    'half a character at the end of content': Buffer.from('{"content":"\xe2\x82"}', 'latin1'),
    'half a character at the end, after an escape': Buffer.from('{"content":"\\n\xe2\x82"}', 'latin1'),
    'half a character before an escape': Buffer.from('{"content":"\xe2\x82\\n"}', 'latin1'),
    'invalid UTF-8 in a field': Buffer.from('{"a":"\xff"}', 'latin1'),
    'brackets nested too deep': `{"a":${'['.repeat(65)}${']'.repeat(65)}}`,
  };
  for (const [name, bytes] of Object.entries(malformed)) {
    test(`with ${name} is bad_request, in one chunk and byte by byte`, async () => {
      await assert.rejects(read(bytes), isBadRequest);
      await assert.rejects(read(bytes, [1]), isBadRequest);
    });
  }

  test('an error names the wrong byte', async () => {
    await assert.rejects(read('{"a":1, b:2}'), /at byte 8:/);
    await assert.rejects(
      read(`{"content":"${'x'.repeat(100_000)}\u0002"}`, [999]),
      /at byte 100012:.*control character.*"content"/,
    );
  });

  test('content that is no string is a plain field, which the schema refuses', async () => {
    for (const value of [1, null, { a: [] }, true]) {
      assert.deepEqual(await read(JSON.stringify({ content: value, path: '/a' })), {
        fields: { content: value, path: '/a' },
        content: undefined,
      });
    }
  });

  test('empty content is a stream that ends', async () => {
    assert.deepEqual(await read('{"content":"","path":"/a"}', [1]), { fields: { path: '/a' }, content: '' });
  });

  test('the fields before content are there when it begins, the later ones after it', async () => {
    const json = await readJsonBody(
      bodyOf(cut(Buffer.from('{"path":"/a","content":"abc","overwrite":false}'), [5])),
      OPTIONS,
    );
    assert.deepEqual({ ...json.fields }, { path: '/a' });
    await collect(json.content!);
    assert.deepEqual({ ...json.fields }, { path: '/a' });
    assert.deepEqual({ ...(await json.rest()) }, { path: '/a', overwrite: false });
  });

  test('a field called __proto__ is a field and changes no object', async () => {
    const json = await readJsonBody(bodyOf([Buffer.from('{"__proto__":{"polluted":1},"constructor":2}')]), OPTIONS);
    assert.deepEqual(Object.keys(json.fields), ['__proto__', 'constructor']);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    assert.equal((json.fields as Record<string, unknown>).polluted, undefined);
  });

  test('large fields other than content are too_large, and content is not', async () => {
    const isTooLarge = (error: unknown) => hasCode(error, 'too_large');
    await assert.rejects(read(`{"path":"${'x'.repeat(65 * 1024)}"}`, [1000]), isTooLarge);
    await assert.rejects(read(`{"${'x'.repeat(65 * 1024)}":1}`), isTooLarge);
    await assert.rejects(
      read(`{${Array.from({ length: 5 }, (_, i) => `"f${i}":"${'x'.repeat(60_000)}"`).join()}}`),
      isTooLarge,
    );
    assert.equal((await read(`{"content":"${'x'.repeat(MiB)}"}`)).content?.length, MiB);
  });

  test('a body over maxBytes is too_large, and one of just that size passes', async () => {
    const bytes = Buffer.from(`{"content":"${'x'.repeat(1000)}"}`);
    const readBounded = async (maxBytes: number) => {
      const json = await readJsonBody(bodyOf(cut(bytes, [100])), { ...OPTIONS, maxBytes });
      await collect(json.content!);
      return json.rest();
    };
    await readBounded(bytes.length);
    await assert.rejects(readBounded(bytes.length - 1), (error) => hasCode(error, 'too_large'));
  });
});

describe('a JSON body that fails', () => {
  test('because the client left destroys content with the same error', async () => {
    const gone = new GatewayError('client_gone', 'the client left');
    const json = await readJsonBody(bodyOf([Buffer.from('{"content":"abc')], gone), OPTIONS);
    await assert.rejects(collect(json.content!), gone);
    await assert.rejects(json.rest(), gone);
  });

  test('before content begins rejects with the same error', async () => {
    const gone = new GatewayError('client_gone', 'the client left');
    await assert.rejects(readJsonBody(bodyOf([Buffer.from('{"path":')], gone), OPTIONS), gone);
    const dead = bodyOf([]);
    dead.on('error', () => {});
    dead.destroy(gone);
    await assert.rejects(readJsonBody(dead, OPTIONS), gone);
  });

  test('by closing without an end or an error is client_gone', async () => {
    const body = bodyOf(cut(Buffer.from(`{"content":"${'x'.repeat(MiB)}"}`), [65536]));
    const json = await readJsonBody(body, OPTIONS);
    json.content!.once('data', () => body.destroy());
    await assert.rejects(collect(json.content!), (error) => hasCode(error, 'client_gone'));
  });

  test('because the request was aborted stops with the reason, and destroys the body', async () => {
    const reason = new GatewayError('draining', 'stopping');
    const abort = new AbortController();
    const body = bodyOf(cut(Buffer.from(`{"content":"${'x'.repeat(MiB)}"}`), [65536]));
    const json = await readJsonBody(body, { ...OPTIONS, signal: abort.signal });
    json.content!.once('data', () => abort.abort(reason));
    await assert.rejects(collect(json.content!, true), reason);
    assert.equal(body.destroyed, true);
    await assert.rejects(readJsonBody(bodyOf([]), { ...OPTIONS, signal: abort.signal }), reason);
  });

  test('before its content is read fails the later reader, not the process', async () => {
    const body = bodyOf([Buffer.from('{"content":"abc')], new GatewayError('client_gone', 'the client left'));
    const json = await readJsonBody(body, OPTIONS);
    await assert.rejects(json.rest(), (error) => hasCode(error, 'client_gone'));
    assert.equal(json.content!.destroyed, true);
    const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
    await assert.rejects(pipeline(json.content!, sink), (error) => hasCode(error, 'client_gone'));
  });

  test('malformed after its content is bad_request from rest(), and the body is destroyed', async () => {
    const body = bodyOf(cut(Buffer.from(`{"content":"abc", oops${' '.repeat(MiB)}`), [20]));
    const json = await readJsonBody(body, OPTIONS);
    await collect(json.content!).catch(() => {});
    await assert.rejects(json.rest(), isBadRequest);
    assert.equal(body.destroyed, true);
  });

  test('a reader that gives up destroys the body', async () => {
    const full = new GatewayError('no_space', 'the target is full');
    const body = bodyOf(cut(Buffer.from(`{"content":"${'x'.repeat(4 * MiB)}"}`), [65536]));
    const json = await readJsonBody(body, OPTIONS);
    const sink = new Writable({ write: (_chunk, _encoding, done) => done(full) });
    await assert.rejects(pipeline(json.content!, sink), full);
    await assert.rejects(json.rest(), full);
    assert.equal(body.destroyed, true);
  });
});

/** `{"content":"<base64 of generated bytes>"}` in chunks of one size. */
function* largeBody(totalBytes: number, chunkBytes: number, digest: ReturnType<typeof createHash>): Generator<Buffer> {
  const block = randomBytes((chunkBytes / 4) * 3);
  const text = Buffer.from(block.toString('base64'));
  yield Buffer.from('{"path":"/big","content":"');
  for (let made = 0; made < totalBytes; made += text.length) {
    digest.update(block);
    yield Buffer.from(text);
  }
  yield Buffer.from('","overwrite":true}');
}

describe('a large JSON body', () => {
  for (const chunkBytes of [64 * 1024, 512 * 1024]) {
    test(`of 200 MiB in chunks of ${chunkBytes / 1024} KiB arrives complete in flat memory`, async () => {
      const base64 = createBase64({ threads: 1, inlineBelowBytes: 262144 });
      await assertFlatMemory(200 * MiB, async (bytes, passed) => {
        const sent = createHash('md5');
        const received = createHash('md5');
        const sink = new Writable({
          write: (chunk: Buffer, _encoding, done) => {
            received.update(chunk);
            // The bytes of the text, whose content is three quarters of it.
            passed((chunk.length / 3) * 4);
            done();
          },
        });
        const json = await readJsonBody(bodyOf(largeBody(bytes, chunkBytes, sent)), OPTIONS);
        await pipeline(json.content!, base64.decode(), sink);
        assert.deepEqual({ ...(await json.rest()) }, { path: '/big', overwrite: true });
        assert.equal(received.digest('hex'), sent.digest('hex'));
      });
    });
  }

  test('waits for a reader that stalls', async () => {
    let made = 0;
    function* counted(): Generator<Buffer> {
      for (const chunk of largeBody(64 * MiB, 64 * 1024, createHash('md5'))) {
        made += chunk.length;
        yield chunk;
      }
    }
    const json = await readJsonBody(bodyOf(counted()), OPTIONS);
    const held = await settled(() => made);
    assert.ok(held <= 512 * 1024, `took ${held} bytes that were not read`);
    json.content!.resume();
    await json.rest();
    assert.ok(made > 64 * MiB);
  });
});
