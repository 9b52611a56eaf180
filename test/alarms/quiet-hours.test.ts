/** Quiet hours end by local clocks, even on the days when these are changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietUntil } from '../../src/alarms/quiet-hours.js';

const NIGHT = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
const until = (now: string, quiet = NIGHT): string | undefined => quietUntil(quiet, new Date(now))?.toISOString();

test('over midnight, and within a day', () => {
  assert.equal(until('2026-06-01T20:00:00Z'), '2026-06-02T05:00:00.000Z');
  assert.equal(until('2026-06-02T04:59:59Z'), '2026-06-02T05:00:00.000Z');
  assert.equal(until('2026-06-02T05:00:00Z'), undefined);
  assert.equal(until('2026-06-01T19:59:59Z'), undefined);
  const noon = { from: '12:00', to: '13:30', timeZone: 'Asia/Kolkata' };
  assert.equal(until('2026-06-01T06:30:00Z', noon), '2026-06-01T08:00:00.000Z');
  assert.equal(until('2026-06-01T08:00:00Z', noon), undefined);
});

test('nights that are an hour longer or shorter', () => {
  // Clocks go back on 25 October 2026, and forward on 29 March.
  assert.equal(until('2026-10-24T20:00:00Z'), '2026-10-25T06:00:00.000Z');
  assert.equal(until('2026-03-28T21:30:00Z'), '2026-03-29T05:00:00.000Z');
});
