/**
 * Every endpoint, with requests made from its schemas: valid, changed and hostile ones. Every answer must be one that
 * the OpenAPI document describes and arrive in time, and only the remote servers may fail.
 *
 * FUZZ_SEED repeats a run, FUZZ_REQUESTS changes the number of requests.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type ErrorCode, ERRORS } from '../../src/contract/errors.js';
import type { OpenApiDocument } from '../../src/api/openapi/types.js';
import { AnswerChecker, type CheckedAnswer } from '../api/openapi/answer-checker.js';
import { eventually } from '../support/eventually.js';
import { FRONT_END } from '../support/front-end.js';
import { memoryOf } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { documentedEndpoints, managementEndpoints, type Endpoint } from './support/endpoints.js';
import { FuzzClient } from './support/fuzz-client.js';
import { CANARY, startFuzzGateway, type FuzzGateway } from './support/fuzz-gateway.js';
import { requestsFor, strayRequests, type FuzzRequest, type Known } from './support/fuzz-requests.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31));
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 28_000);
const ENOUGH_FOR_ALL = 28_000;
/** Shares of the file operations, the management API, endpoints with few inputs, and paths that no endpoint has. */
const [SHARE_API, SHARE_MANAGE, SHARE_STRAY] = [0.84, 0.1, 0.03];
const CONNECTIONS = 24;
const WITHIN_MS = 20_000;
/** Enough to see what is wrong. */
const MAX_FAILURES = 10;
/** The other fields stay below the rest of the 32 KiB that a head may have. */
const LARGE_HEAD = 28 * 1024;
const MAX_MEMORY = 700 * 1024 * 1024;
/** Codes of failures that a remote server, or the connection to it, has caused. */
const OF_THE_REMOTE = new Set(
  Object.entries(ERRORS)
    .filter(([, { status }]) => status === 502 || status === 504)
    .map(([code]) => code),
);

let fixture: FuzzGateway;
let checker: AnswerChecker;
let document: OpenApiDocument;

before(async () => {
  fixture = await startFuzzGateway();
  document = (await fixture.gateway.api.get('/openapi.json')).json as unknown as OpenApiDocument;
  checker = new AnswerChecker(document);
});
after(() => fixture.stop());

