/** Leases of this node: what a slow database does to them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type WriterLease, WriterLeases } from '../../src/uploads/leases.js';

// The timers of leases keep no process alive.
const alive = setInterval(() => undefined, 1_000);
after(() => clearInterval(alive));

// Former defect: the fence came first, and twelve parts at once on a busy machine were refused.
test('a lease that was long in coming is renewed before it is fenced', async () => {
  const lost: string[] = [];
  const lease: WriterLease = { writer: 'one', asked: () => undefined, lost: ({ code }) => lost.push(code) };
  let renewals = 0;
  let heard = (): void => undefined;
  const twice = new Promise<void>((done) => (heard = done));
  const leases = new WriterLeases<WriterLease>((held) => {
    if (++renewals === 2) heard();
    return Promise.resolve(new Map(held.map(({ writer }) => [writer, { isAsked: false }])));
  });
  leases.add(lease, performance.now() - 60_000);
  await leases.freshen(lease);
  assert.equal(renewals, 1);
  await leases.freshen(lease);
  assert.equal(renewals, 1, 'it is fresh');
  // The fence looks before each further renewal.
  await twice;
  leases.remove(lease);
  assert.deepEqual(lost, []);
});

test('a lease that cannot be renewed in time is lost with 503: no other request needs to have it', async () => {
  let lose = (_code: string): void => undefined;
  const lost = new Promise<string>((done) => (lose = done));
  const lease: WriterLease = { writer: 'one', asked: () => undefined, lost: ({ code }) => lose(code) };
  const leases = new WriterLeases<WriterLease>(() => Promise.reject(new Error('the database is away')));
  leases.add(lease, performance.now() - 60_000);
  await leases.freshen(lease);
  assert.equal(await lost, 'database_away');
  leases.remove(lease);
});
