/** What requests and the heads of answers may contain, and handlers that fail: on the wire. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasCode } from '../../src/base/errors.js';
import type { BodyReader } from '../../src/http/body/body-reader.js';
import type { HttpAnswer, HttpRequest } from '../../src/http/types.js';
import { source } from './support/bytes.js';
import { startFrontEnd, untilGone, type FrontEnd } from './support/front-end.js';
import { RawClient } from './support/raw-client.js';
import { FRONT_END } from '../support/front-end.js';
import { eventually } from '../support/eventually.js';

async function echo(request: HttpRequest): Promise<HttpAnswer> {
  let body = '';
  for await (const chunk of request.body as AsyncIterable<Buffer>) body += chunk.toString('latin1');
  const { method, path, query, headers } = request;
  const fields = Object.fromEntries(headers);
  return { status: 200, body: JSON.stringify({ method, path, query: [...query], fields, body }) };
}

/** The first status line that the server sends for these bytes; undefined if it closes without an answer. */
async function statusOf(front: FrontEnd, text: string): Promise<number | undefined> {
  const client = await RawClient.open(front.port);
  client.send(text);
  const received = await client.until((bytes) => bytes.includes('\r\n'));
  client.socket.destroy();
  const line = received.toString('latin1');
  return line === '' ? undefined : Number(line.split(' ')[1]);
}

