import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createNameFilter } from '../../src/watch/name-filter.js';
import { entryKey, nameOfKey } from '../../src/base/entry-key.js';

const SKIP = ['.*', '*.part', '*.partial', '*.filepart', '*.tmp', '*.crdownload'];

function filter(rules: Partial<Parameters<typeof createNameFilter>[0]>) {
  return createNameFilter({
    filePattern: null,
    excludePattern: null,
    doneFile: null,
    recursive: false,
    skipNames: SKIP,
    ...rules,
  });
}

suite('patterns', () => {
  const cases: readonly [string | null, string, string | undefined][] = [
    [null, 'a.csv', undefined],
    ['*.csv', 'a.csv', undefined],
    ['*.csv', 'a.CSV', 'pattern'],
    ['*.csv', 'a.txt', 'pattern'],
    ['*.csv', 'deep/a.csv', undefined],
    ['*.{csv,txt}', 'a.txt', undefined],
    ['report-[0-9]*', 'report-1', undefined],
    ['in/*.csv', 'in/a.csv', undefined],
    ['in/*.csv', 'out/a.csv', 'pattern'],
    ['in/*.csv', 'a.csv', 'pattern'],
    ['**/*.csv', 'a.csv', undefined],
    ['**/*.csv', 'x/y/a.csv', undefined],
    [null, '.hidden', 'temporary_name'],
    [null, 'a.csv.part', 'temporary_name'],
    ['*', 'a.part', 'temporary_name'],
    ['a*', 'a.csv.part', 'temporary_name'],
    ['*.part', 'a.part', undefined],
    ['*.{csv,part}', 'a.part', undefined],
    ['.*', '.hidden', undefined],
    ['.env*', '.env.prod', undefined],
    ['a.part', 'a.part', undefined],
    ['.*', '.ftg-0123abcd-00ff.a.csv', 'temporary_name'],
    [null, '.ftg-0123abcd-00ff.a.csv', 'temporary_name'],
    ['.*', '.ftg-up-0123456789ab.a.csv', 'temporary_name'],
  ];
  for (const [filePattern, path, reason] of cases) {
    test(`${filePattern ?? 'no pattern'} and ${path}: ${reason ?? 'wanted'}`, () => {
      assert.equal(filter({ filePattern }).reasonAgainst(path), reason);
    });
  }

  test('a pattern with a slash or ** includes sub-folders, any other one does not', () => {
    assert.equal(filter({ filePattern: 'in/*.csv' }).isDeep, true);
    assert.equal(filter({ filePattern: '**/*' }).isDeep, true);
    assert.equal(filter({ filePattern: '*.csv' }).isDeep, false);
    assert.equal(filter({ recursive: true }).isDeep, true);
  });

  test('excluded names and unwanted names have different reasons', () => {
    const both = filter({ filePattern: '*.csv', excludePattern: 'test-*' });
    assert.equal(both.reasonAgainst('test-1.csv'), 'excluded');
    assert.equal(both.reasonAgainst('a.csv'), undefined);
  });

  test('an invalid glob is refused, and the field is named', () => {
    assert.throws(() => filter({ filePattern: '*.{csv' }), { code: 'bad_request', message: /^filePattern must be/ });
    assert.throws(() => filter({ excludePattern: '[a' }), { code: 'bad_request', message: /^excludePattern must be/ });
  });
});

suite('markers', () => {
  test('a marker is no file, and is in the folder of the file that it announces', () => {
    const done = filter({ doneFile: '{filename}.done' });
    assert.equal(done.reasonAgainst('in/a.csv.done'), 'marker');
    assert.equal(done.reasonAgainst('in/a.csv'), undefined);
    assert.equal(done.markerOf('in/a.csv'), 'in/a.csv.done');
    assert.equal(filter({ doneFile: '{name}.ok' }).markerOf('a.csv'), 'a.ok');
    assert.equal(filter({ doneFile: '_SUCCESS' }).markerOf('in/a.csv'), 'in/_SUCCESS');
    assert.equal(filter({ doneFile: '_SUCCESS' }).isMarker('x/_SUCCESS'), true);
  });

  test('an invalid template is refused', () => {
    for (const doneFile of ['{date}.done', 'a/b', '{filename}', '{open']) {
      assert.throws(() => filter({ doneFile }), { code: 'bad_request', message: /^doneFile/ });
    }
  });
});

test('a name that is not UTF-8 keeps its bytes as its identity', () => {
  const raw = Buffer.from([0x61, 0xff, 0x62]);
  const key = entryKey('in', { name: 'a\ufffdb', rawName: raw.toString('base64') });
  assert.deepEqual(key, Buffer.concat([Buffer.from('in/'), raw]));
  assert.deepEqual(nameOfKey(key), { path: 'in/a\ufffdb', name: 'a\ufffdb', rawName: raw.toString('base64') });
  assert.equal(nameOfKey(entryKey('', { name: 'ä' })).rawName, undefined);
});
