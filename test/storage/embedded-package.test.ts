import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locatePrograms } from '../../src/storage/embedded/embedded-package.js';

const AS_I_AM = { owner: undefined } as Parameters<typeof locatePrograms>[1];

test('where the C library is not that of GNU, one line says which variable names a database', async (t) => {
  t.mock.method(process.report, 'getReport', () => ({ header: { nodejsVersion: process.version } }));
  await assert.rejects(locatePrograms('/nowhere', AS_I_AM), (error: Error) => {
    assert.equal(error.name, 'StartupError');
    assert.match(error.message, /GNU C library.*DATABASE_URL/);
    return !error.message.includes('\n');
  });
});
