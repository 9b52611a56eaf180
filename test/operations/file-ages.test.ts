/** A file's time is compared with the clock of its server, of which only the times that it showed are known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RemotePath } from '../../src/remotes/path.js';
import type { FileInfo } from '../../src/remotes/remote.js';
import { FileAges } from '../../src/operations/file-ages.js';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 22, 12);

/** A server whose clock is `aheadMs` ahead of ours, in whole seconds. */
function bench(aheadMs: number) {
  let nowMs = 500;
  const ages = new FileAges(
    () => nowMs,
    () => START + nowMs,
  );
  const stamp = (): number => Math.floor((START + nowMs + aheadMs) / 1_000) * 1_000;
  const file = (time: number, more: Partial<FileInfo> = {}): FileInfo => ({
    name: 'f',
    path: '/f' as RemotePath,
    size: 3,
    isDirectory: false,
    modifiedAt: new Date(time),
    ...more,
  });
  return {
    ages,
    stamp,
    file,
    pass: (ms: number) => void (nowMs += ms),
    settled: (time: number, more: Partial<FileInfo> = {}, place = '/f') =>
      ages.isSettled('host', place, file(time, more)),
  };
}

for (const [name, aheadMs] of [
  ['right', 0],
  ['an hour behind', -HOUR],
  ['an hour ahead', HOUR],
  ['two days behind', -48 * HOUR],
] as const) {
  test(`a clock that is ${name}: young files are young, and become old within seconds`, () => {
    const { ages, stamp, file, pass, settled } = bench(aheadMs);
    const first = stamp();
    ages.written('host', file(first));
    assert.equal(settled(first), false);
    pass(900);
    assert.equal(settled(stamp()), false, 'another one of this moment');
    pass(600);
    assert.equal(settled(first, {}, '/other'), false, 'the second may not have been over for long');
    pass(1_500);
    assert.equal(settled(first), true);
    assert.equal(settled(stamp(), {}, '/new'), false);
    assert.equal(settled(first - HOUR, {}, '/old'), true, 'seen for the first time');
  });

  // A clock that is further behind would be unknown until something is written there.
  if (aheadMs < -24 * HOUR) continue;
  test(`a clock that is ${name}, and nothing was written there: old once it was seen for two seconds`, () => {
    const { stamp, pass, settled } = bench(aheadMs);
    const time = stamp();
    assert.equal(settled(time), false);
    pass(1_999);
    assert.equal(settled(time), false);
    pass(1);
    assert.equal(settled(time), true);
    assert.equal(settled(time, { size: 4 }), false, 'another version');
  });
}

test('a file of last week needs no second look-up; one without a time never has a tag', () => {
  const { pass, settled } = bench(0);
  assert.equal(settled(START - 7 * 24 * HOUR), true);
  assert.equal(settled(0), false);
  pass(10_000);
  assert.equal(settled(0), false);
});

test('times in minutes take minutes', () => {
  const { pass, settled } = bench(0);
  const minutes = { timeResolutionMs: 60_000 };
  assert.equal(settled(START, minutes), false);
  pass(119_999);
  assert.equal(settled(START, minutes), false);
  pass(1);
  assert.equal(settled(START, minutes), true);
});

test('a clock that is set back is trusted', () => {
  const { ages, file, pass, settled } = bench(0);
  ages.written('host', file(START));
  pass(5_000);
  ages.written('host', file(START - HOUR));
  assert.equal(settled(START - HOUR), false);
});
