/** Server-sent events as the client and the dashboard read them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsIn, followEvents, type ServerEvent } from '../../src/client/event-stream.js';
import { FtgError } from '../../src/client/errors.js';

/** An answer that arrives in these pieces, and then ends. */
const answer = (...pieces: readonly string[]): Response => {
  const encoder = new TextEncoder();
  return new Response(ReadableStream.from(pieces.map((piece) => encoder.encode(piece))));
};

test('events are parsed from any pieces; pings, unknown fields and an id without data are no events', async () => {
  const text =
    'retry: 2000\n\n: ping\n\nid: 7\nevent: job\ndata: {"a":1}\n\nid: 8\n\ndata:x\ndata: y: z\n\nevent: none\n\n';
  for (const size of [1, 5, text.length]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.slice(at * size, (at + 1) * size),
    );
    const cursor: { lastEventId?: string } = {};
    const found: ServerEvent[] = [];
    for await (const event of eventsIn(answer(...pieces), undefined, cursor)) found.push(event);
    assert.deepEqual(found, [
      { type: 'job', data: '{"a":1}' },
      { type: 'message', data: 'x\ny: z' },
    ]);
    assert.equal(cursor.lastEventId, '8');
  }
});

test('a stream that ends, is cut or is refused is reopened after its last id, until a permanent error', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const refused = (status: number): FtgError => new FtgError('refused', { status, code: 'rate_limited' });
  const answers: readonly (Response | FtgError)[] = [
    answer('id: 1\ndata: one\n\n'),
    refused(429),
    answer('id: 2\ndata: two\n\nid: 5\n\n', 'data: cut'),
    refused(410),
  ];
  const asked: (string | undefined)[] = [];
  const states: boolean[] = [];
  const events = followEvents({
    signal: new AbortController().signal,
    open: async (id) => {
      const next = answers[asked.push(id) - 1];
      return next instanceof Response ? next : Promise.reject(next ?? new Error('asked too often'));
    },
    isPassing: (error) => error instanceof FtgError && error.status !== 410,
    askedMs: () => 0,
    onOpen: (isOpen) => states.push(isOpen),
  });
  const found: ServerEvent[] = [];
  const reading = (async () => {
    for await (const event of events) found.push(event);
  })();
  let isOver = false;
  const over = assert.rejects(reading, refused(410)).finally(() => (isOver = true));
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.runAll();
  }
  await over;
  assert.deepEqual(
    found.map(({ data }) => data),
    ['one', 'two'],
  );
  assert.deepEqual(asked, [undefined, '1', '1', '5']);
  assert.deepEqual(states.filter(Boolean).length, 2);
  assert.equal(states.at(-1), false);
});

test('an abort ends it with its reason, during a wait and during a read', async () => {
  for (const open of [() => Promise.reject(new Error('away')), async () => answer('data: one\n\n')]) {
    const ending = new AbortController();
    const events = followEvents({
      open,
      signal: ending.signal,
      isPassing: () => true,
      askedMs: () => undefined,
      onOpen: (isOpen) => {
        if (!isOpen) ending.abort(new Error('enough'));
      },
    });
    await assert.rejects(async () => {
      for await (const event of events) assert.equal(event.data, 'one');
    }, /enough/);
  }
});
