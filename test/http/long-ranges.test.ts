/** A Range field as long as a head may be takes no longer than its characters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangeChooser } from '../../src/http/answer.js';

const MOST_CHARACTERS = 32_000;
const MOST_MS = 100;

const digits = '1'.repeat(MOST_CHARACTERS);
for (const [what, field] of [
  ['digits and a dash', `bytes=${digits}-`],
  ['a dash and digits', `bytes=-${digits}`],
  ['digits alone', `bytes=${digits}`],
  ['many ranges', `bytes=${'0-1,'.repeat(MOST_CHARACTERS / 4)}`],
  ['many beginnings', `bytes=${'1-'.repeat(MOST_CHARACTERS / 2)}`],
  ['blanks', `bytes=${' '.repeat(MOST_CHARACTERS)}1-2`],
] as const)
  test(`${what}, ${field.length} characters`, () => {
    const before = process.cpuUsage();
    const choose = rangeChooser(new Map([['range', field]]), () => undefined);
    try {
      choose?.({ size: 1_000 });
    } catch {
      // It may be refused.
    }
    const { user, system } = process.cpuUsage(before);
    assert.ok((user + system) / 1_000 < MOST_MS, `${(user + system) / 1_000} ms of the processor`);
  });
