import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import { createSecretReader } from '../../../src/connections/secrets/read-secret.js';
import { inFolder } from '../../config/support.js';
import { NO_STORES } from './support/stores.js';

const read = createSecretReader(NO_STORES, {});

async function contentOf(text: string): Promise<string> {
  return inFolder((folder) => {
    const file = path.join(folder, 'secret');
    writeFileSync(file, text);
    return read(`file:${file}`);
  });
}

async function problemOf(place: string): Promise<string> {
  try {
    await read(`file:${place}`);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, 'login_refused');
    return error.clientText;
  }
  throw new Error(`${place} was read`);
}

test('a secret of one line has no line break at its end, one of several lines is unchanged', async () => {
  assert.equal(await contentOf('hunter2'), 'hunter2');
  assert.equal(await contentOf('hunter2\n'), 'hunter2');
  assert.equal(await contentOf(' hunter2 \r\n'), ' hunter2 ');
  assert.equal(await contentOf('line one\nline two\n'), 'line one\nline two\n');
});

test('a file by another name, as Kubernetes lays it down, is read', async () => {
  await inFolder(async (folder) => {
    writeFileSync(path.join(folder, 'data'), 'hunter2');
    symlinkSync('data', path.join(folder, 'secret'));
    assert.equal(await read(`file:${path.join(folder, 'secret')}`), 'hunter2');
  });
});

test('what is no secret is refused in words that follow the reference', async () => {
  await inFolder(async (folder) => {
    const large = path.join(folder, 'large');
    writeFileSync(large, 'x'.repeat(65_537));
    mkdirSync(path.join(folder, 'box'));
    assert.equal(await problemOf(path.join(folder, 'absent')), 'does not exist');
    assert.equal(await problemOf(path.join(large, 'below')), 'does not exist');
    assert.equal(await problemOf(path.join(folder, 'box')), 'is not a file');
    assert.equal(await problemOf(large), 'has more than 65536 bytes');
    // It never ends.
    assert.equal(await problemOf('/dev/zero'), 'is not a file');
  });
});
