import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { GatewayError } from '../../../src/base/errors.js';
import { type ErrorCode } from '../../../src/base/errors.js';
import { parseExtendedPort, parsePort } from '../../../src/remotes/ftp/session/passive-replies.js';
import { timeValueMs } from '../../../src/remotes/ftp/names/entries.js';
import { parseFeatures } from '../../../src/remotes/ftp/session/features.js';
import { LineSplitter } from '../../../src/remotes/ftp/names/line-splitter.js';
import { parseListTime } from '../../../src/remotes/ftp/names/list-times.js';
import { offsetBetween } from '../../../src/remotes/ftp/names/list-zone.js';
import { loginRefusal, refusedBy } from '../../../src/remotes/ftp/session/replies.js';

test('the meaning of replies follows from code and words', () => {
  const cases: [number, string, ErrorCode][] = [
    [550, 'a.txt: No such file or directory', 'not_found'],
    [550, "Can't open a.txt: No such file or directory", 'not_found'],
    [550, 'The system cannot find the file specified.', 'not_found'],
    [550, 'File not found', 'not_found'],
    [550, 'a.txt: Permission denied', 'permission_denied'],
    [550, 'Access is denied.', 'permission_denied'],
    [550, 'Operation not permitted', 'permission_denied'],
    [550, 'Disk quota exceeded', 'no_space'],
    [451, 'Write error: No space left on device', 'no_space'],
    [452, 'whatever', 'no_space'],
    [552, 'whatever', 'no_space'],
    [550, 'a: Is a directory', 'is_a_folder'],
    [553, 'Prohibited file name: a\\b', 'bad_path'],
    [553, 'Could not create file.', 'permission_denied'],
    [550, 'Failed.', 'permission_denied'],
    [451, 'Local error.', 'remote_failure'],
    [421, 'Timeout', 'connection_lost'],
    [425, 'Cannot open data connection', 'connection_lost'],
    [426, 'Broken', 'connection_lost'],
    [530, 'Not logged in', 'login_refused'],
    [500, 'Unknown command', 'remote_failure'],
    [226, 'Complete', 'protocol_error'],
  ];
  for (const [code, words, meaning] of cases) {
    const error = refusedBy({ code, text: `${code} ${words}` }, 'open', 'reading /a', 'permission_denied');
    assert.equal(error.code, meaning, words);
    assert.deepEqual(error.remote, { code, text: words });
  }
});

test('a refused login distinguishes a full server from a wrong password', () => {
  const cases: [number, string, ErrorCode][] = [
    [421, 'There are too many connections from your internet address.', 'too_many_sessions'],
    [421, '50 users (the maximum) are already logged in, sorry', 'too_many_sessions'],
    [530, 'Sorry, the maximum number of clients (5) for this user are already connected.', 'too_many_sessions'],
    [530, 'Login incorrect.', 'login_refused'],
    [530, 'Too many wrong passwords.', 'login_refused'],
    [500, 'OOPS: refusing to run with writable root inside chroot()', 'login_refused'],
  ];
  for (const [code, words, meaning] of cases) {
    assert.equal(loginRefusal({ code, text: `${code} ${words}` }, 'h:21', ['secret']).code, meaning, words);
  }
});

test('passive replies give the port, with any text around it', () => {
  assert.equal(parseExtendedPort('229 Entering Extended Passive Mode (|||40123|)'), 40123);
  assert.equal(parseExtendedPort('229 ok (!!!21!)'), 21);
  assert.equal(parseExtendedPort('229 no port'), undefined);
  assert.equal(parsePort('227 Entering Passive Mode (192,168,1,2,10,229).'), 10 * 256 + 229);
  assert.equal(parsePort('227 =192,168,1,2,10,229'), 10 * 256 + 229);
  assert.equal(parsePort('227 (1,2,3,4,256,1)'), undefined);
  assert.equal(parsePort('227 Entering Passive Mode'), undefined);
});

