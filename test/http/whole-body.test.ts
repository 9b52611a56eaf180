/**
 * Logins: those that let the gateway wait take one of a few places; those that arrive at once are never blocked by
 * them.
 */
import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { suite, test } from 'node:test';
import { UNCOUNTED } from '../../src/budgets/memory.js';
import { GatewayError } from '../../src/base/errors.js';
import type { HttpRequest } from '../../src/http/types.js';
import { readUnsigned } from '../../src/http/json-bodies.js';
import { withCode } from '../support/errors.js';

/** A request without authentication, at an address that has used up its places. */
function crowded(body: Readable): HttpRequest {
  const claims = {
    memory: { hold: () => UNCOUNTED },
    admitUnsigned: () => {
      throw new GatewayError('share_exceeded', 'the places of this address are taken');
    },
  };
  const headers = new Map([['content-type', 'application/json']]);
  return {
    headers,
    body,
    contentLength: undefined,
    claims,
    expectBodyWithin: () => undefined,
  } as unknown as HttpRequest;
}

suite('bodies without authentication', () => {
  test('one that arrives at once needs no place', async () => {
    assert.equal((await readUnsigned(crowded(Readable.from([Buffer.from('{}')])))).toString(), '{}');
  });

  test('one that is awaited takes a place, or is refused', async () => {
    const body = new PassThrough();
    body.write('{');
    await assert.rejects(readUnsigned(crowded(body)), withCode('share_exceeded'));
    body.destroy();
  });

  test('one that fails reports its own reason', async () => {
    const body = new PassThrough();
    body.destroy(new GatewayError('client_gone', 'left'));
    await assert.rejects(readUnsigned(crowded(body)), withCode('client_gone'));
  });
});
