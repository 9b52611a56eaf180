import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitsDetail } from '../../../src/api/connections/step-details.js';

const MONDAY_NOON = Date.parse('2026-11-30T12:00:00Z');

test('the limits of a connection are its rate, and whether its hours are open, until when', () => {
  assert.equal(limitsDetail({}, MONDAY_NOON), undefined);
  const night = { hours: 'Mo-Fr 20:00-06:00 UTC' };
  assert.equal(limitsDetail(night, MONDAY_NOON), 'closed until 2026-11-30T20:00:00.000Z');
  const rated = { ...night, bytesPerSecond: 5_000 };
  assert.equal(
    limitsDetail(rated, MONDAY_NOON + 9 * 3_600_000),
    '5000 bytes a second, open until 2026-12-01T06:00:00.000Z',
  );
});
