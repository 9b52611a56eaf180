/** Browsers of other origins get access only if the operator allows it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { allowOrigins } from '../../src/http/cors.js';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../../src/http/types.js';

const PAGE = 'https://app.example.com';
const handler: HttpHandler = async () => ({ status: 200, headers: { ETag: '"a"' }, body: 'x' });

function ask(
  origins: readonly string[],
  request: { method?: string; path?: string; headers?: Record<string, string> },
): Promise<HttpAnswer> {
  const { method = 'GET', path = '/api/me', headers = {} } = request;
  const asked = { method, path, headers: new Map(Object.entries(headers)) } as unknown as HttpRequest;
  return allowOrigins(handler, origins)(asked);
}

suite('other origins', () => {
  test('off, and for origins that are not named, the answer is unchanged', async () => {
    for (const origins of [[], ['https://other.example.com']]) {
      const { headers = {} } = await ask(origins, { headers: { origin: PAGE } });
      assert.deepEqual(Object.keys(headers), ['ETag']);
    }
  });

  test('a named one may read answers and their fields, and no cookie is requested', async () => {
    const { status, headers = {} } = await ask([PAGE], { headers: { origin: PAGE } });
    assert.equal(status, 200);
    assert.equal(headers['Access-Control-Allow-Origin'], PAGE);
    assert.equal(headers['Vary'], 'Origin');
    assert.match(String(headers['Access-Control-Expose-Headers']), /X-Error-Code/);
    assert.equal(headers['Access-Control-Allow-Credentials'], undefined);
    assert.equal(headers['ETag'], '"a"');
  });

  test('a preflight is answered without further checks', async () => {
    const asks = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    };
    const { status, headers = {}, body } = await ask([PAGE], { method: 'OPTIONS', headers: { origin: PAGE, ...asks } });
    assert.deepEqual([status, body], [204, undefined]);
    assert.match(String(headers['Access-Control-Allow-Methods']), /\bPOST\b/);
    assert.equal(headers['Access-Control-Allow-Headers'], 'authorization,content-type');
  });

  test('"*" is any origin; everything outside /api stays closed', async () => {
    const allowed = async (path: string): Promise<unknown> =>
      (await ask(['*'], { path, headers: { origin: PAGE } })).headers?.['Access-Control-Allow-Origin'];
    assert.equal(await allowed('/api/list/a'), PAGE);
    for (const path of ['/manage/account', '/', '/metrics', '/apiary']) assert.equal(await allowed(path), undefined);
  });
});
