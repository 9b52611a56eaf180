import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoTime } from '../../src/base/iso-time.js';

test('every time is written as JavaScript writes it, also when its day is known', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), fc.integer({ min: 0, max: 86_399_999 }), (time, ms) => {
      const sameDay = new Date(Math.floor(time.getTime() / 86_400_000) * 86_400_000 + ms);
      if (Number.isNaN(sameDay.getTime())) return;
      for (const one of [time, sameDay]) assert.equal(isoTime(one), one.toISOString());
    }),
  );
  for (const text of ['1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.000Z', '+010000-01-01T00:00:00.000Z'])
    assert.equal(isoTime(new Date(text)), text);
  assert.throws(() => isoTime(new Date(NaN)), RangeError);
});
