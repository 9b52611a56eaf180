/** Invalid values for every field of every endpoint, and odd JSON and queries of every kind. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { openAccount, type TestAccount } from '../support/account.js';
import type { ApiAnswer } from '../support/gateway.js';
import { expectError } from './support.js';

interface Field {
  readonly isRequired?: boolean;
  /** Each is refused with 400 and a text that names the field. */
  readonly bad: readonly unknown[];
}

interface Endpoint {
  readonly target: string;
  readonly in: 'query' | 'json';
  /** A request that passes every check of its fields. */
  readonly good: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, Field>>;
}

const NOT_TEXT = [7, true, null, [], {}];
const LONG_PATH = `/${'x'.repeat(4096)}`;
const path: Field = { bad: ['', LONG_PATH, '/../a', 'a\nb', 'a\0b'] };
const jsonPath: Field = { isRequired: true, bad: [...NOT_TEXT, ...path.bad, '/half\ud800'] };
const queryPath: Field = { isRequired: true, bad: path.bad };
const encoding: Field = { bad: ['', 'hex', 'Base64', 7, null] };
const content: Field = { isRequired: true, bad: NOT_TEXT };
const flag: Field = { bad: ['yes', 'false', 0, 1, null, []] };
const connectionId: Field = { isRequired: true, bad: [...NOT_TEXT, '', 'x'.repeat(65)] };
const filename: Field = { bad: [...NOT_TEXT, '', 'x'.repeat(256), 'a/b', '..', '.', 'a\rb'] };
const template: Field = {
  bad: [...NOT_TEXT, '', '{week}', '{', '{date}/x', 'x'.repeat(1025)].filter((bad) => bad !== '{'),
};

const mtime: Field = { bad: [...NOT_TEXT, '', 'now', '2026-01-31', '2026-02-30T00:00:00Z', '1969-12-31T23:59:59Z'] };

const ENDPOINTS: readonly Endpoint[] = [
  {
    target: '/api/download/c1',
    in: 'query',
    good: { path: '/f' },
    fields: { path: queryPath, format: { bad: ['', 'xml'] } },
  },
  {
    target: '/api/read/c1',
    in: 'query',
    good: { path: '/f' },
    fields: { path: queryPath, encoding: { bad: ['', 'hex'] } },
  },
  { target: '/api/list/c1', in: 'query', good: {}, fields: { path } },
  { target: '/api/exists/c1', in: 'query', good: { path: '/f' }, fields: { path: queryPath } },
  {
    target: '/api/write/c1',
    in: 'json',
    good: { path: '/w', content: 'x' },
    fields: { path: jsonPath, content, encoding, mtime },
  },
  {
    target: '/api/append/c1',
    in: 'json',
    good: { path: '/f', content: 'x' },
    fields: { path: jsonPath, content, encoding },
  },
  { target: '/api/delete/c1', in: 'json', good: { path: '/gone' }, fields: { path: jsonPath, recursive: flag } },
  { target: '/api/mkdir/c1', in: 'json', good: { path: '/made' }, fields: { path: jsonPath } },
  {
    target: '/api/move/c1',
    in: 'json',
    good: { from: '/gone', to: '/there' },
    fields: { from: jsonPath, to: jsonPath, overwrite: flag },
  },
  {
    target: '/api/copy',
    in: 'json',
    good: { source_connection_id: 'c1', source_path: '/gone', dest_connection_id: 'c1', dest_path: '/copy' },
    fields: {
      source_connection_id: connectionId,
      dest_connection_id: connectionId,
      source_path: jsonPath,
      dest_path: { bad: jsonPath.bad },
      filename_template: template,
      overwrite: flag,
      mtime,
    },
  },
  {
    target: '/api/exec/ssh',
    in: 'json',
    good: { command: 'true' },
    fields: {
      command: { isRequired: true, bad: [...NOT_TEXT, '', 'a\0b'] },
      timeout: { bad: [0, -1, 60_001, 1.5, '30', null, 1e300] },
    },
  },
  {
    target: '/api/upload/c1',
    in: 'json',
    good: { filename: 'u', content: 'eA==' },
    fields: {
      filename: { ...filename, isRequired: true },
      content,
      path: { bad: jsonPath.bad },
      overwrite: flag,
      filename_template: template,
      mtime,
      url: { bad: [...NOT_TEXT, '', 'ftp://h/f', 'no url', 'http://'] },
    },
  },
];

