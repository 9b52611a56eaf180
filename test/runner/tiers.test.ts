/** Every test file has one tier, the lists of test/tiers.ts mean files that exist, and tier unit needs nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOn, LISTS, TIERS, tierOf } from '../tiers.js';
import { packagesOf, usesTools } from './needs.js';
import { affectedBy } from './on-change.js';
import { FOLDER, parseRequest, select, selectForNode, testFiles } from './selection.js';

const files = testFiles();

test('every test file is run by exactly one tier, and by a run of all tiers', () => {
  assert.ok(files.length > 300, 'the test files were not found');
  const byTier = TIERS.map((tier) => select(parseRequest([`--tier=${tier}`])));
  assert.deepEqual(byTier.flat().sort(), files);
  for (const [index, names] of byTier.entries()) assert.ok(names.length > 20, `few files are of tier ${TIERS[index]}`);
  assert.deepEqual(select(parseRequest(TIERS.map((tier) => `--tier=${tier}`))), files);
});

test('npm test and npm run test:rest are all tests together', () => {
  const together = [...select(parseRequest([])), ...select(parseRequest(['--tier=rest']))];
  assert.deepEqual(together.sort(), files);
});

test('the files that run on both front ends use node:http in the tier rest, regardless of their own tier', () => {
  const again = selectForNode(parseRequest(['--tier=rest']));
  assert.deepEqual(again.length, LISTS['ON_BOTH']?.length);
  assert.deepEqual(selectForNode(parseRequest([])), []);
});

test('a changed source means the test files that load it', () => {
  const units = select(parseRequest(['--tier=unit']));
  const names = affectedBy(['src/watch/diff.ts'], units);
  assert.ok(names.includes('watch/diff.test.js') && names.length < units.length / 2, names.join(' '));
  assert.deepEqual(affectedBy(['test/watch/diff.test.ts'], units), ['watch/diff.test.js']);
});

test('parts mean files of any tier, unless a tier is named', () => {
  const both = ['watch/diff.test.js', 'watch/crash.test.js'];
  const asked = ['test/watch/diff.test.ts', 'watch/crash'];
  assert.deepEqual(select(parseRequest(asked)), both.sort());
  assert.deepEqual(select(parseRequest(['--tier=unit', ...asked])), ['watch/diff.test.js']);
  assert.throws(() => parseRequest(['--tier=units']), /unknown: --tier=units/);
});

test('each entry of the lists is a file or a folder of tests', () => {
  const unknown = Object.values(LISTS)
    .flat()
    .filter((entry) => !files.some((name) => isOn([entry], name)));
  assert.deepEqual(unknown, []);
});

test('no file has two reasons for its tier', () => {
  const lists = Object.entries(LISTS).filter(([name]) => name !== 'ON_BOTH');
  const twice = files.filter((name) => lists.filter(([, list]) => isOn(list, name)).length > 1);
  assert.deepEqual(twice, []);
});

test('a file of tier unit needs no package, and no tool of test/tools', () => {
  const unit = files.filter((name) => tierOf(name, FOLDER) === 'unit');
  assert.deepEqual(
    unit.filter((name) => packagesOf(name).length > 0 || usesTools(name)),
    [],
  );
});

test('a test that imports a tool, or runs one, has the tools installed', () => {
  for (const name of ['dashboard/files', 'uploads/broken-lines', 'docs/words', 'deploy/deploy'])
    assert.ok(usesTools(`${name}.test.js`), name);
  for (const name of ['remotes/sftp/seam', 'http/requests']) assert.ok(!usesTools(`${name}.test.js`), name);
});

test('a test needs the servers that it talks to, and no others', () => {
  assert.deepEqual(packagesOf('remotes/sftp/session.test.js').includes('openssh-server'), true);
  assert.ok(!packagesOf('remotes/sftp/session.test.js').includes('swift-proxy'));
  assert.ok(packagesOf('remotes/s3/seam.test.js').includes('swift-proxy'));
  assert.ok(!packagesOf('remotes/s3/seam.test.js').includes('vsftpd'));
  assert.ok(packagesOf('dashboard/files.test.js').includes('chromium-headless-shell'));
  assert.ok(packagesOf('bench/smoke.test.js').includes('vsftpd'));
  assert.ok(packagesOf('s3/tools/page.test.js').includes('python3-pandas'));
});
