/** The fixed order of steps between a request and its handler, over the real server. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { GatewayError } from '../../src/base/errors.js';
import { json } from '../../src/http/answer.js';
import { GuessGuard } from '../../src/http/guess-guard.js';
import { createLimiters } from '../../src/http/rate-limits.js';
import type { RequestContext, Route } from '../../src/http/types.js';
import { RawClient } from './support/raw-client.js';
import { KEY, startRouted, type Routed } from './support/routed.js';

const show = async ({ params, query, body, caller, requestId }: RequestContext) =>
  json(200, { params, query, body, account: caller.accountId, requestId });

const QUERY = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    format: { type: 'string', enum: ['binary', 'json'] },
  },
  required: ['path'],
};
const BODY = {
  type: 'object',
  properties: { path: { type: 'string' }, deep: { type: 'object', properties: { size: { type: 'integer' } } } },
  required: ['path'],
};

const routes: Route[] = [
  { method: 'GET', path: '/open', access: 'public', body: 'none', handle: show },
  { method: 'GET', path: '/any', access: 'any', body: 'none', handle: show },
  { method: 'GET', path: '/files/:connectionId', access: 'read', body: 'none', head: true, query: QUERY, handle: show },
  { method: 'POST', path: '/files/:connectionId', access: 'write', body: 'json', json: BODY, handle: show },
  {
    method: 'DELETE',
    path: '/fail/:code',
    access: 'public',
    body: 'none',
    skippable: true,
    handle: async ({ params }) => {
      if (params['code'] === 'bug') throw new TypeError('cannot read secret of undefined');
      throw new GatewayError(params['code'] as 'not_found', 'this is why', { step: 'open' });
    },
  },
];

function start(t: TestContext, options: Parameters<typeof startRouted>[2] = {}): Promise<Routed> {
  return startRouted(t, routes, options);
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('routes', () => {
  test('an unknown one is 404, before a key is required', async (t) => {
    const { ask } = await start(t);
    for (const path of ['/', '/nothing', '/files', '/files/', '/files/a/b', '/any/', '//any', '/ANY']) {
      const answer = await ask('GET', path, { headers: { Authorization: '' } });
      assert.deepEqual([answer.status, answer.headers.get('x-error-code')], [404, 'unknown_route'], path);
    }
  });

  test('a wrong method is 405 and names the right ones, before a key is required', async (t) => {
    const { ask } = await start(t);
    const answer = await ask('PUT', '/files/a', { headers: { Authorization: '' } });
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD, POST']);
    assert.equal((await ask('HEAD', '/any')).status, 405);
    assert.equal((await ask('HEAD', '/files/a?path=b')).status, 200);
    assert.equal((await ask('OPTIONS', '/any')).headers.get('allow'), 'GET');
  });

  test('parameters are percent-decoded; malformed ones and control characters are 400', async (t) => {
    const { ask } = await start(t);
    const { json: good } = await ask('GET', '/files/%C3%A4%2Fb%20c?path=x');
    assert.deepEqual(good['params'], { connectionId: 'ä/b c' });
    for (const bad of ['%zz', '%C3', '%', '%00', 'a%0Ab']) {
      assert.equal((await ask('GET', `/files/${bad}?path=x`)).status, 400, bad);
    }
  });
});

describe('keys', () => {
  const keys = {
    ftg_read_only: { scopes: ['read'] },
    ftg_elsewhere: { allowedIps: ['10.0.0.0/8', '2001:db8::1'] },
    ftg_from_here: { allowedIps: ['10.0.0.0/8', '127.0.0.1'] },
    ftg_too_late: { expiresAt: new Date(Date.now() - 1) },
  } as const;
  const as = (key: string) => ({ headers: { Authorization: key } });

  test('missing, malformed, unknown and expired ones are 401 with one text', async (t) => {
    const { ask } = await start(t, { keys });
    const texts = new Set<unknown>();
    for (const field of [
      '',
      'Bearer',
      `Basic ${KEY}`,
      KEY,
      'Bearer ftg_unknown',
      'Bearer other',
      'Bearer ftg_too_late',
    ]) {
      const answer = await ask('GET', '/any', as(field));
      assert.deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, 'Bearer'], field);
      texts.add(answer.json['error']);
    }
    assert.equal(texts.size, 1);
  });

  test('a missing scope and a foreign address are 403', async (t) => {
    const { ask } = await start(t, { keys });
    const body = { body: '{', headers: { ...JSON_TYPE, Authorization: 'Bearer ftg_read_only' } };
    const answer = await ask('POST', '/files/a', body);
    assert.deepEqual([answer.status, answer.headers.get('x-error-code')], [403, 'scope_missing']);
    assert.match(String(answer.json['error']), /"write"/);
    assert.equal((await ask('GET', '/files/a?path=b', as('Bearer ftg_read_only'))).status, 200);
    assert.equal((await ask('GET', '/any', as('Bearer ftg_elsewhere'))).status, 403);
    assert.equal((await ask('GET', '/any', as('bearer ftg_from_here'))).status, 200);
  });

  test('many bad keys from one address must wait; a valid key from there need not', async (t) => {
    const { ask } = await start(t);
    const statuses: number[] = [];
    for (let turn = 0; turn < 62; turn++) statuses.push((await ask('GET', '/any', as('Bearer ftg_guess'))).status);
    assert.deepEqual([statuses[0], statuses[59], statuses[60], statuses[61]], [401, 401, 429, 429]);
    assert.equal((await ask('GET', '/any')).status, 200);
  });

  test('bad keys block no valid key that is new, and bad links no key at all', async (t) => {
    const { ask } = await start(t, { keys });
    for (let turn = 0; turn < 80; turn++) await ask('GET', '/any', as(`Bearer ftg_guess-${turn}`));
    assert.equal((await ask('GET', '/any', as('Bearer ftg_guess-81'))).status, 429);
    assert.equal(
      (await ask('GET', '/any', as('Bearer ftg_other-guess'))).status,
      429,
      'another beginning is no way round',
    );
    assert.equal((await ask('GET', '/any', as('Bearer ftg_from_here'))).status, 200);
    const guard = new GuessGuard(createLimiters(0).failures, 'link');
    const client = { remoteAddress: '192.0.2.1' };
    const guess = (secret: string): Promise<unknown> => guard.unlessGuessing(client, secret, async () => undefined);
    for (let turn = 0; turn < 80; turn++) await guess(`bad-link-${turn}`).catch(() => undefined);
    assert.equal(await guard.unlessGuessing(client, 'good', async () => 'found'), 'found');
  });

  test('bad keys and sessions cost few look-ups once their address must wait, even many at once', async (t) => {
    const { ask, lookUps, url } = await start(t, { session: 'good' });
    const withSession = (token: string) => fetch(`${url}/any`, { headers: { Cookie: `session=${token}` } });
    assert.equal((await ask('GET', '/any')).status, 200);
    assert.equal((await withSession('good')).status, 200);
    lookUps.length = 0;
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, guess) =>
        guess % 2 === 0
          ? ask('GET', '/any', as(`Bearer ftg_guess-${guess}`))
          : withSession(`guess-of-session-${guess}`),
      ),
    );
    // Keys and sessions are counted separately: 60 of each are looked up, and now and then one more.
    assert.ok(answers.filter(({ status }) => status === 429).length >= 260);
    assert.ok(lookUps.length <= 140, `${lookUps.length} look-ups`);
    // A key that was valid here before does not wait.
    assert.equal((await ask('GET', '/any')).status, 200);
    assert.equal((await withSession('good')).status, 200);
  });

  test('above the rate: 429 with Retry-After and the RateLimit fields, which successful answers have too', async (t) => {
    const { ask } = await start(t, { requestsPerSecond: 2 });
    const first = await ask('GET', '/any');
    assert.equal(first.headers.get('ratelimit-policy'), '"default";q=2;w=1');
    assert.equal(first.headers.get('ratelimit'), '"default";r=1;t=1');
    const others = await Promise.all([ask('GET', '/any'), ask('GET', '/any'), ask('GET', '/any')]);
    const refused = others.find(({ status }) => status === 429);
    assert.equal(refused?.headers.get('ratelimit-policy'), '"default";q=2;w=1');
    assert.equal(refused.headers.get('ratelimit'), '"default";r=0;t=1');
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal(refused.headers.get('x-error-code'), 'rate_limited');
  });
});

describe('queries and bodies', () => {
  test('a query that breaks its schema is 400 and names the parameter', async (t) => {
    const { ask } = await start(t);
    const cases: Record<string, RegExp> = {
      '': /^path is missing$/,
      '?path=': /^path must not be empty$/,
      '?path=a&limit=0': /^limit must be >= 1$/,
      '?path=a&limit=many': /^limit must be integer$/,
      '?path=a&limit=0x10': /^limit must be integer$/,
      '?path=a&limit=Infinity': /^limit must be integer$/,
      '?path=a&limit=%201': /^limit must be integer$/,
      '?path=a&limit=-1e309': /^limit must be between -9007199254740991 and 9007199254740991$/,
      '?path=a&format=xml': /^format must be one of binary, json$/,
      '?path=a&path=b': /^the query parameter path appears twice$/,
      '?path=%00': /^the query parameter path holds a NUL$/,
    };
    for (const [query, text] of Object.entries(cases)) {
      const answer = await ask('GET', `/files/a${query}`);
      assert.equal(answer.status, 400, query);
      assert.match(String(answer.json['error']), text);
    }
    const good = await ask('GET', '/files/a?path=b&toString=1&__proto__=2&constructor=3');
    assert.equal(good.status, 200);
    assert.equal((good.json['query'] as { limit: number }).limit, 20);
  });

  test('JSON routes: 415, 413, malformed and mistaken bodies', async (t) => {
    const { ask } = await start(t);
    const post = (body: string, type = 'application/json') =>
      ask('POST', '/files/a', { body, headers: { 'Content-Type': type } });
    assert.equal((await post('{"path":"a"}', 'text/plain')).status, 415);
    assert.equal((await post('{"path":"a"}', 'Application/JSON; charset=utf-8')).status, 200);
    const pad = (length: number): string => `{"path":"${'a'.repeat(length - 11)}"}`;
    assert.equal((await post(pad(1024 * 1024))).status, 200);
    assert.equal((await post(pad(1024 * 1024 + 1))).status, 413);
    for (const bad of ['', '{', '{"path":"a"} x', '{"path":\u0001}']) assert.equal((await post(bad)).status, 400, bad);
    assert.equal((await post('[]')).json['error'], 'the body must be object');
    assert.equal((await post('{}')).json['error'], 'path is missing');
    assert.equal((await post('{"path":1}')).json['error'], 'path must be string');
    assert.equal((await post('{"path":"a","deep":{"size":"1"}}')).json['error'], 'deep.size must be integer');
    for (const number of ['1e309', '-1e309', '1e16', '9'.repeat(400)]) {
      const answer = await post(`{"path":"a","any":[{"deep":${number}}]}`);
      assert.equal(answer.json['error'], 'any: a number must be between -9007199254740991 and 9007199254740991');
    }
  });

  test('a body with a coding is 415 and the accepted ones are named; identity is not a coding', async (t) => {
    const { ask } = await start(t);
    const post = (coding: string) =>
      ask('POST', '/files/a', { body: '{"path":"a"}', headers: { ...JSON_TYPE, 'Content-Encoding': coding } });
    for (const coding of ['gzip', 'br', 'GZIP, identity', 'aws-chunked']) {
      const answer = await post(coding);
      assert.deepEqual([answer.status, answer.headers.get('accept-encoding')], [415, 'identity'], coding);
      assert.equal(answer.headers.get('x-error-code'), 'unsupported_media_type');
    }
    for (const coding of ['identity', ' Identity ', '', 'identity, identity'])
      assert.equal((await post(coding)).status, 200, coding);
  });

  test('numbers in fields are decimal digits', async (t) => {
    const { ask } = await start(t);
    const statusOf = async (field: string, value: string): Promise<number> =>
      (await ask('GET', '/open', { headers: { [field]: value } })).status;
    const refused = [
      ['Range', 'bytes=0x0-0x10'],
      ['Range', 'bytes=0-1e309'],
      ['Range', 'bytes=NaN-'],
      ['Prefer', 'respond-async, wait=Infinity'],
      ['Want-Repr-Digest', 'sha-256=1e309'],
      ['Accept', 'text/html;q=NaN'],
    ] as const;
    for (const [field, value] of refused) assert.equal(await statusOf(field, value), 400, `${field}: ${value}`);
    const taken = [
      ['Range', 'bytes=0-5, -7'],
      ['Range', 'pages=a-b'],
      ['Prefer', 'wait=10'],
      ['Want-Repr-Digest', 'sha-256=10, sha-512=0'],
      ['Accept', 'text/html;q=0.5, */*;q=0.1'],
    ] as const;
    for (const [field, value] of taken) assert.equal(await statusOf(field, value), 200, `${field}: ${value}`);
  });

  test('a chunked body above 1 MiB is 413 as well, and one that is not UTF-8 is 400', async (t) => {
    const { url } = await start(t);
    const post = async (chunks: readonly Uint8Array[]): Promise<number> => {
      const body = new Blob([...chunks]).stream();
      const headers = { ...JSON_TYPE, Authorization: `Bearer ${KEY}` };
      return (await fetch(`${url}/files/a`, { method: 'POST', headers, body, duplex: 'half' })).status;
    };
    assert.equal(await post(Array.from({ length: 5 }, () => new Uint8Array(256 * 1024))), 413);
    assert.equal(await post([Buffer.from('{"path":"\xff"}', 'latin1')]), 400);
  });

  test('an unwanted body that still arrives costs the connection, not the answer', async (t) => {
    const { url } = await start(t);
    const client = await RawClient.open(Number(new URL(url).port));
    const head = `DELETE /fail/not_found HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: 2`;
    const answer = await client.send(`${head}\r\n\r\nx`).answer();
    assert.deepEqual([answer.status, answer.field('connection')], [404, 'close']);
    client.socket.destroy();
  });
});