describe('fields', () => {
  let server: ScriptedFtp;
  let gateway: TestAccount;

  before(async () => {
    server = await startScripted();
    server.files.set('/f', Buffer.from('text'));
    const { port, username, password } = server;
    const login = { host: '127.0.0.1', port, username, password };
    gateway = await openAccount({
      connections: [
        { id: 'c1', name: 'FTP', type: 'ftp', ...login },
        { id: 'ssh', name: 'SSH', type: 'sftp', ...login, port: 1 },
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    await server?.stop();
  });

  const send = ({ target, in: place }: Endpoint, fields: Readonly<Record<string, unknown>>): Promise<ApiAnswer> =>
    place === 'query'
      ? gateway.api.get(target, { query: fields as Record<string, string> })
      : gateway.api.post(target, fields);
  const isRefusal = ({ status }: ApiAnswer): boolean => status === 400;
  const text = (target: string, body: Buffer | string): Promise<ApiAnswer> =>
    gateway.api.send(target, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });

  for (const endpoint of ENDPOINTS) {
    const { target, good, fields } = endpoint;
    test(`${target}: every field`, async () => {
      assert.ok(!isRefusal(await send(endpoint, good)), 'the good request');
      for (const [name, { isRequired = false, bad }] of Object.entries(fields)) {
        const { [name]: _left, ...others } = good;
        if (isRequired) {
          const answer = await send(endpoint, others);
          assert.deepEqual([answer.status, (answer.json['error'] as string).includes(name)], [400, true], `no ${name}`);
        }
        for (const value of bad) {
          const answer = await send(endpoint, { ...good, [name]: value });
          const shown = `${name}: ${JSON.stringify(value).slice(0, 40)}: ${answer.status} ${answer.text}`;
          assert.equal(answer.status, 400, shown);
          assert.match(answer.json['error'] as string, new RegExp(name), shown);
          assert.ok(answer.headers['x-error-code'], shown);
        }
      }
    });

    test(`${target}: unknown fields are accepted`, async () => {
      for (const extra of [{ later: 'x' }, { toString: 'x' }, { constructor: 'x' }, { hasOwnProperty: 'x' }]) {
        const answer = await send(endpoint, { ...good, ...extra });
        assert.ok(!isRefusal(answer), answer.text);
      }
    });
  }

  const HELD = '/api/delete/c1';
  const STREAMED = '/api/write/c1';
  for (const target of [HELD, STREAMED]) {
    const tail = target === STREAMED ? ',"content":"x"' : '';
    test(`${target}: invalid JSON`, async () => {
      for (const body of [
        '',
        ' ',
        'null',
        '[]',
        '"text"',
        '7',
        '{',
        '{"path":"/a"',
        `{"path":"/a"${tail}}}`,
        `{"path":"/a"${tail}} trailing`,
        `{path:"/a"${tail}}`,
        `{'path':'/a'${tail}}`,
        `{"path":"/a",${tail.slice(1)},}`,
        `{"path":"/a"${tail},"n":01}`,
        `{"path":"/a"${tail},"n":NaN}`,
        `{"path":"/a\nb"${tail}}`,
        Buffer.from(`{"path":"/a\xff"${tail}}`, 'latin1'),
      ]) {
        const answer = await text(target, body);
        assert.equal(answer.status, 400, `${body.toString()}: ${answer.text}`);
        expectError(answer, answer.headers['x-error-code'] as 'bad_request', /JSON|body|path/);
      }
    });

    test(`${target}: odd JSON is accepted or refused, and breaks nothing`, async () => {
      const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
      const deepObject = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
      for (const more of [`"deep":${deep}`, `"deep":${deepObject}`, '"big":1e999999', `"big":${'9'.repeat(10_000)}`]) {
        const answer = await text(target, `{"path":"/gone"${tail},${more}}`);
        assert.ok([200, 400, 404].includes(answer.status), answer.text);
      }
      server.files.delete('/gone');
      const halfPair = await text(target, `{"path":"/a\\ud800"${tail}}`);
      assert.equal(halfPair.status, 400, halfPair.text);
      // RFC 8259 does not define repeated names: in a buffered body the last one counts, a streamed one is refused.
      const twice = await text(target, `{"path":"/f"${tail},"path":"/gone"}`);
      assert.equal(twice.status, target === STREAMED ? 400 : 404, twice.text);
      assert.ok(server.files.has('/f'));
      const marked = await text(target, `\ufeff{"path":"/gone"${tail}}`);
      assert.ok([200, 404].includes(marked.status), `a byte order mark: ${marked.text}`);
      const proto = await text(target, `{"__proto__":{"path":"/f"}${tail}}`);
      assert.equal(proto.status, 400, proto.text);
      assert.equal((await gateway.api.get('/api/me')).status, 200);
    });
  }

  test('queries: repeated, badly encoded, named like properties of objects', async () => {
    const get = (query: string): Promise<ApiAnswer> => gateway.api.get(`/api/exists/c1${query}`);
    expectError(await get('?path=/a&path=/b'), 'bad_request', /path appears twice/);
    for (const query of ['?path=%', '?path=%zz', '?path=%2', '?path=%c3%28', '?path=/a%ff']) {
      const answer = await get(query);
      assert.ok([200, 400].includes(answer.status), `${query}: ${answer.text}`);
    }
    expectError(await get('?path=%00'), 'bad_request', /path holds a NUL/);
    for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
      assert.equal((await get(`?path=/f&${name}=x`)).status, 200, name);
    }
    assert.equal((await get('?path=/f&&&=x&')).status, 200);
    for (const segment of ['%', '%zz', '%c3%28']) {
      expectError(await gateway.api.get(`/api/list/${segment}`), 'bad_request', /percent-encoding/);
    }
  });
});