describe('requests', () => {
  test('ambiguous or unsupported framing is refused before the handler sees it', async (t) => {
    let handled = 0;
    const front = await startFrontEnd(t, async (request) => {
      handled++;
      return echo(request);
    });
    const post = 'POST / HTTP/1.1\r\nHost: x\r\n';
    const refused: Record<string, string> = {
      'two lengths that differ': `${post}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
      'two lengths that agree': `${post}Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd`,
      'a list of lengths': `${post}Content-Length: 4, 4\r\n\r\nabcd`,
      'a negative length': `${post}Content-Length: -4\r\n\r\nabcd`,
      'a signed length': `${post}Content-Length: +4\r\n\r\nabcd`,
      'a hexadecimal length': `${post}Content-Length: 0x4\r\n\r\nabcd`,
      'a length beyond all numbers': `${post}Content-Length: 99999999999999999999\r\n\r\nabcd`,
      'length and chunks': `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'another coding': `${post}Transfer-Encoding: gzip\r\n\r\n4\r\nabcd\r\n0\r\n\r\n`,
      'another coding before chunked': `${post}Transfer-Encoding: gzip, chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n`,
      'two keys': `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
      'two hosts': `GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`,
    };
    const statuses = new Map<string, number | undefined>();
    for (const [name, text] of Object.entries(refused)) statuses.set(name, await statusOf(front, text));
    assert.deepEqual(
      [...statuses].filter(([, status]) => status !== 400 && status !== undefined),
      [],
    );
    assert.equal(handled, 0);
  });

  test('HTTP/1.0 is refused with 505, a head that is too large with 431', async (t) => {
    const front = await startFrontEnd(t, echo);
    assert.equal(await statusOf(front, 'GET / HTTP/1.0\r\nHost: x\r\n\r\n'), 505);
    assert.equal(await statusOf(front, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`), 431);
    const many = Array.from({ length: 300 }, (_, index) => `X-${index}: 1\r\n`).join('');
    assert.equal(await statusOf(front, `GET / HTTP/1.1\r\nHost: x\r\n${many}\r\n`), 431);
    assert.equal(await statusOf(front, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`), 200);
    assert.equal(await statusOf(front, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'), 200);
  });

  test('our own refusals have the error form of the API', async (t) => {
    const { port } = await startFrontEnd(t, echo);
    const client = await RawClient.open(port);
    client.send('GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n');
    const answer = await client.answer();
    assert.deepEqual(JSON.parse(answer.body.toString()), {
      error: 'the field authorization appears twice in the request',
    });
    assert.equal(answer.field('x-error-code'), 'bad_request');
    assert.match(answer.field('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(answer.field('cache-control'), 'no-store');
    client.socket.destroy();
  });

  test('method, path, query and fields arrive as sent', async (t) => {
    const { port } = await startFrontEnd(t, echo);
    const client = await RawClient.open(port);
    const ask = async (line: string, fields = ''): Promise<Record<string, unknown>> => {
      client.send(`${line} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`);
      return JSON.parse((await client.answer()).body.toString()) as Record<string, unknown>;
    };
    const { method, path, query, fields } = await ask('GET /a%2Fb/%zz?q=1&q=2&p=%C3%A4+b', 'X-A: 1\r\nx-a: 2\r\n');
    assert.deepEqual([method, path], ['GET', '/a%2Fb/%zz']);
    assert.deepEqual(query, [
      ['q', '1'],
      ['q', '2'],
      ['p', 'ä b'],
    ]);
    assert.equal((fields as Record<string, string>)['x-a'], '1, 2');
    client.socket.destroy();
  });

  test('an unknown method reaches the router, or is refused by the parser of node:http', async (t) => {
    const front = await startFrontEnd(t, echo);
    assert.equal(await statusOf(front, 'BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n'), FRONT_END === 'node' ? 400 : 200);
  });

  test('a lower-case method and a bare carriage return are refused', async (t) => {
    let handled = 0;
    const front = await startFrontEnd(t, async (request) => {
      handled++;
      return echo(request);
    });
    for (const text of [
      'get / HTTP/1.1\r\nHost: x\r\n\r\n',
      'Get / HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nX: a\rY: b\r\n\r\n',
    ]) {
      const status = await statusOf(front, text);
      assert.ok(status === 400 || status === undefined, `${status} to ${JSON.stringify(text)}`);
    }
    assert.equal(handled, 0);
  });

  test('targets that are no path are refused, and non-ASCII bytes do no harm', async (t) => {
    const front = await startFrontEnd(t, echo);
    for (const target of ['http://x:80/absolute?a=b', '*', 'x:80']) {
      const status = await statusOf(front, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.equal(status, FRONT_END === 'node' ? 400 : 505);
    }
    const foreign = await statusOf(front, 'GET /\xe9?\xe9=\xff HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.equal(foreign, FRONT_END === 'node' ? 400 : 200);
  });

  test('one connection serves many requests, with bodies and without', async (t) => {
    const front = await startFrontEnd(t, echo);
    const client = await RawClient.open(front.port);
    for (let turn = 0; turn < 200; turn++) {
      const isPost = turn % 2 === 0;
      client.send(
        isPost ? 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc' : 'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
      );
      const answer = await client.answer();
      assert.equal((JSON.parse(answer.body.toString()) as { body: string }).body, isPost ? 'abc' : '');
      assert.equal(answer.field('connection'), undefined);
    }
    assert.equal(front.records.length, 200);
    client.socket.destroy();
  });

  test('a second request before the first answer ends the connection; neither is mixed up', async (t) => {
    const signals: AbortSignal[] = [];
    const { port } = await startFrontEnd(t, (request) => {
      signals.push(request.signal);
      return untilGone(request);
    });
    const client = await RawClient.open(port);
    client.send('GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n');
    await client.closed;
    assert.equal(client.received.length, 0);
    assert.equal(signals.length, 1);
    assert.ok(hasCode(signals[0]?.reason, 'client_gone'));
  });

  test('a client that closes its sending half after the request is taken as gone', async (t) => {
    let signal: AbortSignal | undefined;
    const { port } = await startFrontEnd(t, (request) => {
      signal = request.signal;
      return untilGone(request);
    });
    const client = await RawClient.open(port, { allowHalfOpen: true });
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    client.socket.end();
    await client.closed;
    await eventually(() => signal?.aborted === true, 'the abort');
  });

  describe('an arrived but unread body does not keep the connection', () => {
    /** Gives the body up after its first chunk. */
    const glance = async ({ body }: HttpRequest): Promise<void> => {
      for await (const _ of body) break;
    };
    type Treat = (request: HttpRequest, client: RawClient) => Promise<void>;
    const CASES: readonly (readonly [what: string, sent: string, treat: Treat])[] = [
      ['came with its head', 'Content-Length: 7\r\n\r\ncontent', async () => undefined],
      ['came in chunks with its head', 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n', async () => undefined],
      [
        'was given up in the middle, in one piece',
        'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n',
        glance,
      ],
      [
        'was given up before the rest came',
        'Content-Length: 7\r\n\r\nc',
        async (request, client) => {
          await glance(request);
          client.send('ontent');
          const body = request.body as BodyReader;
          await eventually(() => body.received === 7, 'the rest');
        },
      ],
    ];
    for (const [what, sent, treat] of CASES) {
      test(what, async (t) => {
        const { port } = await startFrontEnd(t, async (request) => {
          await treat(request, client);
          return { status: 400, body: 'no' };
        });
        const client = await RawClient.open(port);
        const { status, headers } = await client.send(`POST / HTTP/1.1\r\nHost: x\r\n${sent}`).answer();
        assert.equal(status, 400);
        assert.ok(!headers.some(([name]) => name === 'connection'), 'the connection is to end');
        client.socket.end();
        await eventually(() => client.isClosed, 'the connection’s end');
      });
    }
  });

  test('answers do not name the server', async (t) => {
    const { port } = await startFrontEnd(t, echo);
    const client = await RawClient.open(port);
    const { headers } = await client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer();
    const names = headers.map(([name]) => name);
    assert.ok(!names.includes('uwebsockets') && !names.includes('server'), names.join());
    client.socket.destroy();
  });

  test('a client that asks for the close gets it', async (t) => {
    const { port } = await startFrontEnd(t, echo);
    const client = await RawClient.open(port);
    const answer = await client.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n').answer();
    assert.equal(answer.status, 200);
    await client.closed;
  });
});

describe('answer heads', () => {
  test('no value can split the answer or leave Latin-1', async (t) => {
    const values: Record<string, string> = {
      'X-Lines': 'a\r\nSet-Cookie: evil=1\r\n\r\n<html>',
      'X-Nul': 'a\0b\u007fc',
      'X-Latin': 'café',
      'X-Wide': '日本 😀',
      'X-Tab': 'a\tb',
    };
    const { port } = await startFrontEnd(t, async () => ({
      status: 200,
      headers: { ...values, 'X-Many': ['1', '2\r\nX-Evil: 1'] },
      body: 'ok',
    }));
    const client = await RawClient.open(port);
    const answer = await client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer();
    assert.equal(answer.body.toString(), 'ok');
    const names = answer.headers.map(([name]) => name);
    assert.ok(!names.includes('set-cookie') && !names.includes('x-evil'), names.join());
    assert.equal(answer.field('x-lines'), 'a Set-Cookie: evil=1 <html>');
    assert.equal(answer.field('x-nul'), 'a b c');
    assert.equal(answer.field('x-latin'), 'café');
    assert.equal(answer.field('x-wide'), '?? ?');
    assert.equal(answer.field('x-tab'), 'a\tb');
    assert.deepEqual(
      answer.headers.filter(([name]) => name === 'x-many').map(([, value]) => value),
      ['1', '2 X-Evil: 1'],
    );
    client.socket.destroy();
  });
});

describe('handlers that fail', () => {
  const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const failures: Record<string, () => Promise<HttpAnswer>> = {
    'throws at once': () => {
      throw new Error('secret detail');
    },
    'rejects later': async () => {
      await new Promise(setImmediate);
      throw new Error('secret detail');
    },
    // Not even an Error.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    'rejects with nothing': () => Promise.reject(undefined),
  };
  for (const [name, handler] of Object.entries(failures)) {
    test(`one that ${name}: 500 with the fixed text, and the next request is served`, async (t) => {
      const { port } = await startFrontEnd(t, handler);
      const client = await RawClient.open(port);
      for (let turn = 0; turn < 2; turn++) {
        const answer = await client.send(GET).answer();
        assert.equal(answer.status, 500);
        assert.equal(answer.field('x-error-code'), 'internal');
        assert.deepEqual(JSON.parse(answer.body.toString()), {
          error: 'internal error; the request id in X-Request-Id finds it in the log',
        });
      }
      client.socket.destroy();
    });
  }

  test('a listener that throws on the body costs the connection, not the process', async (t) => {
    const { port } = await startFrontEnd(t, (request) => {
      request.body.on('data', () => {
        throw new Error('a bug');
      });
      return untilGone(request);
    });
    const client = await RawClient.open(port);
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
    await new Promise(setImmediate);
    client.send('hello');
    await client.closed;
    const next = await RawClient.open(port);
    next.socket.destroy();
  });

  for (const [name, finish] of Object.entries({
    rejects: () => Promise.reject(new Error('too late')),
    answers: async () => ({ status: 200, body: 'too late' }),
    'answers with a stream': async () => ({ status: 200, body: { stream: late.stream, length: undefined } }),
  } satisfies Record<string, () => Promise<HttpAnswer>>)) {
    test(`one that ${name} after its client has left`, async (t) => {
      let finished = false;
      const front = await startFrontEnd(t, async (request) => {
        await untilGone(request).catch(() => undefined);
        await new Promise(setImmediate);
        finished = true;
        return finish();
      });
      const client = await RawClient.open(front.port);
      client.send(GET);
      await eventually(() => front.server.running === 1, 'the request');
      client.socket.destroy();
      await eventually(() => finished, 'the handler');
      await new Promise(setImmediate);
      assert.equal((await front.over(1)).isComplete, false);
      assert.equal(front.records.length, 1);
      if (name === 'answers with a stream') assert.equal(late.stream.destroyed, true);
    });
  }
});

const late = source(10_000);
