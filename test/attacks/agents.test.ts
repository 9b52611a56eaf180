/**
 * Clients without a valid key at `ftg mcp --http`, which agents share. It failed once with 256 unfinished heads, and
 * with 60 wrong keys: for the gateway all came from one address, and it refused the valid keys of others.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { Terminal } from '../cli/support.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { openCrowd } from './support/crowd.js';
import { ADDRESSES } from './support/tenants.js';

/** Keys that no request has used before. */
const UNSEEN = ['ftg_first-agent-0123456789-abcdefgh', 'ftg_other-agent-0123456789-abcdefgh'] as const;
const HEADS = 300;
const GUESSES = 90;

describe('agents over HTTP, and clients without a key', { concurrency: 1 }, () => {
  let gateway: TestAccount;
  let terminal: Terminal;
  let port: number;
  let stop: () => Promise<void>;

  before(async () => {
    gateway = await openAccount({
      apiKeys: UNSEEN.map((key, number) => ({ name: `agent ${number}`, key })),
    });
    terminal = new Terminal({ FTG_URL: gateway.url });
    const child = terminal.start(['mcp', '--http', '--port', '0'], { FTG_KEY: gateway.keyOf(KEY) });
    const exited = once(child, 'exit');
    const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
    port = Number(new URL(line.replace(/^.* at /, '')).port);
    stop = async () => {
      child.kill('SIGTERM');
      await exited;
    };
  });
  after(async () => {
    await stop?.();
    await gateway?.stop();
    terminal?.close();
  });

  /** The answer to one request with this key, from this address. */
  async function ask(key: string, localAddress: string): Promise<http.IncomingMessage> {
    const headers = {
      Authorization: `Bearer ${gateway.keyOf(key)}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    };
    const place = { host: '127.0.0.1', port, localAddress, path: '/mcp', method: 'POST' };
    const request = http.request({ ...place, headers, agent: false });
    request.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return response.resume();
  }

  test('heads that never end', async () => {
    const text = (): string => 'POST /mcp HTTP/1.1\r\nHost: localhost\r\n';
    const crowd = await openCrowd(port, HEADS, { address: ADDRESSES.nobody, text });
    try {
      assert.equal((await ask(KEY, ADDRESSES.b)).statusCode, 200);
    } finally {
      await crowd.close();
    }
    held({
      area: 'Attacks',
      what: 'Agents over HTTP: heads that never end',
      tries: HEADS,
      done: `${HEADS} connections to ftg mcp --http that send a part of a head, without a key`,
      held: 'an agent with a key is served meanwhile',
    });
  });

  test('wrong keys', async () => {
    const statuses: (number | undefined)[] = [];
    for (let turn = 0; turn < GUESSES; turn++) {
      const guess = await ask(`ftg_guess-${String(turn).padStart(20, '0')}`, ADDRESSES.nobody);
      statuses.push(guess.statusCode);
      if (guess.statusCode === 429) assert.match(guess.headers['retry-after'] ?? '', /^[1-9]\d*$/);
    }
    assert.deepEqual(statuses, [...Array<number>(60).fill(401), ...Array<number>(GUESSES - 60).fill(429)]);
    // The gateway knows neither of them yet, and for it everything comes from one address.
    assert.equal((await ask(UNSEEN[0], ADDRESSES.b)).statusCode, 200);
    assert.equal((await ask(UNSEEN[1], ADDRESSES.nobody)).statusCode, 200, 'from the same address too');
    assert.equal((await gateway.client(KEY).get('/api/me')).status, 200);
    held({
      area: 'Attacks',
      what: 'Agents over HTTP: guessing keys',
      tries: GUESSES,
      done: `${GUESSES} bad keys to ftg mcp --http, one after another; then good ones that neither it nor the gateway has seen`,
      held: '401, and from the 61st in a minute on 429 with Retry-After; the good ones are served',
    });
  });
});
