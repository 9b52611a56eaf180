/**
 * Bodies of which each byte counts: they end when they are cut, after the bytes that have arrived; and chunks that are
 * lent.
 */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { UNCOUNTED } from '../../src/budgets/memory.js';
import { BodyReader } from '../../src/http/body/body-reader.js';

const GONE = new GatewayError('client_gone', 'the client left');

function bodyOf(declared: number): BodyReader {
  const nothing = (): undefined => undefined;
  return new BodyReader({ pause: nothing, resume: nothing }, declared, UNCOUNTED, nothing);
}

test('a body that is cut is an error, and has none of the bytes', async () => {
  const body = bodyOf(100);
  body.accept(Buffer.from('abc'), false);
  body.cut(GONE);
  await assert.rejects(buffer(body), GONE);
});

test('one in pieces ends after the bytes that have arrived; later ones are dropped', async () => {
  const body = bodyOf(100);
  body.takeInPieces();
  body.accept(Buffer.from('abc'), false);
  body.cut(GONE);
  body.cut(GONE);
  body.accept(Buffer.from('def'), false);
  assert.equal((await buffer(body)).toString(), 'abc');
  assert.equal(body.isHeldBack, false);
  body.accept(Buffer.alloc(94), true);
  assert.equal(body.complete, true);
});

test('one in pieces that arrived completely is like any other', async () => {
  const body = bodyOf(3);
  body.takeInPieces();
  body.accept(Buffer.from('abc'), true);
  body.cut(GONE);
  assert.equal((await buffer(body)).toString(), 'abc');
});

test('nothing of a lent chunk is lost when its memory is reused', async () => {
  const body = bodyOf(6);
  const lent = Buffer.from('abc');
  body.accept(lent, false, true);
  lent.fill('x');
  body.accept(Buffer.from('def'), true, true);
  assert.equal((await buffer(body)).toString(), 'abcdef');
});
