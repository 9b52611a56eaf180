import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadUws } from '../../../src/http/native/uws-loader.js';

/** Versions of the two builds, as their binaries name them. */
const NEWER = { wrapper: 'uWebSockets.js', version: '20.69.0' };
const OLDER = { wrapper: 'uWebSockets.js-compat', version: '20.51.4' };

function loads({ wrapper, version }: typeof NEWER): boolean {
  try {
    return loadUws([wrapper]).build.endsWith(`@${version}`);
  } catch {
    return false;
  }
}

describe('the builds of the front end', () => {
  test('the newest one with a binary for this Node.js is used, otherwise the older one, and named by its binary', () => {
    const { build, uws } = loadUws();
    assert.match(build, /^@uwsjs\/[a-z0-9]+-[a-z0-9]+-\d+@/);
    assert.ok(build.endsWith(loads(NEWER) ? NEWER.version : OLDER.version), build);
    assert.equal(typeof uws.App, 'function');
  });

  test('the newer build does not use the binary of the older one as its own', () => {
    // On Node.js 20 there is only one binary, and both builds find it by the same name.
    if (!process.version.startsWith('v20.')) assert.ok(loads(NEWER) || loads(OLDER));
    else assert.throws(() => loadUws([NEWER.wrapper]), /no uWebSockets\.js build runs/);
  });

  test('the binary that is installed here is a known one; a changed one is loaded only on request', () => {
    const known = loadUws(undefined, 'known');
    assert.equal(known.build, loadUws().build);
    assert.throws(
      () => loadUws(undefined, 'known', new Set()),
      /^Error: the checksum of @uwsjs\/\S+ is not a known one: server\.frontEnd: uws loads it all the same$/,
    );
    assert.equal(loadUws(undefined, 'any', new Set()).build, known.build);
  });

  test('if none loads, one line names the versions that would work', () => {
    assert.throws(
      () => loadUws(['no-such-build']),
      (error: Error) => {
        assert.match(
          error.message,
          /^no uWebSockets\.js build runs on Node\.js v\d+.*: use Node\.js 22, 24 or 26 with glibc 2\.38/,
        );
        assert.match(error.message, /Node\.js 20 or 22 with glibc 2\.27 or newer$/);
        return !error.message.includes('\n');
      },
    );
  });
});
