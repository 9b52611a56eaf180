/** One object over several connections, from a store at the end of a long line. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import type http from 'node:http';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Remote } from '../../../src/remotes/remote.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { etagOf as md5Of, S3Stub, s3Error, type Intercept, type StubRequest } from '../../servers/scripted-s3.js';
import { eventually } from '../../support/eventually.js';
import { at, connectionTo, failsWith, fetchAll, S3Rig, type Spares } from '../support/s3-rig.js';

const MIB = 1024 * 1024;
/** The round trip of the line, and what one connection moves on it. */
const TRIP_MS = 25;
const STEP_BYTES = 64 * 1024;
const STEP_MS = 2;
/**
 * The store sends this much of the first answer at once, and the rest drop by drop until a range is asked for: a busy
 * machine may measure for long.
 */
const FIRST_BYTES = 6 * MIB;

const etags = new Map<Buffer, string>();

/** Each of these objects has one; the digest would take longer than the round trip. */
function etagOf(object: Buffer): string {
  const etag = etags.get(object) ?? md5Of(object);
  etags.set(object, etag);
  return etag;
}

describe('an object over several connections', () => {
  let stub: S3Stub;
  let rig: S3Rig;
  let spares: Spares;
  let awaitsRanges = true;
  /** Until this many ranges were asked for, the first answer comes drop by drop. */
  let awaited = 1;
  const [content, other] = [randomFillSync(Buffer.alloc(40 * MIB)), randomFillSync(Buffer.alloc(40 * MIB))];

  const open = (most = 3): Promise<Remote> => {
    spares = rig.spares(most);
    return rig.open(undefined, undefined, spares);
  };
  const asked = (): string[] =>
    stub.requests.filter(({ method }) => method === 'GET').map(({ headers }) => headers.range ?? 'all');

  const ranges = (): number => asked().filter((range) => range !== 'all').length;

  before(async () => {
    stub = await S3Stub.start();
    for (const object of [content, other]) etagOf(object);
  });
  beforeEach(() => {
    stub.reset();
    awaitsRanges = true;
    awaited = 1;
    stub.objects.set('f', content);
    stub.late = overLongLine();
    rig = new S3Rig(connectionTo({ endpoint: stub.endpoint, bucket: 'b' }));
  });
  afterEach(() => rig.close());
  after(() => stub.stop());

  /** Answers GET late and slowly; `deviate` answers in its place. */
  const overLongLine =
    (deviate: (request: StubRequest, count: number) => ReturnType<Intercept> = () => undefined): Intercept =>
    async (request, response) => {
      if (request.method !== 'GET' || request.key !== 'f') return undefined;
      await wait(TRIP_MS);
      const deviation = await deviate(request, ranges());
      if (deviation !== undefined) return deviation;
      const { headers } = request;
      const object = stub.objects.get('f') ?? Buffer.alloc(0);
      if ((headers['if-match'] ?? etagOf(object)) !== etagOf(object)) return s3Error(412, 'PreconditionFailed');
      await send(response, object, headers.range);
      return 'taken';
    };

  async function send(
    response: http.ServerResponse,
    object: Buffer,
    range?: string,
    mostBytes = Infinity,
  ): Promise<void> {
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    const [start, end] = from === undefined ? [0, object.length] : [Number(from), Number(to) + 1];
    response.writeHead(from === undefined ? 200 : 206, {
      etag: etagOf(object),
      'last-modified': new Date().toUTCString(),
      'content-length': end - start,
      ...(from === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${object.length}` }),
    });
    for (let next = start; next < Math.min(end, start + mostBytes) && !response.destroyed;) {
      const isAwaiting = awaitsRanges && ranges() < awaited && next >= start + FIRST_BYTES;
      const stop = Math.min(next + (isAwaiting ? 1024 : STEP_BYTES), end);
      response.write(object.subarray(next, stop));
      next = stop;
      do await wait(STEP_MS);
      while (response.writableNeedDrain && !response.destroyed);
    }
    if (mostBytes < end - start) response.destroy();
    else response.end();
  }

  test('arrives whole, by ranges of the object that was opened', async () => {
    const read = await fetchAll(await open(), '/f');
    assert.ok(read.equals(content));
    assert.ok(spares.taken > 0 && stub.mostSockets > 1);
    assert.deepEqual(
      spares.fates,
      Array.from({ length: spares.taken }, () => 'keep'),
    );
    const [first, ...others] = stub.requests;
    assert.equal(first?.headers.range, undefined);
    assert.ok(others.length >= 2 && others.every(({ headers }) => headers['if-match'] === etagOf(content)));
  });

  test('a range is read by ranges of it', async () => {
    const [start, end] = [1 * MIB + 1, 39 * MIB + 1];
    const read = await fetchAll(await open(), '/f', () => ({ start, end }));
    assert.ok(read.equals(content.subarray(start, end + 1)));
    assert.ok(spares.taken > 0);
    for (const range of asked()) {
      const [from = 0, to = 0] = range.replace('bytes=', '').split('-').map(Number);
      assert.ok(from >= start && to <= end, range);
    }
  });

  test('with one connection for each file there is one request', async () => {
    awaitsRanges = false;
    const read = await fetchAll(await open(0), '/f');
    assert.ok(read.equals(content));
    assert.deepEqual(asked(), ['all']);
  });

  for (const obeysCondition of [true, false]) {
    const store = obeysCondition ? 'obeys' : 'ignores';
    test(`an object that is replaced is an error, and never a mixture, if the store ${store} the condition`, async () => {
      awaited = 2;
      stub.late = overLongLine(async (request, count) => {
        if (count < awaited) return undefined;
        stub.objects.set('f', other);
        if (!obeysCondition) delete request.headers['if-match'];
        return undefined;
      });
      const body = streamOf(await (await open()).read(at('/f')));
      let bytes = 0;
      const reading = (async () => {
        for await (const chunk of body) {
          const part = chunk as Buffer;
          assert.ok(part.equals(content.subarray(bytes, bytes + part.length)), `from byte ${bytes} on`);
          bytes += part.length;
        }
      })();
      await assert.rejects(reading, failsWith('remote_failure', /changed while it was in use/));
      assert.ok(bytes < content.length);
      await eventually(() => spares.fates.length === spares.taken, 'all leases are back');
    });
  }

  test('a store that does not know ranges is asked for one once', async () => {
    stub.late = overLongLine(async ({ headers }) => {
      if (headers.range !== undefined) awaitsRanges = false;
      delete headers.range;
      return undefined;
    });
    for (const isKnown of [false, true]) {
      stub.requests.length = 0;
      awaitsRanges = !isKnown;
      const read = await fetchAll(await open(), '/f');
      assert.ok(read.equals(content));
      assert.equal(stub.requests.length, isKnown ? 1 : 2);
      assert.deepEqual(spares.fates, isKnown ? [] : ['discard']);
    }
    assert.ok(rig.notes.log.some(({ facts }) => facts?.['trait'] === 'answersRanges'));
  });

  for (const fault of ['refused', 'lost'] as const) {
    test(`a further connection that is ${fault} in its first range costs nothing but time`, async () => {
      let isDone = false;
      stub.late = async (request, response) => {
        if (request.headers.range === undefined || isDone) return overLongLine()(request, response);
        isDone = true;
        await wait(TRIP_MS);
        if (fault === 'refused') return s3Error(403, 'AccessDenied');
        await send(response, content, request.headers.range, MIB);
        return 'taken';
      };
      const read = await fetchAll(await open(), '/f');
      assert.ok(read.equals(content));
      assert.ok(isDone);
    });
  }

  test('a reader that leaves closes every connection', async () => {
    const body = streamOf(await (await open()).read(at('/f')));
    body.resume();
    await eventually(() => ranges() >= 2, 'ranges are asked for');
    body.destroy();
    await eventually(() => spares.fates.length === spares.taken, 'all leases are back');
    rig.close();
    await eventually(() => stub.sockets.size === 0, 'no socket is open');
  });
});