describe(`requests made from the schemas (FUZZ_SEED=${SEED})`, () => {
  test(`${REQUESTS} requests: no failure of the gateway itself, every answer as documented`, async () => {
    const requests = madeRequests();
    const client = new FuzzClient({ port: fixture.gateway.port, connections: CONNECTIONS, withinMs: WITHIN_MS });
    const statuses = new Map<number, number>();
    const failures: string[] = [];
    let next = 0;
    const ask = async (request: FuzzRequest): Promise<CheckedAnswer> => {
      const answer = await client.send(request);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      checkAnswer(request, answer);
      return answer;
    };
    const work = async (): Promise<void> => {
      for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
        if (failures.length >= MAX_FAILURES) return;
        try {
          const behind = following(request, await ask(request));
          for (const { next, expected } of behind) {
            const answer = await ask(next);
            const { status } = answer;
            assert.ok(
              expected?.includes(status) ?? true,
              `${status} to ${next.endpoint.method} ${next.target}, sent behind:`,
            );
            behind.push(...repeating(next, answer));
          }
        } catch (error) {
          failures.push(`${(error as Error).message}\n${shown(request)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    client.close();
    assert.equal(failures.length, 0, failures.join('\n\n'));
    // If most requests are refused early, the fuzz tests only the refusals.
    const successes = [...statuses].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0);
    assert.ok(successes > REQUESTS / 10, `only ${successes} of ${REQUESTS} requests were right`);
    held({
      area: 'Attacks',
      what: 'Requests made from the schemas of every endpoint, also of the management API',
      done: 'right, changed and hostile fields, headers, paths and bodies, 24 connections at once, all three protocols behind',
      held: 'no failure but those of the remote servers; every answer in time and as the OpenAPI document says; no file outside a root; no error logged',
      tries: requests.length,
    });
  });

  test('afterwards the gateway serves as before, and has logged no failures of its own', async () => {
    const { gateway } = fixture;
    assert.equal((await gateway.api.get('/readyz')).status, 200);
    await eventually(hasNoJobs, 'jobs end');
    for (const connection of ['box', 'ftp', 'lake']) {
      const written = await gateway.api.post(`/api/write/${connection}`, { path: '/after', content: 'still here' });
      assert.equal(written.status, 200, written.text);
      const read = await gateway.api.get(`/api/read/${connection}?path=/after`);
      assert.equal(read.json['content'], 'still here', `${connection}: ${read.status} ${read.text}`);
    }
    assert.equal(gateway.process.exitCode, null);
    assert.ok(memoryOf(gateway.pid).now < MAX_MEMORY, `${memoryOf(gateway.pid).now} bytes resident`);
    const complaints = gateway
      .output()
      .split('\n')
      .filter((line) => !/^\{"level":"(info|warn)"/.test(line) && !isFaultOfRemote(line));
    assert.deepEqual(complaints, []);
  });

  test('every documented operation was successful once, and failed once', () => {
    // A fraction of the requests may miss one.
    if (REQUESTS < ENOUGH_FOR_ALL) return;
    for (const { method, path } of documentedEndpoints(document).filter(({ path }) => path.startsWith('/api/'))) {
      const statuses = [...checker.seen]
        .filter((name) => name.startsWith(`${method.toLowerCase()} ${path} `))
        .map((name) => Number(name.split(' ').at(-1)));
      assert.ok(
        statuses.some((status) => status < 300),
        `${method} ${path}: no success`,
      );
      assert.ok(
        statuses.some((status) => status >= 400),
        `${method} ${path}: no error`,
      );
    }
  });
});

/** Cancels running jobs: they may delete any file. */
async function hasNoJobs(): Promise<boolean> {
  const { api } = fixture.gateway;
  const jobs: { readonly id: string }[] = [];
  // One after the other: a job that changes state between the two is in the second list.
  for (const state of ['queued', 'running']) {
    const { json } = await api.get(`/api/jobs?state=${state}&limit=100`);
    jobs.push(...(json['jobs'] as typeof jobs));
  }
  for (const { id } of jobs) await api.post(`/api/jobs/${id}/cancel`, {});
  return jobs.length === 0;
}

function madeRequests(): FuzzRequest[] {
  const documented = documentedEndpoints(document);
  const api = documented.filter(({ path }) => path.startsWith('/api/'));
  const system = documented.filter(({ path }) => !path.startsWith('/api/'));
  const manage = managementEndpoints();
  const { user, admin } = fixture;
  const rest = 1 - SHARE_API - SHARE_MANAGE - SHARE_STRAY;
  const all = [
    ...made(api, user, REQUESTS * SHARE_API),
    ...made(manage, admin, REQUESTS * SHARE_MANAGE),
    ...made(system, user, REQUESTS * rest),
    ...fc.sample(strayRequests(user.key), { seed: SEED, numRuns: Math.ceil(REQUESTS * SHARE_STRAY) }),
  ];
  return mixed(all);
}

function made(endpoints: readonly Endpoint[], known: Known, count: number): FuzzRequest[] {
  const each = Math.ceil(count / endpoints.length);
  return endpoints.flatMap((endpoint, index) =>
    fc.sample(requestsFor(endpoint, known), { seed: SEED + index, numRuns: each }),
  );
}

/** The same order for the same seed. */
function mixed(requests: readonly FuzzRequest[]): FuzzRequest[] {
  const [order] = fc.sample(fc.infiniteStream(fc.double({ noNaN: true, min: 0, max: 1 })), { seed: SEED, numRuns: 1 });
  assert.ok(order !== undefined);
  return requests
    .map((request) => ({ request, place: order.next().value as number }))
    .sort((a, b) => a.place - b.place)
    .map(({ request }) => request);
}

function checkAnswer(request: FuzzRequest, answer: CheckedAnswer): void {
  const { status, headers, bytes } = answer;
  const { method, path, isDocumented } = request.endpoint;
  const code = headers['x-error-code'] as ErrorCode | undefined;
  // The only answer of the front end itself: such a head is not read further.
  if (status === 431 && request.target.length > LARGE_HEAD) return;
  try {
    assert.ok(status < 500 || OF_THE_REMOTE.has(code ?? ''), 'a failure of the gateway itself');
    assert.ok(!bytes.includes(CANARY), 'shows a file outside the root');
    assert.match(String(headers['x-request-id']), /^[A-Za-z0-9._-]{1,128}$/);
    if (status >= 400) checkError(method, answer);
    // The parser of node:http accepts only ASCII targets, on any path.
    const isOfParser = FRONT_END === 'node' && status === 400 && /[^\u0021-\u007e]/.test(request.target);
    if (isDocumented && code !== 'unknown_route' && !isOfParser) checker.check(method, path, answer);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n→ ${status} ${bytes.toString().slice(0, 500)}`, { cause: error });
  }
}

/** A log line about a request that a remote server failed. */
function isFaultOfRemote(line: string): boolean {
  if (!line.startsWith('{"level":"error"')) return false;
  const { msg, errorCode } = JSON.parse(line) as { readonly msg: unknown; readonly errorCode?: string };
  return msg === 'request' && OF_THE_REMOTE.has(errorCode ?? '');
}

function checkError(method: string, { status, headers, bytes }: CheckedAnswer): void {
  const code = headers['x-error-code'] as ErrorCode;
  assert.equal(ERRORS[code]?.status, status, `X-Error-Code: ${code}`);
  assert.equal(headers['cache-control'], 'no-store');
  if (method === 'HEAD') return assert.equal(bytes.length, 0);
  const { error, skipped, ...others } = JSON.parse(bytes.toString()) as Record<string, unknown>;
  assert.ok(typeof error === 'string' && error.length > 0 && error.length < 4000, 'error is a text');
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(error, /[\u0000-\u001f\u007f]|\bat .*\.js:\d+|\/src\/|node_modules/);
  assert.ok(skipped === undefined || (skipped === true && status === 409));
  assert.deepEqual(others, {});
}

interface Following {
  readonly next: FuzzRequest;
  /** Absent = anything documented: other workers use the same files. */
  readonly expected?: readonly number[];
}

/** Requests for a thing that was made. A watched folder is removed: it would be checked for the rest of the run. */
function following(request: FuzzRequest, answered: CheckedAnswer): Following[] {
  const { endpoint, headers, target } = request;
  const { status, bytes } = answered;
  if (endpoint.method !== 'POST' || status >= 300) return [];
  if (endpoint.path === '/api/uploads/{connectionId}') return goingOn(request, answered);
  const { Authorization } = headers;
  const authorized: Record<string, string> = Authorization === undefined ? {} : { Authorization };
  const ask = (
    method: string,
    path: string,
    place: string,
    body?: object,
    expected?: readonly number[],
  ): Following => ({
    next: {
      endpoint: { ...endpoint, method, path },
      target: place,
      headers: body === undefined ? authorized : { ...authorized, 'Content-Type': 'application/json' },
      body: body && Buffer.from(JSON.stringify(body)),
    },
    ...(expected && { expected }),
  });
  const answer = (): Record<string, unknown> => JSON.parse(bytes.toString()) as Record<string, unknown>;
  if (endpoint.path === '/api/write/{connectionId}') {
    const connection = /^\/api\/write\/([^?]*)/.exec(target)?.[1] ?? '';
    const path = String(answer()['path']);
    const of = (method: string, operation: string, query: string, body?: object): Following =>
      ask(method, `/api/${operation}/{connectionId}`, `/api/${operation}/${connection}${query}`, body);
    const query = `?path=${encodeURIComponent(path)}`;
    const [copied, moved, late] = [`${path}-copied`, `${path}-moved`, `${path}-late`];
    const ends = { source_connection_id: connection, dest_connection_id: connection };
    return [
      of('HEAD', 'download', query),
      of('GET', 'download', query),
      of('GET', 'read', query),
      of('POST', 'append', '', { path, content: 'more' }),
      ask('POST', '/api/copy', '/api/copy', { ...ends, source_path: path, dest_path: copied }),
      of('POST', 'move', '', { from: copied, to: moved }),
      // Fails, and is repeated when the file is there.
      of('POST', 'move', '', { from: late, to: `${late}-moved` }),
      ask('POST', '/api/copy', '/api/copy', { ...ends, source_path: path, dest_path: late }),
      ask('GET', '/api/transfers', '/api/transfers?status=failed&type=move&limit=5'),
      of('POST', 'delete', '', { path: moved }),
    ];
  }
  const kind = /^\/(?:api|manage)\/(watched-folders|schedules|jobs|webhooks)$/.exec(endpoint.path)?.[1];
  if (kind === undefined) return [];
  const { id: own, ...parts } = answer();
  const id = (own ?? (Object.values(parts) as { readonly id: unknown }[])[0]?.id) as string;
  const of = (method: string, step: string, ...expected: readonly number[]): Following => {
    const change = kind === 'webhooks' ? { isActive: false } : { name: 'another' };
    const body = method === 'PATCH' ? change : undefined;
    return ask(method, `${endpoint.path}/{id}${step}`, `${endpoint.path}/${id}${step}`, body, expected);
  };
  // Owners see it in the list.
  const look = endpoint.path.startsWith('/api/') ? [of('GET', '', 200)] : [];
  switch (kind) {
    case 'jobs':
      // It may have ended by then, with all work done.
      return [
        ...['/pause', '/resume', '/cancel'].map((step) => of('POST', step, 200, 409)),
        of('POST', '/retry', 202, 409, 429),
      ];
    case 'schedules':
      return [...look, of('PATCH', '', 200), of('POST', '/run', 202, 409, 429), of('DELETE', '', 200)];
    case 'webhooks':
      return [
        of('GET', '', 200),
        of('PATCH', '', 200),
        of('POST', '/rotate-secret', 200),
        of('POST', '/test', 200, 429),
        of('DELETE', '', 200),
      ];
    default:
      return [...look, of('PATCH', '', 200), of('DELETE', '', 200)];
  }
}

/** Listed transfers are repeated, which some of them cannot be, and other workers may also do. */
function repeating({ endpoint, headers }: FuzzRequest, { status, bytes }: CheckedAnswer): Following[] {
  if (endpoint.path !== '/api/transfers' || endpoint.method !== 'GET' || status !== 200) return [];
  const { transfers } = JSON.parse(bytes.toString()) as { readonly transfers: readonly { readonly id: string }[] };
  return transfers.map(({ id }) => ({
    next: {
      endpoint: { ...endpoint, method: 'POST', path: '/api/transfers/{id}/again' },
      target: `/api/transfers/${id}/again`,
      headers,
      body: undefined,
    },
  }));
}

/** A resumable upload is queried, continued, and terminated; 404 if others remove its bytes. */
function goingOn({ endpoint, headers: { Authorization = '' } }: FuzzRequest, { headers }: CheckedAnswer): Following[] {
  const ask = (method: string, more: Record<string, string>, expected?: readonly number[]): Following => ({
    next: {
      endpoint: { ...endpoint, method, path: '/api/uploads/{connectionId}/{uploadId}' },
      target: headers['location'] as string,
      headers: { Authorization, 'Tus-Resumable': '1.0.0', ...more },
      body: method === 'PATCH' ? Buffer.from('x') : undefined,
    },
    ...(expected && { expected }),
  });
  const piece = {
    'Content-Type': 'application/offset+octet-stream',
    'Upload-Offset': String(headers['upload-offset']),
  };
  return [
    ask('HEAD', {}, [200, 404]),
    ask('POST', { 'X-HTTP-Method-Override': 'HEAD' }, [200, 404]),
    ask('PATCH', piece),
    ask('DELETE', {}, [204, 404]),
  ];
}

function shown({ endpoint, target, headers, body }: FuzzRequest): string {
  const { Authorization: _key, ...others } = headers;
  const content = body === undefined ? '' : JSON.stringify(body.toString()).slice(0, 1500);
  return `${endpoint.method} ${target.slice(0, 600)} ${JSON.stringify(others).slice(0, 600)} ${content}`;
}
