/** When schedules run: in local time, over the changes of the clock. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { recurrenceOf } from '../../src/jobs/cron.js';

function times(cron: string, zone: string, after: string, count: number): string[] {
  const recurrence = recurrenceOf(cron, zone);
  const found: string[] = [];
  for (let time = recurrence.nextAfter(new Date(after)); time !== null && found.length < count;) {
    found.push(time.toISOString().replace(':00.000Z', 'Z'));
    time = recurrence.nextAfter(time);
  }
  return found;
}

describe('the times of a cron', () => {
  test('local times, in winter and in summer', () => {
    assert.deepEqual(times('30 2 * * 1-5', 'Europe/Berlin', '2026-01-30T12:00:00Z', 2), [
      '2026-02-02T01:30Z',
      '2026-02-03T01:30Z',
    ]);
    assert.deepEqual(times('@daily', 'America/New_York', '2026-07-01T12:00:00Z', 1), ['2026-07-02T04:00Z']);
    assert.deepEqual(times('0 0 L * *', 'UTC', '2026-02-01T00:00:00Z', 2), ['2026-02-28T00:00Z', '2026-03-31T00:00Z']);
    assert.deepEqual(times('0 0 29 2 *', 'UTC', '2026-02-01T00:00:00Z', 1), ['2028-02-29T00:00Z']);
  });

  test('a skipped local time runs once, right after', () => {
    const from = '2026-03-28T12:00:00Z';
    assert.deepEqual(times('30 2 * * *', 'Europe/Berlin', from, 2), ['2026-03-29T01:00Z', '2026-03-30T00:30Z']);
    assert.deepEqual(times('0,30 2 * * *', 'Europe/Berlin', from, 3), [
      '2026-03-29T01:00Z',
      '2026-03-30T00:00Z',
      '2026-03-30T00:30Z',
    ]);
    assert.deepEqual(times('30 1,2,3 * * *', 'Europe/Berlin', from, 4), [
      '2026-03-29T00:30Z',
      '2026-03-29T01:00Z',
      '2026-03-29T01:30Z',
      '2026-03-29T23:30Z',
    ]);
    assert.deepEqual(times('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', 2), [
      '2018-11-04T03:00Z',
      '2018-11-05T02:00Z',
    ]);
    // A whole day.
    assert.deepEqual(times('0 12 30 * *', 'Pacific/Apia', '2011-12-01T00:00:00Z', 2), [
      '2011-12-30T10:00Z',
      '2012-01-29T22:00Z',
    ]);
  });

  test('a local time that occurs twice runs once', () => {
    const from = '2026-10-24T12:00:00Z';
    assert.deepEqual(times('0,30 2 * * *', 'Europe/Berlin', from, 3), [
      '2026-10-25T00:00Z',
      '2026-10-25T00:30Z',
      '2026-10-26T01:00Z',
    ]);
    // Asked between the first and the second.
    assert.deepEqual(times('30 2 * * *', 'Europe/Berlin', '2026-10-25T00:45:00Z', 1), ['2026-10-26T01:30Z']);
    assert.deepEqual(times('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:15:00Z', 1), ['2026-10-26T01:30Z']);
    assert.deepEqual(times('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00:00Z', 2), [
      '2026-04-04T14:45Z',
      '2026-04-05T15:15Z',
    ]);
  });

  test('every hour is every hour that passes', () => {
    assert.deepEqual(times('30 * * * *', 'Europe/Berlin', '2026-10-24T23:00:00Z', 4), [
      '2026-10-24T23:30Z',
      '2026-10-25T00:30Z',
      '2026-10-25T01:30Z',
      '2026-10-25T02:30Z',
    ]);
    assert.deepEqual(times('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:10:00Z', 3), [
      '2026-03-29T00:30Z',
      '2026-03-29T01:00Z',
      '2026-03-29T01:30Z',
    ]);
  });

  test('a cron that never runs, or is invalid, is refused at once', () => {
    const bad = ['0 0 31 2 *', '0 0 30 2 *', '59 23 31 4,6,9,11 *', '0 0 31 2 +1'];
    bad.push('', '* * * *', '* * * * * *', '0 24 * * *', '2026-01-01T00:00:00', '@reboot', 'a b c d e', '0 0 * * 9');
    for (const cron of bad) {
      const before = process.cpuUsage();
      assert.throws(() => recurrenceOf(cron, 'Europe/Berlin'), { code: 'bad_request' }, cron);
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 100_000, `${cron}: ${user + system} µs`);
    }
    for (const zone of ['', 'Mars/Base', '+02:00', 'Europe/Berlin; drop', '../UTC']) {
      assert.throws(() => recurrenceOf('0 0 * * *', zone), { code: 'bad_request' }, zone);
    }
  });
});
