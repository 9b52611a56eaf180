/**
 * Unknown query parameters and fields of an endpoint: named in X-Ignored-Fields, and 400 if the client asks for that.
 * Former defect: `?pth=/tmp` listed the default folder, without any hint.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { expectError } from './support.js';

const STRICT = { Prefer: 'respond-async; wait=10, Handling="strict"' };
const RAW = { 'Content-Type': 'application/octet-stream' };

describe('unknown fields', () => {
  let gateway: TestGateway;
  type Send = (headers: Record<string, string>) => Promise<ApiAnswer>;

  before(async () => {
    gateway = await startGateway({ config: { sandbox: true } });
  });

  after(async () => assert.equal(await gateway?.stop(), 0));

  const ignoredBy = ({ headers }: ApiAnswer): unknown => headers['x-ignored-fields'];
  const get =
    (target: string, query: Record<string, string>): Send =>
    (headers) =>
      gateway.api.get(target, { query, headers });
  const post =
    (target: string, body: object): Send =>
    (headers) =>
      gateway.api.post(target, body, { headers });
  const form =
    (parts: readonly (readonly [disposition: string, value: string])[]): Send =>
    (headers) =>
      gateway.api.send('/api/upload/sandbox', {
        method: 'POST',
        headers: { 'Content-Type': 'multipart/form-data; boundary=b', ...headers },
        body: `${parts.map(([name, value]) => `--b\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`).join('')}--b--\r\n`,
      });
  const file = ['"file"; filename="form.txt"', 'x'] as const;
  const base64 = Buffer.from('x').toString('base64');

  /** A request with one unknown field, and the text of the strict refusal. */
  const CASES: Readonly<Record<string, readonly [send: Send, name: string, meant: string | undefined]>> = {
    'a query': [get('/api/list/sandbox', { pth: '/tmp' }), 'pth', 'path'],
    'a query of an endpoint that has none': [get('/api/me', { verbose: '1' }), 'verbose', undefined],
    'a page of the history': [get('/api/transfers', { connectionId: 'sandbox' }), 'connectionId', 'connection_id'],
    'a raw upload': [
      (headers) =>
        gateway.api.send('/api/upload/sandbox', {
          method: 'POST',
          query: { filename: 'raw.txt', overwite: 'false' },
          headers: { ...RAW, ...headers },
          body: 'x',
        }),
      'overwite',
      'overwrite',
    ],
    'a form, before the file': [form([['"fileName"', 'n'], file]), 'fileName', 'filename'],
    'a form, behind the file': [form([file, ['"template"', 'n']]), 'template', undefined],
    'a form that brings a url': [form([['"url"', 'http://127.0.0.1/'], file]), 'url', undefined],
    'a JSON upload, before the content': [
      post('/api/upload/sandbox', { overWrite: false, filename: 'a', content: base64 }),
      'overWrite',
      'overwrite',
    ],
    'a JSON upload, behind the content': [
      post('/api/upload/sandbox', { filename: 'a', content: base64, filenameTemplate: '{date}' }),
      'filenameTemplate',
      'filename_template',
    ],
    'a write, behind a short content': [
      post('/api/write/sandbox', { path: '/w', content: 'x', encodng: 'text' }),
      'encodng',
      'encoding',
    ],
    'a write, behind a long content': [
      post('/api/write/sandbox', { path: '/w', encoding: 'text', content: 'x'.repeat(2_000_000), size: 1 }),
      'size',
      undefined,
    ],
    'an append': [post('/api/append/sandbox', { path: '/old.txt', content: '', create: true }), 'create', undefined],
    'a move': [
      post('/api/move/sandbox', { from: '/old.txt', to: '/old.txt', overwrite: true, force: 1 }),
      'force',
      undefined,
    ],
  };

  for (const [what, [send, name, meant]] of Object.entries(CASES)) {
    test(`${what}: named, or refused`, async () => {
      await gateway.api.post('/api/write/sandbox', { path: '/old.txt', content: 'old' });
      const strict = await send(STRICT);
      expectError(strict, 'bad_request', new RegExp(`^${name} is no (field|query parameter) of this endpoint`));
      assert.equal(strict.headers['preference-applied'], 'handling=strict');
      assert.equal(ignoredBy(strict), undefined);
      if (meant === undefined) assert.doesNotMatch(strict.text, /meant/);
      else assert.match(strict.text, new RegExp(`is ${meant} meant\\?`));
      const lenient = await send({ Prefer: 'handling=lenient' });
      assert.equal(lenient.status, 200, lenient.text);
      assert.equal(ignoredBy(lenient), name);
      assert.equal(lenient.headers['preference-applied'], undefined);
    });
  }

  test('a strict refusal leaves nothing, even if the field comes after the content', async () => {
    for (const send of [
      post('/api/upload/sandbox', { filename: 'never', content: base64, late: 1 }),
      post('/api/write/sandbox', { path: '/never', encoding: 'text', content: 'x'.repeat(2_000_000), late: 1 }),
    ]) {
      assert.equal((await send(STRICT)).status, 400);
      const { json } = await gateway.api.get('/api/exists/sandbox', { query: { path: '/never' } });
      assert.equal(json['exists'], false);
    }
  });

  test('errors name them too, and a stored answer names those of the first one', async () => {
    const missing = await get('/api/read/sandbox', { pth: '/a' })({});
    expectError(missing, 'bad_request', /^path is missing$/);
    assert.equal(ignoredBy(missing), 'pth');
    const write = post('/api/write/sandbox', { path: '/k', content: 'x', late: 1 });
    for (const replayed of [undefined, 'true']) {
      const answer = await write({ 'Idempotency-Key': 'late' });
      assert.equal(answer.headers['idempotency-replayed'], replayed);
      assert.equal(ignoredBy(answer), 'late');
    }
  });

  test('ignored fields are stored nowhere', async () => {
    const source = { connectionId: 'sandbox', path: '/none', more: { half: '\ud800' } };
    const answer = await gateway.api.post('/api/jobs', { type: 'delete', source, dryRun: true, '\ud800': 'half' });
    assert.equal(answer.status, 202, answer.text);
    const made = await gateway.api.post('/api/schedules', {
      name: 'n',
      cron: '@daily',
      job: { type: 'delete', source, half: '\ud800' },
    });
    assert.equal(made.status, 201, made.text);
    assert.doesNotMatch(made.text, /half/);
  });

  test('the header is limited, and contains only characters that a header may have', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`unknown-${index}`, '1']));
    const odd = { 'a, b': '1', 'line\r\nX-Evil: 1': '1', ünïcode: '1', half: '1', ['long'.repeat(100)]: '1' };
    const bounded = String(ignoredBy(await get('/api/me', many)({})));
    assert.ok(bounded.length < 1_100 && bounded.endsWith(', ...'), bounded);
    const cleaned = await get('/api/me', odd)({});
    assert.equal(cleaned.headers['x-evil'], undefined);
    assert.match(
      String(ignoredBy(cleaned)),
      /^a%2C%20b, line%0D%0AX-Evil%3A%201, %C3%BCn%C3%AFcode, half, (long){16}$/,
    );
    assert.equal((await get('/api/me', {})(STRICT)).status, 200);
  });

  test('pages of the dashboard read their queries themselves', async () => {
    const page = await gateway.api.get('/', { query: { status: 'failed' } });
    assert.deepEqual([page.status, ignoredBy(page)], [200, undefined]);
  });
});
