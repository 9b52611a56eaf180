/** The streams of server-sent events of one event loop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { hasCode } from '../../src/base/errors.js';
import { EventHub, type EventStream, frameOf } from '../../src/http/event-hub.js';

const yes = (): Promise<boolean> => Promise.resolve(true);
const MIB = 1024 * 1024;

function textOf(stream: EventStream): () => string {
  let text = '';
  stream.on('data', (part: Buffer) => (text += part.toString()));
  return () => text;
}

test('an account has ten streams of each subject, and a place is free again once its stream has closed', async () => {
  const hub = new EventHub();
  const refused = (error: unknown): boolean => hasCode(error, 'rate_limited');
  const [first] = Array.from({ length: 10 }, () => hub.open('feed', 'a', yes));
  assert.throws(() => hub.open('feed', 'a', yes), refused);
  assert.throws(() => hub.take('feed', 'a'), refused);
  hub.open('feed', 'b', yes).destroy();
  hub.open('job', 'a', yes).destroy();
  assert.ok(first);
  first.destroy();
  await once(first, 'close');
  const release = hub.take('feed', 'a');
  assert.throws(() => hub.open('feed', 'a', yes), refused);
  release();
  release();
  hub.open('feed', 'a', yes);
  assert.throws(() => hub.open('feed', 'a', yes), refused);
  hub.close();
});

test('frames are those of the standard; an end of the hub ends all streams', async () => {
  assert.equal(frameOf('connection.up', '{}', 42), 'id: 42\nevent: connection.up\ndata: {}\n\n');
  const hub = new EventHub();
  const streams = [hub.open('transfers', 'a', yes), hub.open('feed', 'b', yes)];
  const texts = streams.map(textOf);
  streams[0]?.send('transfers', { transfers: [] });
  const ended = streams.map((stream) => once(stream, 'end'));
  hub.close();
  await Promise.all(ended);
  assert.equal(texts[0]?.(), 'retry: 2000\n\nevent: transfers\ndata: {"transfers":[]}\n\n');
  assert.equal(texts[1]?.(), 'retry: 2000\n\n');
  streams[0]?.send('transfers', {});
  assert.equal(await streams[0]?.goesOn(), false);
  const late = hub.open('feed', 'a', yes);
  const over = once(late, 'end');
  textOf(late);
  await over;
  assert.equal(late.ending.aborted, true);
});

test('a stream ends once its key is no longer valid, and continues while that is unknown', async () => {
  const hub = new EventHub();
  let isValid: Promise<boolean> = Promise.reject(new Error('the database is away'));
  const stream = hub.open('job', 'a', () => isValid);
  textOf(stream);
  assert.equal(await stream.goesOn(), true);
  isValid = Promise.resolve(false);
  const ended = once(stream, 'end');
  assert.equal(await stream.goesOn(), false);
  await ended;
});

test('events that can wait are sent after the reader has taken the ones before; a reader that takes nothing is cut', async () => {
  const hub = new EventHub();
  const stream = hub.open('feed', 'a', yes);
  stream.say('x'.repeat(MIB));
  let hasRoom = false;
  const room = stream.room().then(() => (hasRoom = true));
  await new Promise((done) => setImmediate(done));
  assert.equal(hasRoom, false);
  const failed = once(stream, 'error');
  stream.say('more');
  assert.ok(hasCode((await failed)[0], 'client_gone'));
  await room;

  const read = hub.open('feed', 'a', yes);
  read.say('x'.repeat(MIB));
  const text = textOf(read);
  await read.room();
  assert.ok(text().length > MIB);
  hub.close();
});
