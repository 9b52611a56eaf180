/** The cases of tus in docs/testing.md name existing tests. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { abilities } from '../../src/api/uploads/tus.js';

const ROOT = new URL('../../../', import.meta.url);
/** Areas whose tests are in a suite. */
const FILES: Readonly<Record<string, string>> = { servers: 'server-suite.ts' };
const text = readFileSync(new URL('docs/testing.md', ROOT), 'utf8');
const rows = [...text.matchAll(/^\| ([a-z-]+) +\| .+? +\| `([a-z-]+)` +\| (.+?) +\|$/gm)];

test('each case of tus has a test of that name', () => {
  assert.ok(rows.length > 20, `${rows.length} rows`);
  for (const [, , file = '', name = ''] of rows) {
    const source = readFileSync(new URL(`test/uploads/${FILES[file] ?? `${file}.test.ts`}`, ROOT), 'utf8');
    assert.ok(source.includes(`test('${name}'`), `${file}: ${name}`);
  }
});

test('each extension that the gateway offers has cases', () => {
  const parts = new Set(rows.map(([, part]) => part));
  const extensions = abilities(0)['Tus-Extension']?.split(',') ?? [];
  assert.ok(extensions.length > 0);
  for (const extension of extensions) assert.ok(parts.has(extension), extension);
});
