/** Streams of one job share their queries to the database. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { JobEvents } from '../../src/api/jobs/job-events.js';
import { EventHub } from '../../src/http/event-hub.js';
import type { Job, JobFileItem } from '../../src/storage/storage.js';
import { eventually } from '../support/eventually.js';
import { JOB_OPTIONS } from '../support/job-options.js';

const JOB: Job = {
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1e001',
  accountId: 'account',
  keyId: null,
  scheduleId: null,
  name: null,
  type: 'copy',
  state: 'running',
  phase: 1,
  errorCode: null,
  waitsUntil: null,
  errorMessage: null,
  activeMs: 0,
  isListed: true,
  sample: null,
  found: 9,
  done: 0,
  skipped: 0,
  failed: 0,
  deleted: 0,
  bytes: 0,
  bytesTotal: 9,
  moving: { bytes: 0, grown: 0 },
  createdAt: new Date(),
  startedAt: new Date(),
  finishedAt: null,
  definition: {
    type: 'copy',
    ...JOB_OPTIONS,
    source: { connectionId: 'a', path: '/' },
    destination: { connectionId: 'b', path: '/' },
  },
};
const STREAMS = 10;

test('all streams of a job share its queries; the first stream begins them, the last ends them', async () => {
  let job = JOB;
  const asked = { find: 0, ends: 0, lastEnd: 0 };
  const ended: JobFileItem[] = [];
  const file = { ordinal: 1, path: Buffer.from('one'), state: 'done', action: 'copy', size: 1 } as const;
  const events = new JobEvents(
    {
      find: () => ((asked.find += 1), Promise.resolve(job)),
      ends: (_id, after) => ((asked.ends += 1), Promise.resolve({ files: ended.slice(after), last: ended.length })),
      lastEnd: () => ((asked.lastEnd += 1), Promise.resolve(ended.length)),
    },
    new EventHub(),
  );
  let allowed = true;
  const open = () => {
    const stream = events.watch(JOB, () => Promise.resolve(allowed));
    let text = '';
    stream.on('data', (part: Buffer) => (text += part.toString()));
    return { stream, text: () => text, countOf: (event: string) => text.split(`event: ${event}\n`).length - 1 };
  };
  const streams = Array.from({ length: STREAMS }, open);
  await eventually(() => asked.lastEnd > 0, 'the first look');
  assert.deepEqual(asked, { find: 1, ends: 0, lastEnd: 1 });
  assert.ok(streams.every(({ countOf }) => countOf('job') === 1));

  ended.push({ ...file, errorMessage: null, errorCode: null });
  job = { ...JOB, done: 1 };
  await eventually(
    () => streams.every(({ countOf }) => countOf('job') === 2 && countOf('file') === 1),
    'each gets them',
  );
  assert.deepEqual(asked, { find: 2, ends: 1, lastEnd: 1 });

  const [one, ...others] = streams;
  assert.ok(one);
  one.stream.destroy();
  await once(one.stream, 'close');
  const looks = asked.find;
  await eventually(() => asked.find > looks, 'the others still get events');
  for (const { stream } of others) stream.destroy();
  await Promise.all(others.map(({ stream }) => once(stream, 'close')));
  const last = { ...asked };
  const another = open();
  await eventually(() => asked.find > last.find, 'another one begins anew');
  assert.equal(asked.find, last.find + 1, 'there was no question meanwhile');
  allowed = false;
  await eventually(() => another.stream.readableEnded, 'a key without access gets no more events');
});

test('a job that has ended is reported without a query', async () => {
  const never = (): never => assert.fail('nothing is to be asked');
  const events = new JobEvents({ find: never, ends: never, lastEnd: never }, new EventHub());
  const stream = events.watch({ ...JOB, state: 'succeeded' }, () => Promise.resolve(true));
  let text = '';
  for await (const part of stream) text += String(part);
  assert.match(text, /^retry: 2000\n\nevent: job\ndata: [^\n]*"state":"succeeded"[^\n]*\n\n$/);
});
