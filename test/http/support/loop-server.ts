/**
 * A front end in its own process that measures how long its event loop works without a turn for others; prints its
 * port, and its figures on request. Only processor time of the loop's own thread counts, so that a busy machine does
 * not matter.
 */
import { openSync, readSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createHttpServer } from '../../../src/http/server.js';
import { ON_LOOPBACK, testBudgets } from './front-end.js';

const BLOCK = Buffer.alloc(64 * 1024);
const BLOCKS = 1_024;
const EVERY_MS = 1;

/** Always ready: the worst source for the loop. */
function blocks(): Readable {
  let left = BLOCKS;
  return new Readable({
    read() {
      this.push(left-- > 0 ? BLOCK : null);
    },
  });
}

const server = createHttpServer({
  ...ON_LOOPBACK,
  budgets: testBudgets(),
  handler: async (request) => {
    if (request.method === 'GET') return { status: 200, body: { stream: blocks(), length: BLOCKS * BLOCK.length } };
    await pipeline(request.body, new Writable({ write: (_chunk, _encoding, done) => done() }));
    return { status: 200 };
  },
  onRequest: () => undefined,
  log: () => undefined,
});
const { port } = await server.listen();
const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const text = Buffer.alloc(100);
/** Nanoseconds on the processor (Linux, schedstat's first figure). */
function cpuTime(): number {
  return Number.parseInt(text.toString('latin1', 0, readSync(schedule, text, 0, text.length, 0)), 10);
}

const turns: number[] = [];
let before = cpuTime();
setInterval(() => {
  const now = cpuTime();
  turns.push((now - before) / 1e6);
  before = now;
}, EVERY_MS);
process.on('message', () => {
  turns.sort((a, b) => a - b);
  process.send?.({ p99: turns[Math.floor(turns.length * 0.99)] });
});
process.send?.(port);
