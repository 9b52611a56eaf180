import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isTimeZone, momentOf, momentsIn, offsetIn } from '../../src/base/time-zone.js';

test('zones are names of the IANA database', () => {
  for (const zone of ['Europe/Berlin', 'UTC', 'America/St_Johns']) assert.ok(isTimeZone(zone), zone);
  for (const zone of ['', '+02:00', 'Europe/Atlantis', ' ', '2']) assert.ok(!isTimeZone(zone), zone);
});

test('many local times have the moments that each has alone', () => {
  for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC']) {
    const [moments, offset] = [momentsIn(zone), offsetIn(zone)];
    const wall = fc.integer({ min: Date.UTC(2000, 0) / 60_000, max: Date.UTC(2030, 0) / 60_000 });
    fc.assert(
      fc.property(wall, (minute) => {
        assert.equal(moments(minute * 60_000), momentOf(minute * 60_000, offset));
      }),
      { numRuns: 500 },
    );
  }
});
