import assert from 'node:assert/strict';
import { GatewayError, type ErrorCode } from '../../src/base/errors.js';

/** For `assert.rejects`: a GatewayError with this code, and with a matching message. */
export const withCode =
  (code: ErrorCode, text?: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, code, error.message);
    if (text !== undefined) assert.match(error.message, text);
    return true;
  };
