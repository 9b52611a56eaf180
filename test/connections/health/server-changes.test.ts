/** The states of a server from check to check: each new one is news once, even if several machines take turns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownBy, withState } from '../../../src/connections/health/server-changes.js';
import type { SeenServer, ShownByServer } from '../../../src/storage/storage.js';

const DAY_MS = 24 * 3_600_000;
const OLD: ShownByServer = { banner: 'one', algorithms: ['a', 'b'], extensions: [], hostKey: 'SHA256:1' };
const NEW: ShownByServer = { ...OLD, banner: 'two', algorithms: ['a', 'c'] };

/** How many changes each of these states brings, a day apart. */
function newsOf(states: readonly ShownByServer[], stepMs = DAY_MS): number[] {
  let seen: readonly SeenServer[] = [];
  return states.map((shows, index) => {
    const next = withState(seen, shows, new Date(index * stepMs));
    seen = next.seen;
    return next.changes.length;
  });
}

test('the first state is no news, an equal one neither, and another one is, part by part', () => {
  assert.deepEqual(newsOf([OLD, OLD, NEW, NEW]), [0, 0, 2, 0]);
  const { changes } = withState([{ shows: OLD }], NEW, new Date());
  assert.deepEqual(changes, [
    { what: 'banner', before: ['one'], after: ['two'] },
    { what: 'algorithms', before: ['a', 'b'], after: ['a', 'c'] },
  ]);
});

test('a part that one of them does not show is not compared', () => {
  assert.deepEqual(newsOf([OLD, { hostKey: 'SHA256:1' }]), [0, 0]);
});

test('machines that take turns are news once each; after a week without one of them, again', () => {
  assert.deepEqual(newsOf([OLD, NEW, OLD, NEW, OLD]), [0, 2, 0, 0, 0]);
  assert.deepEqual(newsOf([OLD, NEW, OLD], 8 * DAY_MS), [0, 2, 2]);
});

test('what a server announces is bounded, and PostgreSQL takes it as JSON', () => {
  const extensions = Array.from({ length: 1000 }, (_, index) => `e${index}`);
  const shown = shownBy({ answerMs: 1, banner: `a\0b\ud800${'x'.repeat(1000)}`, algorithms: ['b', 'a\0'], extensions });
  assert.equal(shown.banner?.length, 200);
  assert.ok(shown.banner.startsWith('a\ufffdb\ufffdx'));
  assert.deepEqual(shown.algorithms, ['a\ufffd', 'b']);
  assert.equal(shown.extensions?.length, 100);
});

test('few states are kept', () => {
  let seen: readonly SeenServer[] = [];
  for (let index = 0; index < 20; index++) ({ seen } = withState(seen, { banner: String(index) }, new Date(index)));
  assert.equal(seen.length, 4);
  assert.deepEqual(seen[0], { shows: { banner: '19' } });
});
