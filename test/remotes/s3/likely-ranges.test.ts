/** A range of an object that was not looked at before: one request, and another try where its answer does not fit. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { ByteRange, FileInfo, LikelyRange, SelectRange } from '../../../src/remotes/remote.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { etagOf, S3Stub, s3Error, type Answer, type Intercept } from '../../servers/scripted-s3.js';
import { at, connectionTo, failsWith, S3Rig } from '../support/s3-rig.js';

const CONTENT = randomBytes(300_000);
const LAST = CONTENT.length - 1;

/** The part of an object that a Range field means. */
function answerRange(object: Buffer, field: string): Answer {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(field) ?? [];
  const start = from === '' ? Math.max(0, object.length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? object.length - 1 : Math.min(Number(to), object.length - 1);
  if (start > end) return s3Error(416, 'InvalidRange');
  const body = object.subarray(start, end + 1);
  const facts = { etag: etagOf(object), 'last-modified': new Date().toUTCString() };
  return { status: 206, headers: { ...facts, 'content-range': `bytes ${start}-${end}/${object.length}` }, body };
}

describe('a range of an object that was not looked at', () => {
  let stub: S3Stub;
  let rig: S3Rig;

  const answers: Intercept = ({ method, key, headers }) => {
    const object = stub.objects.get(key);
    if (method !== 'GET' || object === undefined || headers.range === undefined) return undefined;
    return answerRange(object, headers.range);
  };

  before(async () => {
    stub = await S3Stub.start();
  });
  beforeEach(() => {
    stub.reset();
    stub.objects.set('f', CONTENT);
    stub.late = answers;
    rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b' }));
  });
  afterEach(() => rig.close());
  after(() => stub.stop());

  async function read(
    likely: LikelyRange,
    choose: (info: FileInfo) => ByteRange | undefined,
  ): Promise<{ info: FileInfo; range: ByteRange | undefined; bytes: Buffer }> {
    const select: SelectRange = Object.assign(choose, { likely });
    const file = await (await rig.open()).read(at('/f'), select);
    return { ...file, bytes: Buffer.concat((await streamOf(file).toArray()) as Buffer[]) };
  }

  const objects = (): string[] => stub.requests.filter(({ key }) => key !== '').map(({ method }) => method);

  test('is one request, whose answer has the facts of the object', async () => {
    const asked: readonly (readonly [LikelyRange, ByteRange])[] = [
      [
        { start: 10, end: 200_000 },
        { start: 10, end: 200_000 },
      ],
      [{ start: 299_990 }, { start: 299_990, end: LAST }],
      [{ last: 8 }, { start: LAST - 7, end: LAST }],
      [
        { start: 10, end: 999_999 },
        { start: 10, end: LAST },
      ],
    ];
    for (const [likely, range] of asked) {
      stub.requests.length = 0;
      const got = await read(likely, ({ size }) => (assert.equal(size, CONTENT.length), range));
      assert.deepEqual(objects(), ['GET']);
      assert.deepEqual([got.range, got.info.etag], [range, etagOf(CONTENT).slice(1, -1)]);
      assert.ok(got.bytes.equals(CONTENT.subarray(range.start, range.end + 1)));
    }
  });

  test('another choice by the facts of the object is asked for again', async () => {
    const all = await read({ start: 10, end: 19 }, () => undefined);
    assert.ok(all.bytes.equals(CONTENT));
    const other = await read({ start: 10, end: 19 }, () => ({ start: 20, end: 29 }));
    assert.ok(other.bytes.equals(CONTENT.subarray(20, 30)));
  });

  test('a refusal by the facts of the object is the answer, and no socket stays in use', async () => {
    const refusal = new GatewayError('already_exists', 'another version');
    const refuse = (): never => {
      throw refusal;
    };
    await assert.rejects(read({ start: 0, end: LAST }, refuse), (error) => error === refusal);
    assert.deepEqual(objects(), ['GET']);
    const got = await read({ last: 1 }, () => ({ start: LAST, end: LAST }));
    assert.equal(got.bytes.length, 1);
  });

  test('a range outside the object is refused by its size', async () => {
    const outside = new GatewayError('bad_range', 'outside', { fileSize: CONTENT.length });
    const choose = ({ size }: FileInfo): never => {
      assert.equal(size, CONTENT.length);
      throw outside;
    };
    await assert.rejects(read({ start: CONTENT.length }, choose), (error) => error === outside);
  });

  for (const [what, deviant] of [
    ['without its length', { 'content-range': 'bytes 10-19/*' }],
    ['of another length', { 'content-range': `bytes 10-20/${CONTENT.length}` }],
    ['without a range', {}],
  ] as const) {
    test(`an answer ${what} is not taken for the range`, async () => {
      let isFirst = true;
      stub.late = (request, response) => {
        if (request.method !== 'GET' || !isFirst) return answers(request, response);
        isFirst = false;
        const facts = { etag: etagOf(CONTENT), 'last-modified': new Date().toUTCString() };
        const isRange = 'content-range' in deviant;
        const body = isRange ? CONTENT.subarray(10, 20) : CONTENT;
        return { status: isRange ? 206 : 200, headers: { ...facts, ...deviant }, body };
      };
      const got = await read({ start: 10, end: 19 }, () => ({ start: 10, end: 19 }));
      assert.ok(got.bytes.equals(CONTENT.subarray(10, 20)));
      assert.deepEqual(objects(), ['GET', 'HEAD', 'GET']);
    });
  }

  test('a missing object and a folder have their errors', async () => {
    const choose = (): ByteRange => ({ start: 0, end: 1 });
    stub.objects.delete('f');
    await assert.rejects(read({ start: 0, end: 1 }, choose), failsWith('not_found'));
    stub.objects.set('f/inner', CONTENT);
    await assert.rejects(read({ start: 0, end: 1 }, choose), failsWith('is_a_folder'));
  });

  test('what only checks the size needs one request, too', async () => {
    const check = Object.assign(() => undefined, { isCheck: true });
    const file = await (await rig.open()).read(at('/f'), check);
    assert.ok(Buffer.concat((await streamOf(file).toArray()) as Buffer[]).equals(CONTENT));
    assert.deepEqual(objects(), ['GET']);
    const refusal = new GatewayError('too_large', 'too large');
    const refuse = (): never => {
      throw refusal;
    };
    const large = (await rig.open()).read(at('/f'), Object.assign(refuse, { isCheck: true }));
    await assert.rejects(large, (error) => error === refusal);
  });
});
