/** The page of errors, with the tables that are generated from the catalogue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_CODES, ERRORS } from '../../src/contract/errors.js';
import { readSources } from '../../src/docs/sources.js';
import { withTables } from '../../src/docs/tables.js';

const { text } = readSources().find(({ file }) => file === 'docs/integrate/errors.md') ?? assert.fail('no page');
const rows = [...text.matchAll(/^\| `([a-z_0-9]+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [code, Number(status)]);

test('the page has a row for each code of the catalogue, once, with its status', () => {
  const known = ERROR_CODES.map((code) => [code, ERRORS[code].status]);
  assert.deepEqual(rows.sort(), known.sort());
});

test('an unknown table fails the build', () => {
  assert.throws(() => withTables('<!-- table nothing 404 -->'), /there is no table nothing/);
});
