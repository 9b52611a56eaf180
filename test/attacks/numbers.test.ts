/**
 * Numbers that JSON, JavaScript and YAML know and no endpoint needs, in every numeric input in the schemas of the API
 * and the management API, and in the header fields with numbers.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { OpenApiDocument, Schema } from '../../src/api/openapi/types.js';
import { held } from '../support/reliability.js';
import { documentedEndpoints, managementEndpoints, type Endpoint } from './support/endpoints.js';
import { FuzzClient } from './support/fuzz-client.js';
import { ADMIN_KEY, startFuzzGateway, type FuzzGateway } from './support/fuzz-gateway.js';
import type { FuzzRequest } from './support/fuzz-requests.js';

const REQUESTS = 10_000;
const CONNECTIONS = 16;
const WITHIN_MS = 20_000;
const MAX_FAILURES = 10;
/** In a query or a header field. */
const TEXTS = ['1e309', '-1e309', 'Infinity', '-Infinity', 'NaN', '0x10', '0b1', '1e300', `1${'0'.repeat(400)}`];
/** As they are written in JSON. */
const JSON_TEXTS = ['1e309', '-1e309', `1${'0'.repeat(400)}`, '1e300', '"Infinity"', '"NaN"', '"0x10"', '"1e309"'];

let fixture: FuzzGateway;
let endpoints: readonly Endpoint[];

before(async () => {
  fixture = await startFuzzGateway();
  const document = (await fixture.gateway.api.get('/openapi.json')).json as unknown as OpenApiDocument;
  endpoints = [...documentedEndpoints(document), ...managementEndpoints()];
});
after(() => fixture.stop());

