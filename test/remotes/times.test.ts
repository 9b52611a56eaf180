/** One rule for times that servers show to the second, the minute or the day, as checks of folders and syncs use it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { isUpToDate } from '../../src/jobs/compare.js';
import { LOSES_CLOCK_AFTER_MS, mayBeOneTime } from '../../src/remotes/times.js';
import { isSameState } from '../../src/watch/same-state.js';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const NOW = Date.UTC(2026, 10, 30, 12);
const floor = (ms: number, unit: number): number => Math.floor(ms / unit) * unit;

/** What each user of the rule says about two times of equally long files on a server that keeps the times of copies. */
const USERS: Readonly<Record<string, (earlier: number, later: number, resolutionMs: number) => boolean>> = {
  'a check of a folder': (earlier, later, resolutionMs) =>
    isSameState({ size: 1, modifiedMs: earlier }, { size: 1, modifiedMs: later }, { resolutionMs, endedMs: NOW }),
  'a sync, by its source': (earlier, later, resolutionMs) => synced(earlier, later, resolutionMs, SECOND),
  'a sync, by its destination': (earlier, later, resolutionMs) => synced(earlier, later, SECOND, resolutionMs),
};

function synced(source: number, target: number, sourceResolutionMs: number, targetResolutionMs: number): boolean {
  const [one, other] = [source, target].map((modifiedMs) => ({ key: Buffer.from('a'), size: 1, modifiedMs }));
  assert.ok(one !== undefined && other !== undefined);
  const times = { sourceResolutionMs, targetResolutionMs, areKept: true, nowMs: NOW };
  return isUpToDate(one, other, 'size-and-time', times);
}

const recent = fc.integer({ min: NOW - LOSES_CLOCK_AFTER_MS + DAY, max: NOW });
const toCome = fc.integer({ min: NOW + 3 * DAY, max: NOW + 400 * DAY });
const old = fc.integer({ min: SECOND, max: NOW - LOSES_CLOCK_AFTER_MS - 2 * DAY });
const resolution = fc.constantFrom(SECOND, MINUTE);

for (const [user, isSame] of Object.entries(USERS)) {
  suite(user, () => {
    test('a time is the same in each unit that shows it', () => {
      fc.assert(
        fc.property(fc.oneof(recent, old), resolution, (time, unit) => {
          assert.ok(isSame(floor(time, SECOND), floor(time, unit), unit));
          assert.ok(isSame(floor(time, unit), floor(time, SECOND), unit));
        }),
      );
    });

    test('recent times of different units differ, also at midnight', () => {
      fc.assert(
        fc.property(
          fc.oneof(
            recent,
            recent.map((ms) => floor(ms, DAY)),
          ),
          resolution,
          fc.integer({ min: 1 }),
          (time, unit, units) => {
            fc.pre(time + units * unit <= NOW);
            assert.ok(!isSame(time, time + units * unit, unit));
            assert.ok(!isSame(time + units * unit, time, unit));
          },
        ),
      );
    });

    test('a time, old or to come, that is shown as a day of any zone is the same, where times are shown in minutes', () => {
      const zone = fc.integer({ min: -12, max: 14 }).map((hours) => hours * HOUR);
      fc.assert(
        fc.property(fc.oneof(old, toCome), zone, (time, offset) => {
          const day = floor(time + offset, DAY) - offset;
          fc.pre(day > 0 && floor(time, MINUTE) > 0);
          assert.ok(isSame(floor(time, MINUTE), day, MINUTE));
          assert.ok(isSame(day, floor(time, SECOND), MINUTE));
          assert.equal(isSame(floor(time, SECOND), day, SECOND), floor(time, SECOND) === day);
        }),
      );
    });

    test('the epoch is no time', () => {
      for (const unit of [SECOND, MINUTE]) assert.ok(isSame(0, NOW, unit) && isSame(NOW, 0, unit));
    });
  });
}

test('a shift of all times is the only one that is the same', () => {
  const showing = { resolutionMs: MINUTE, shiftMs: HOUR, nowMs: NOW };
  const time = NOW - 10 * DAY;
  const shifts = [-HOUR, 0, HOUR, 2 * HOUR].filter((shift) => mayBeOneTime(time, time + shift, showing));
  assert.deepEqual(shifts, [HOUR]);
});
