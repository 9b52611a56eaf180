/** A file over several connections, on a line that exists in the test's own time: a tick is a millisecond. */
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { Ending, type EndSignal } from '../../src/base/ending.js';
import type { Hold } from '../../src/budgets/memory.js';
import type { MoreSessions, SpareLease } from '../../src/remotes/more-sessions.js';
import { RangesAhead, unknownLine } from '../../src/remotes/ranges-ahead.js';
import { isWorthMore } from '../../src/remotes/useful-sessions.js';
import type { ByteRange } from '../../src/remotes/remote.js';

const MIB = 1024 * 1024;
const RANGE = 8 * MIB;
const TRIP_MS = 20;
/** Several times what one connection needs for all of it. */
const MOST_MS = 10_000;
const CONTENT = randomFillSync(Buffer.alloc(96 * MIB));

/** What one connection moves in a millisecond. */
const LINE_BYTES = 32 * 1024;

/** One request's bytes. */
class Answer extends Readable {
  readonly #end: number;
  #isWanted = false;

  constructor(
    public at: number,
    end: number,
  ) {
    super({ highWaterMark: 256 * 1024 });
    this.#end = end;
  }

  override _read(): void {
    this.#isWanted = true;
  }

  /** Returns how many bytes it has taken. */
  give(most: number): number {
    if (!this.#isWanted || this.destroyed) return 0;
    const chunk = CONTENT.subarray(this.at, Math.min(this.at + most, this.#end));
    this.at += chunk.length;
    this.#isWanted = this.push(chunk);
    if (this.at === this.#end) this.push(null);
    return chunk.length;
  }
}

interface Request {
  readonly range: ByteRange;
  readonly lease: string | undefined;
  readonly answer: Answer;
}

/** Connections of equal speed, perhaps on a line that is full before they are. */
class Line {
  ms = 0;
  sentBytes = 0;
  readonly requests: Request[] = [];
  refuse: (request: Request) => Error | undefined = () => undefined;
  each: () => void = () => undefined;
  readonly #due: { readonly at: number; readonly answer: () => void }[] = [];
  readonly #answers = new Set<Answer>();

  constructor(readonly mostPerMs = Infinity) {}

  begin(start: number, end: number): Answer {
    const answer = new Answer(start, end);
    this.#answers.add(answer);
    answer.once('close', () => this.#answers.delete(answer));
    return answer;
  }

  open = (range: ByteRange, lease: string | undefined, ending: EndSignal): Promise<Readable> =>
    new Promise((done, fail) => {
      const answer = this.begin(range.start, range.end + 1);
      const request = { range, lease, answer };
      this.requests.push(request);
      const reply = (): void => {
        const refusal = ending.aborted ? (ending.reason as Error) : this.refuse(request);
        if (refusal === undefined) return done(answer);
        answer.destroy();
        fail(refusal);
      };
      this.#due.push({ at: this.ms + TRIP_MS, answer: reply });
    });

  get openAnswers(): number {
    return this.#answers.size;
  }

  /** Passes time until `work` is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = work.finally(() => (isOver = true));
    over.catch(() => undefined);
    while (!isOver) {
      assert.ok(this.ms < MOST_MS, 'nothing moves any more');
      await this.tick();
    }
    return over;
  }

  async tick(): Promise<void> {
    this.ms += 1;
    while (this.#due[0] !== undefined && this.#due[0].at <= this.ms) this.#due.shift()?.answer();
    let room = this.mostPerMs;
    for (const answer of this.#answers) {
      const sent = answer.give(Math.min(LINE_BYTES, room));
      room -= sent;
      this.sentBytes += sent;
    }
    this.each();
    await new Promise(setImmediate);
  }
}

class Spares implements MoreSessions<string> {
  readonly taken: { readonly name: string; recall: () => void; fates: string[] }[] = [];
  asked = 0;
  left = Infinity;

  constructor(readonly most: number) {}

  async take(): Promise<SpareLease<string> | undefined> {
    this.asked += 1;
    if (this.left === 0) return undefined;
    this.left -= 1;
    const one = { name: `lease ${this.taken.length}`, recall: (): void => undefined, fates: [] as string[] };
    this.taken.push(one);
    return {
      item: one.name,
      onRecall: (listener) => void (one.recall = listener),
      release: (fate) => void one.fates.push(fate),
    };
  }

  get fates(): readonly string[] {
    return this.taken.map(({ fates }) => fates.join(' and '));
  }
}

class CountedHold implements Hold {
  bytes = 0;
  most = 0;

  constructor(readonly capacity = Infinity) {}

  resize(bytes: number): boolean {
    assert.ok(bytes >= 0);
    if (bytes > this.capacity) return false;
    this.bytes = bytes;
    this.most = Math.max(this.most, bytes);
    return true;
  }

  stretch(bytes: number): boolean {
    return this.resize(bytes);
  }

  require(): void {
    assert.fail('nothing of this is required');
  }
}

interface Setting {
  readonly line?: Line;
  readonly spares?: Spares;
  readonly hold?: CountedHold;
  readonly memory?: ReturnType<typeof unknownLine>;
  readonly start?: number;
  readonly end?: number;
}

function setUp({ start = 0, end = CONTENT.length, ...given }: Setting = {}) {
  const { line = new Line(), spares = new Spares(3), hold = new CountedHold() } = given;
  const { memory = unknownLine() } = given;
  const ending = new Ending();
  const file = new RangesAhead({
    first: line.begin(start, end),
    start,
    end,
    roundTripMs: TRIP_MS,
    signal: ending,
    more: spares,
    memory,
    hold,
    open: line.open,
    now: () => line.ms,
  });
  const whole = CONTENT.subarray(start, end);
  const arrives = async (): Promise<void> => {
    const read = await line.during(buffer(file));
    assert.ok(read.equals(whole), `${read.length} of ${whole.length} bytes`);
    assert.equal(line.openAnswers, 0);
    assert.deepEqual([hold.bytes, memory.aheadBytes], [0, 0]);
  };
  return { line, spares, hold, memory, ending, file, arrives };
}

test('short files and short lines are left alone', () => {
  assert.deepEqual(
    [isWorthMore(16 * MIB, 20), isWorthMore(16 * MIB - 1, 20), isWorthMore(16 * MIB, 19)],
    [true, false, false],
  );
});

test('a file that is faster with more connections uses all that it may, and arrives whole', async () => {
  const { arrives, spares, memory, hold, line } = setUp();
  await arrives();
  assert.deepEqual(spares.fates, ['keep', 'keep', 'keep']);
  assert.equal(memory.useful?.count, 3);
  assert.ok(hold.most <= 5 * RANGE, `${hold.most}`);
  assert.ok(line.ms < (0.7 * CONTENT.length) / LINE_BYTES, `${line.ms} ms`);
});

test('the next file begins with as many, before it has measured anything', async () => {
  const { arrives, spares, line } = setUp({ memory: { useful: { count: 3, isMost: false, at: 0 }, aheadBytes: 0 } });
  line.each = () => {
    if (line.ms === 3 * TRIP_MS) assert.equal(spares.taken.length, 3);
  };
  await arrives();
});

test('a range of a file', async () => {
  const { arrives, line } = setUp({ start: 5 * MIB + 3, end: 80 * MIB + 7 });
  await arrives();
  assert.ok(line.requests.every(({ range }) => range.start > 5 * MIB && range.end < 80 * MIB + 7));
});

test('a line that one connection fills gives all others back, and is left alone for a while', async () => {
  const { arrives, spares, memory } = setUp({ line: new Line(LINE_BYTES) });
  await arrives();
  assert.deepEqual(spares.fates, ['keep', 'keep', 'keep']);
  assert.deepEqual([memory.useful?.count, memory.useful?.isMost], [0, true]);
  const next = setUp({ memory });
  await next.arrives();
  assert.equal(next.spares.asked, 0);
});

test('a slow consumer gets no more connections', async () => {
  const { file, line, spares } = setUp();
  let due = 0;
  const taken = (async () => {
    for await (const chunk of file) {
      due = line.ms + (chunk as Buffer).length / (LINE_BYTES / 2);
      while (line.ms < due) await new Promise(setImmediate);
    }
  })();
  await line.during(taken);
  assert.equal(spares.asked, 0);
});

test('without a session to spare, or without memory, it remains one connection', async () => {
  const spares = new Spares(3);
  spares.left = 0;
  const [busy, poor] = [setUp({ spares }), setUp({ hold: new CountedHold(RANGE - 1) })];
  await busy.arrives();
  await poor.arrives();
  assert.deepEqual([...busy.line.requests, ...poor.line.requests], []);
  assert.ok(poor.spares.fates.every((fate) => fate === 'keep'));
});

test('little memory allows few ranges ahead', async () => {
  const { arrives, hold } = setUp({ hold: new CountedHold(2 * RANGE) });
  await arrives();
  assert.equal(hold.most, 2 * RANGE);
});

test('while the consumer pauses, what arrives is bounded', async () => {
  const { file, line, hold, spares } = setUp({ memory: { useful: { count: 3, isMost: false, at: 0 }, aheadBytes: 0 } });
  const paused = new Promise<void>((done) => {
    file.on('data', () => {
      if (spares.taken.length < 3 || line.sentBytes < 24 * MIB) return;
      file.pause();
      done();
    });
  });
  await line.during(paused);
  const before = line.sentBytes;
  for (let count = 0; count < 1000; count++) await line.tick();
  assert.ok(line.sentBytes - before <= 5 * RANGE + 2 * MIB, `${line.sentBytes - before}`);
  assert.ok(hold.bytes <= 5 * RANGE, `${hold.bytes}`);
  file.destroy();
  assert.equal(hold.bytes, 0);
});

test('a connection that is refused changes nothing', async () => {
  const { arrives, line, spares } = setUp();
  line.refuse = ({ lease }) => (lease === undefined ? undefined : new Error('refused'));
  await arrives();
  assert.deepEqual(spares.fates, ['discard']);
  assert.equal(line.requests.length, 1);
});

test('a range whose connection is lost is read again on the own one', async () => {
  for (const lostAfter of [0, 3 * MIB, RANGE - 1]) {
    const { arrives, line, spares } = setUp();
    line.each = () => {
      const request = line.requests.filter(({ lease }) => lease !== undefined)[2];
      if (request === undefined || request.answer.destroyed || request.answer.readableEnded) return;
      if (request.answer.listenerCount('data') === 0 || request.answer.at - request.range.start < lostAfter) return;
      request.answer.destroy(new Error('lost'));
    };
    await arrives();
    assert.equal(spares.fates.filter((fate) => fate === 'discard').length, 1, spares.fates.join());
    assert.ok(spares.fates.every((fate) => fate === 'keep' || fate === 'discard'));
  }
});

test('a failure on the own connection is one of the file', async () => {
  const { arrives, line, spares, file } = setUp();
  line.refuse = ({ lease }) => (lease === undefined ? new Error('another object by now') : undefined);
  await assert.rejects(arrives(), /another object by now/);
  await line.during(new Promise<void>((done) => (file.closed ? done() : file.once('close', done))));
  for (let count = 0; count < 2 * TRIP_MS; count++) await line.tick();
  assert.ok(spares.taken.length > 0 && spares.fates.every((fate) => fate === 'keep' || fate === 'discard'));
  assert.equal(line.openAnswers, 0);
});

test('a recalled connection ends its range and gets no other', async () => {
  const { arrives, line, spares } = setUp();
  const ofFirst = (): readonly Request[] => line.requests.filter(({ lease }) => lease === 'lease 0');
  let [requests, isRecalled] = [0, false];
  line.each = () => {
    if (isRecalled || ofFirst().length < 2) return;
    isRecalled = true;
    requests = ofFirst().length;
    spares.taken[0]?.recall();
  };
  await arrives();
  assert.ok(isRecalled);
  assert.equal(ofFirst().length, requests);
  assert.ok(ofFirst().every(({ answer }) => answer.readableEnded));
  assert.ok(
    spares.fates.every((fate) => fate === 'keep'),
    spares.fates.join(),
  );
});

test('if all are recalled, the own connection reads the rest in one request', async () => {
  const spares = new Spares(1);
  spares.left = 1;
  const { arrives, line } = setUp({ spares });
  line.each = () => {
    if (line.sentBytes > 60 * MIB) spares.taken[0]?.recall();
  };
  await arrives();
  assert.deepEqual(spares.fates, ['keep']);
  const last = line.requests.at(-1);
  assert.deepEqual([last?.lease, last?.range.end], [undefined, CONTENT.length - 1]);
  assert.ok((last?.range.start ?? 0) < 80 * MIB);
});

test('the end of the operation, or of its reader, closes everything and releases each lease once', async () => {
  const ends: ((file: Readable, ending: Ending) => void)[] = [
    (file) => void file.destroy(),
    (_file, ending) => ending.abort(new Error('given up')),
  ];
  for (const end of ends) {
    // Before, during and after the requests of the first ranges.
    for (const after of [7, 8, 9, 12, 16, 30].map((trips) => trips * TRIP_MS)) {
      const { file, line, spares, ending, hold } = setUp();
      file.on('error', () => undefined).resume();
      while (line.ms < after) await line.tick();
      end(file, ending);
      for (let count = 0; count < 2 * TRIP_MS; count++) await line.tick();
      assert.equal(line.openAnswers, 0);
      assert.equal(hold.bytes, 0);
      assert.ok(
        spares.fates.every((fate) => fate === 'keep' || fate === 'discard'),
        spares.fates.join(),
      );
    }
  }
});