suite('hostile numbers', () => {
  test(`${REQUESTS} requests: each is 400, then the account works as before and no metric is NaN`, async () => {
    const hostile = [...endpoints.flatMap(hostileInputs), ...(await hostileFields())];
    const inputs = new Set(hostile.map(({ name }) => name));
    // Fewer would mean that the list of inputs has shrunk, not that all of them are right.
    assert.ok(inputs.size >= 60, `only ${inputs.size} numeric inputs: ${[...inputs].join(', ')}`);
    const client = new FuzzClient({ port: fixture.gateway.port, connections: CONNECTIONS, withinMs: WITHIN_MS });
    const failures: string[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < REQUESTS && failures.length < MAX_FAILURES) {
        const attempt = hostile[next++ % hostile.length];
        if (attempt === undefined) return;
        const { status, bytes } = await client.send(attempt.request);
        if (status !== 400) failures.push(`${status} to ${attempt.name}: ${attempt.value}\n${bytes.toString()}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    client.close();
    assert.deepEqual(failures, []);

    const { api } = fixture.gateway;
    const written = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        api.post('/api/write/box', { path: `/w${index}`, content: 'x'.repeat(50_000) }),
      ),
    );
    assert.deepEqual([...new Set(written.map(({ status }) => status))], [200]);
    assert.equal((await api.get('/api/list/box?path=.&limit=5')).status, 200);
    const values = (await api.get('/metrics')).text.split('\n').filter((line) => / (?:nan|[+-]?inf)$/i.test(line));
    assert.deepEqual(values, []);
    held({
      area: 'Attacks',
      what: 'Numbers that are not finite, not decimal or not exact, in every numeric input',
      done: 'queries, JSON bodies and header fields of all endpoints, also of the management API, 16 connections at once',
      held: 'each request is 400, uploads and lists of the account work as before, no metric is NaN',
      tries: REQUESTS,
    });
  });
});

interface Attempt {
  readonly name: string;
  readonly value: string;
  readonly request: FuzzRequest;
}

function hostileInputs(endpoint: Endpoint): Attempt[] {
  const { method, path } = endpoint;
  const inQuery = Object.entries(endpoint.query)
    .filter(([, schema]) => isNumeric(schema))
    .flatMap(([name]) =>
      TEXTS.map((value) => ({
        name: `${method} ${path} ?${name}`,
        value,
        request: requestTo(endpoint, `?${name}=${value}`, {}),
      })),
    );
  const { 'application/json': body } = endpoint.bodies;
  const inBody = [...(body === undefined ? [] : numericPaths(body, []))].flatMap((fields) =>
    JSON_TEXTS.map((value) => ({
      name: `${method} ${path} ${fields.join('.')}`,
      value,
      request: requestTo(
        endpoint,
        '',
        { 'Content-Type': 'application/json' },
        fields.reduceRight((inner, field) => (field === '0' ? `[${inner}]` : `{"${field}":${inner}}`), value),
      ),
    })),
  );
  return [...inQuery, ...inBody];
}

function isNumeric(schema: Schema): boolean {
  return [schema['type']].flat().some((type) => type === 'integer' || type === 'number');
}

/** The names that lead to each numeric field; `0` for the items of a list. */
function* numericPaths(schema: Schema, from: readonly string[]): Generator<readonly string[]> {
  if (isNumeric(schema)) yield from;
  for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
    yield* numericPaths(inner, [...from, name]);
  }
  if (schema['items'] !== undefined) yield* numericPaths(schema['items'] as Schema, [...from, '0']);
  for (const branch of ['allOf', 'anyOf', 'oneOf'].flatMap((word) => (schema[word] ?? []) as Schema[])) {
    yield* numericPaths(branch, from);
  }
}

/** Header fields with numbers, at endpoints that use them. */
async function hostileFields(): Promise<Attempt[]> {
  const { api } = fixture.gateway;
  const tus = { 'Tus-Resumable': '1.0.0' };
  const metadata = `filename ${Buffer.from('piece').toString('base64')}`;
  const made = await api.send('/api/uploads/box', {
    method: 'POST',
    headers: { ...tus, 'Upload-Length': '10', 'Upload-Metadata': metadata },
  });
  assert.equal(made.status, 201, made.text);
  const place = String(made.headers.location);
  const piece = { ...tus, 'Content-Type': 'application/offset+octet-stream' };
  await api.post('/api/write/box', { path: '/ranged', content: 'content' });
  const json = { 'Content-Type': 'application/json' };
  const content = '{"path":"/f","content":"f"}';
  const places: readonly [
    method: string,
    target: string,
    headers: Record<string, string>,
    field: string,
    numbers: (value: string) => string,
    body?: string,
  ][] = [
    ['POST', '/api/uploads/box', { ...tus, 'Upload-Metadata': metadata }, 'Upload-Length', (value) => value],
    ['PATCH', place, piece, 'Upload-Offset', (value) => value, 'x'],
    ['PATCH', place, { ...piece, 'Upload-Offset': '0' }, 'Upload-Length', (value) => value],
    ['GET', '/api/download/box?path=/ranged', {}, 'Range', (value) => `bytes=0-${value.replace('-', '')}`],
    ['GET', '/api/download/box?path=/ranged', {}, 'Range', (value) => `bytes=${value.replace('-', '')}-`],
    ['GET', '/api/events', { Accept: 'text/event-stream' }, 'Last-Event-ID', (value) => value],
    ['GET', '/api/events', {}, 'Prefer', (value) => `wait=${value}`],
    ['POST', '/api/write/box', json, 'Prefer', (value) => `respond-async, wait=${value}`, content],
    ['POST', '/api/write/box', json, 'Want-Repr-Digest', (value) => `sha-256=${value}`, content],
    ['GET', '/api/list/box', {}, 'Accept', (value) => `application/json;q=${value}`],
  ];
  return places.flatMap(([method, target, headers, field, numbers, body]) =>
    TEXTS.map((value) => ({
      name: `${method} ${target.split('?')[0] ?? ''} ${field}`,
      value,
      request: {
        endpoint: { method, path: target, isDocumented: false, query: {}, requiredQuery: [], headers: [], bodies: {} },
        target,
        headers: { Authorization: `Bearer ${fixture.user.key}`, ...headers, [field]: numbers(value) },
        body: body === undefined ? undefined : Buffer.from(body),
      },
    })),
  );
}

function requestTo(endpoint: Endpoint, query: string, headers: Record<string, string>, body?: string): FuzzRequest {
  const isManaged = endpoint.path.startsWith('/manage/');
  const known = isManaged ? fixture.admin : fixture.user;
  const [connection = ''] = known.connections;
  const [id = ''] = known.ids;
  return {
    endpoint,
    target:
      endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'connectionId' ? connection : id)) + query,
    headers: { ...headers, Authorization: `Bearer ${isManaged ? ADMIN_KEY : known.key}` },
    body: body === undefined ? undefined : Buffer.from(body),
  };
}
