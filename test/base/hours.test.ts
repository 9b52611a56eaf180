import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hoursBegin, hoursMeet, hoursRefusal, hoursState } from '../../src/base/hours.js';

/** The next beginning as ISO text; 'now' within the hours. */
function begin(hours: string, now: string): string {
  const at = hoursBegin(hours, Date.parse(now));
  return at === undefined ? 'now' : new Date(at).toISOString();
}

// 2026-11-27 is a Friday; Berlin is at +01:00 then.
const NIGHTS = 'Mo-Fr 20:00-06:00 Europe/Berlin';

for (const [hours, now, expected] of [
  [NIGHTS, '2026-11-27T18:59:59Z', '2026-11-27T19:00:00.000Z'],
  [NIGHTS, '2026-11-27T19:00:00Z', 'now'],
  [NIGHTS, '2026-11-28T04:59:59Z', 'now'],
  [NIGHTS, '2026-11-28T05:00:00Z', '2026-11-30T19:00:00.000Z'],
  // The night from Sunday to Monday is not one of them.
  [NIGHTS, '2026-11-30T03:00:00Z', '2026-11-30T19:00:00.000Z'],
  ['Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin', '2026-11-28T12:00:00Z', 'now'],
  ['Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin', '2026-11-29T23:00:00Z', '2026-11-30T19:00:00.000Z'],
  ['08:00-12:00,13:00-17:00 UTC', '2026-11-27T12:30:00Z', '2026-11-27T13:00:00.000Z'],
  ['08:00-12:00,13:00-17:00 UTC', '2026-11-27T17:00:00Z', '2026-11-28T08:00:00.000Z'],
  ['Fr-Mo 10:00-11:00 UTC', '2026-11-27T12:00:00Z', '2026-11-28T10:00:00.000Z'],
  ['Fr-Mo 10:00-11:00 UTC', '2026-11-30T11:00:00Z', '2026-12-04T10:00:00.000Z'],
  ['We 10:00-11:00 UTC', '2026-11-27T12:00:00Z', '2026-12-02T10:00:00.000Z'],
  ['mo,WE 10:00-11:00 UTC', '2026-11-27T12:00:00Z', '2026-11-30T10:00:00.000Z'],
  // Summer time begins at 02:00 on 2026-03-29 and ends at 03:00 on 2026-10-25, both Sundays.
  ['01:00-04:00 Europe/Berlin', '2026-03-28T23:59:00Z', '2026-03-29T00:00:00.000Z'],
  ['01:00-04:00 Europe/Berlin', '2026-03-29T01:59:59Z', 'now'],
  ['01:00-04:00 Europe/Berlin', '2026-03-29T02:00:00Z', '2026-03-29T23:00:00.000Z'],
  ['01:00-04:00 Europe/Berlin', '2026-10-25T02:59:59Z', 'now'],
  ['01:00-04:00 Europe/Berlin', '2026-10-25T03:00:00Z', '2026-10-26T00:00:00.000Z'],
  // A window that the change leaves out is passed over.
  ['Su 02:15-02:45 Europe/Berlin', '2026-03-28T00:00:00Z', '2026-04-05T00:15:00.000Z'],
  ['22:00-02:30 America/New_York', '2026-11-01T06:00:00Z', 'now'],
] as const) {
  test(`${hours} at ${now}`, () => assert.equal(begin(hours, now), expected));
}

for (const [hours, now, expected] of [
  [NIGHTS, '2026-11-27T19:00:00Z', '2026-11-28T05:00:00.000Z'],
  [NIGHTS, '2026-11-28T04:59:59Z', '2026-11-28T05:00:00.000Z'],
  // Friday's night, the weekend, and no night from Sunday to Monday: they follow each other.
  ['Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin', '2026-11-27T20:00:00Z', '2026-11-29T23:00:00.000Z'],
  ['08:00-12:00,12:00-17:00 UTC', '2026-11-27T09:00:00Z', '2026-11-27T17:00:00.000Z'],
  ['08:00-12:00,11:00-11:30 UTC', '2026-11-27T11:10:00Z', '2026-11-27T12:00:00.000Z'],
  ['Fr 08:00-24:00; Sa 00:00-01:00 UTC', '2026-11-27T09:00:00Z', '2026-11-28T01:00:00.000Z'],
  // The clock goes back at 03:00 of 2026-10-25: an hour more.
  ['01:00-04:00 Europe/Berlin', '2026-10-24T23:30:00Z', '2026-10-25T03:00:00.000Z'],
  ['00:00-24:00 UTC', '2026-11-27T09:00:00Z', undefined],
] as const) {
  test(`${hours} at ${now} ends`, () => {
    const { opensAt, closesAt } = hoursState(hours, Date.parse(now));
    assert.deepEqual([opensAt, closesAt?.toISOString()], [undefined, expected]);
  });
}

for (const hours of [
  '',
  'Europe/Berlin',
  'Mo-Fr',
  '20:00-06:00',
  'Mo-Fr 20:00-06:00',
  'Mo-Fr 20:00-06:00 Mars/Olympus',
  'Mo-Fr 20:00-06:00 +01:00',
  'Mo-Xy 20:00-06:00 UTC',
  'Mo--Fr 20:00-06:00 UTC',
  'Mo-Fr-Su 20:00-06:00 UTC',
  'Mo-Fr 20-06 UTC',
  'Mo-Fr 20:00 UTC',
  'Mo-Fr 24:00-06:00 UTC',
  'Mo-Fr 20:60-21:00 UTC',
  'Mo-Fr 20:00-24:01 UTC',
  'Mo-Fr 20:00-25:00 UTC',
  'Mo-Fr 20:00-06:00;; UTC',
  'Mo - Fr 20:00-06:00 UTC',
  'Mo-Fr 20:00-06:00 Sa 10:00-11:00 UTC',
]) {
  test(`"${hours}" is refused with the form`, () => {
    assert.match(hoursRefusal(hours) ?? '', /Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe\/Berlin/);
  });
}

test('hours that never occur are refused', () => {
  assert.match(hoursRefusal('Mo 08:00-08:00 UTC') ?? '', /never occurs/);
  assert.match(hoursRefusal('Mo 08:00-09:00,12:00-12:00 UTC') ?? '', /never occurs/);
});

test('good hours are not refused', () => {
  for (const hours of [NIGHTS, ' 00:00-24:00  UTC ', 'Sa,Su 00:00-24:00;Mo-Fr 22:00-05:30 America/New_York'])
    assert.equal(hoursRefusal(hours), undefined, hours);
});

test('hours that have no time in common are found', () => {
  const now = Date.parse('2026-03-25T12:00:00Z');
  const cases: readonly [readonly string[], boolean][] = [
    [[], true],
    [[NIGHTS], true],
    [['00:00-12:00 UTC', '12:00-24:00 UTC'], false],
    [['00:00-12:01 UTC', '12:00-24:00 UTC'], true],
    [['Mo 08:00-09:00 UTC', 'Tu 08:00-09:00 UTC'], false],
    [['Mo 23:00-01:00 UTC', 'Tu 00:30-02:00 UTC'], true],
    // The clock of one of them is put forward on 29 March.
    [['08:00-09:00 UTC', '10:00-11:00 Europe/Berlin'], true],
    [['08:00-09:00 UTC', '11:00-12:00 Europe/Berlin'], false],
  ];
  for (const [all, meet] of cases) assert.equal(hoursMeet(all, now), meet, all.join(', '));
});
