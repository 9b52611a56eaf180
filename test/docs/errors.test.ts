import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ERROR_RULES } from '../../src/base/errors.js';

const text = readFileSync(new URL('../../../docs/integrate/errors.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(/^\| `([a-z_0-9]+)` \| (\d{3}) \| (.+?) \| (.+?) \|$/gm)];

test('docs/integrate/errors.md and the catalogue list the same codes with the same statuses, both ways', () => {
  const documented = rows.map(([, code, status]) => [code, Number(status)]);
  const known = Object.entries(ERROR_RULES).map(([code, { status }]) => [code, status]);
  assert.deepEqual(documented.sort(), known.sort());
});

test('every row says what it means and whether a retry helps', () => {
  for (const [, code, , meaning, retry] of rows) {
    assert.ok((meaning ?? '').length > 20, code);
    assert.match(retry ?? '', /^(no|yes|later)\b/, code);
  }
});

test('what waiting cures is said to be so, and what it does not cure', () => {
  for (const [, code, status, , retry] of rows) {
    // It was done: to repeat it would do it twice.
    if (code === 'outcome_unrecorded') assert.match(retry ?? '', /^no\b/);
    else if (status === '503' || status === '429') assert.doesNotMatch(retry ?? '', /^no\b/, code);
    if (status === '400' || status === '401') assert.match(retry ?? '', /^no\b/, code);
  }
});
