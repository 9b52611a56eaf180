import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeFormat } from '../../src/contract/units.js';

test('sizes are written in powers of 1,024, in the language of their reader', () => {
  const written: readonly (readonly [bytes: number, en: string, de: string])[] = [
    [0, '0 B', '0 B'],
    [1_000, '1000 B', '1000 B'],
    [1_024, '1 KiB', '1 KiB'],
    [1_536, '1.5 KiB', '1,5 KiB'],
    [30 * 1024 ** 2, '30 MiB', '30 MiB'],
    // Rounded, these would be 1024 of the smaller unit.
    [1024 ** 2 - 1, '1 MiB', '1 MiB'],
    [1024 ** 3 - 1024, '1 GiB', '1 GiB'],
    [Number.MAX_SAFE_INTEGER, '8 PiB', '8 PiB'],
  ];
  const [en, de] = [sizeFormat('en'), sizeFormat('de')];
  assert.deepEqual(
    written.map(([bytes]) => [bytes, en(bytes), de(bytes)]),
    written,
  );
});