describe('answers', () => {
  test('X-Request-Id is kept if valid and made if not; answers are not cached', async (t) => {
    const { ask } = await start(t);
    const idOf = async (id: string): Promise<string | null> => {
      const { headers, json: body } = await ask('GET', '/open', { headers: { 'X-Request-Id': id } });
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(body['requestId'], headers.get('x-request-id'));
      return headers.get('x-request-id');
    };
    assert.equal(await idOf('mine-1_a.B'), 'mine-1_a.B');
    for (const bad of ['', 'a b', 'a,b', 'x'.repeat(129)]) assert.match((await idOf(bad)) ?? '', /^[0-9a-f-]{36}$/);
  });

  test('error bodies contain only the text; the code is in its field', async (t) => {
    const { ask, internal } = await start(t);
    const missing = await ask('DELETE', '/fail/not_found');
    assert.deepEqual([missing.status, missing.json], [404, { error: 'this is why' }]);
    assert.equal(missing.headers.get('x-error-code'), 'not_found');
    assert.deepEqual((await ask('DELETE', '/fail/already_exists')).json, { error: 'this is why', skipped: true });
    assert.equal((await ask('DELETE', '/fail/pool_full')).headers.get('retry-after'), '1');
    const bug = await ask('DELETE', '/fail/bug');
    assert.equal(bug.status, 500);
    assert.ok(!bug.text.includes('secret'));
    assert.deepEqual(internal, ['cannot read secret of undefined']);
  });
});