test('list times lie in the past, at most a day ahead', () => {
  const now = new Date('2026-01-01T00:30:00Z');
  const time = (text: string): string | undefined => {
    const parsed = parseListTime(text, now);
    return parsed && new Date(parsed.ms).toISOString();
  };
  assert.equal(time('Jan 01 06:00'), '2026-01-01T06:00:00.000Z');
  assert.equal(time('Jan 03 06:00'), '2025-01-03T06:00:00.000Z');
  assert.equal(time('Dec 31 23:00'), '2025-12-31T23:00:00.000Z');
  assert.equal(time('29 Feb 2024'), '2024-02-29T00:00:00.000Z');
  assert.equal(time('Feb 30 2024'), undefined);
  assert.equal(time('2026-01-02 03:04'), '2026-01-02T03:04:00.000Z');
  assert.equal(time('Foo 01 2024'), undefined);
});

test('the zone between a listed and an exact time is found in quarters of an hour', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
      fc.integer({ min: -48, max: 56 }),
      (exact, quarters) => {
        const minute = Math.floor(exact.getTime() / 60_000) * 60_000;
        assert.equal(
          offsetBetween(new Date(minute + quarters * 900_000), exact),
          quarters === 0 ? 0 : quarters * 900_000,
        );
      },
    ),
  );
});

test('time values are UTC, and nothing else is accepted', () => {
  assert.equal(timeValueMs('20261120101112'), Date.parse('2026-11-20T10:11:12.000Z'));
  assert.equal(timeValueMs('20261120101112.5'), Date.parse('2026-11-20T10:11:12.500Z'));
  assert.equal(timeValueMs('2026112010111'), undefined);
  assert.equal(timeValueMs('19126112010111'), undefined);
});

test('FEAT shows UTF8, MFMT, MLST and which facts must be requested', () => {
  const text = '211-Features:\n UTF8\n MLST Type*;Size;Modify*;Perm;\n MFMT\n SIZE\n211 End';
  assert.deepEqual(parseFeatures({ code: 211, text }, 'auto'), {
    utf8: true,
    machineListings: true,
    setsTimes: true,
    factsToRequest: 'type;size;modify;',
    names: ['UTF8', 'MLST', 'MFMT', 'SIZE'],
  });
  const { machineListings, factsToRequest } = parseFeatures({ code: 211, text }, 'unix');
  assert.deepEqual([machineListings, factsToRequest], [false, undefined], 'a fixed format of LIST');
  assert.deepEqual(parseFeatures({ code: 500, text: '500 what' }, 'auto'), {
    utf8: false,
    machineListings: false,
    setsTimes: false,
    factsToRequest: undefined,
    names: [],
  });
});

test('lines are the same however their bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[ -~]{1,40}$/)), fc.integer({ min: 1, max: 50 }), (lines, step) => {
      const whole = Buffer.from(lines.map((line, at) => line + (at % 2 === 0 ? '\r\n' : '\n')).join(''));
      const splitter = new LineSplitter('h:21');
      const found: string[] = [];
      for (let start = 0; start < whole.length; start += step) {
        for (const line of splitter.add(whole.subarray(start, start + step))) found.push(line.toString());
      }
      assert.equal(splitter.isInLine, false);
      assert.deepEqual(found, lines);
    }),
  );
});

test('an endless listing is refused by number of lines and by length', () => {
  const endlessLines = new LineSplitter('h:21');
  const many = Buffer.from('x\n'.repeat(1_000_000));
  assert.throws(
    () => {
      for (let turn = 0; turn < 6; turn++) endlessLines.add(many);
    },
    (error: GatewayError) => error.code === 'protocol_error' && /2000000 lines/.test(error.message),
  );
  assert.throws(
    () => new LineSplitter('h:21').add(Buffer.alloc(20_000, 'x')),
    (error: GatewayError) => error.code === 'protocol_error',
  );
});
