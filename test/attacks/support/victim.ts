/** Tenant B: sends small requests of all kinds for a number of seconds, and reports how long each took. */
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { KeptConnections } from '../../support/kept-connections.js';

export interface VictimOptions {
  readonly port: number;
  readonly key: string;
  readonly email: string;
  readonly password: string;
  readonly connection: string;
  /** Its own address, or its proxy's. */
  readonly address: string;
  readonly forwardedFor?: string;
}

export interface Sample {
  readonly kind: string;
  readonly ms: number;
  /** Status and text, or what happened to the connection. */
  readonly failure?: string;
}

interface Ask {
  readonly kind: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  readonly isWithoutKey?: boolean;
}

const WORKERS = 2;
/** A login costs as much as all the others together. */
const ROUNDS_PER_LOGIN = 4;
const PAUSE_MS = 5;
const PATIENCE_MS = 20_000;
const CONTENT = randomBytes(4_096);
const JSON_TYPE = { 'Content-Type': 'application/json' };

const options = JSON.parse(process.argv[2] ?? '') as VictimOptions;
const agent = new KeptConnections({ localAddress: options.address });

function round(worker: number, turn: number): Ask[] {
  const { connection: id, email, password } = options;
  const login: Ask = {
    kind: 'login',
    method: 'POST',
    path: '/manage/login',
    headers: JSON_TYPE,
    body: JSON.stringify({ email, password }),
    isWithoutKey: true,
  };
  const raw = { 'Content-Type': 'application/octet-stream' };
  return [
    { kind: 'healthz', path: '/healthz', isWithoutKey: true },
    { kind: 'me', path: '/api/me' },
    { kind: 'upload', method: 'POST', path: `/api/upload/${id}?filename=b${worker}`, headers: raw, body: CONTENT },
    { kind: 'download', path: `/api/download/${id}?path=/b${worker}` },
    { kind: 'list', path: `/api/list/${id}?path=/` },
    {
      kind: 'mkdir',
      method: 'POST',
      path: `/api/mkdir/${id}`,
      headers: JSON_TYPE,
      body: `{"path":"/folder${worker}"}`,
    },
    ...(turn % ROUNDS_PER_LOGIN === 0 ? [login] : []),
  ];
}

async function ask({ kind, method = 'GET', path, headers = {}, body, isWithoutKey = false }: Ask): Promise<Sample> {
  const startedAt = performance.now();
  const sample = (failure?: string): Sample => ({
    kind,
    ms: performance.now() - startedAt,
    ...(failure === undefined ? {} : { failure }),
  });
  const { port, key, forwardedFor } = options;
  try {
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = http.request({
        agent: agent.dropRested(),
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: {
          ...(isWithoutKey ? {} : { Authorization: `Bearer ${key}` }),
          ...(forwardedFor === undefined ? {} : { 'X-Forwarded-For': forwardedFor }),
          ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
          ...headers,
        },
        timeout: PATIENCE_MS,
      });
      request.on('timeout', () => request.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
      request.on('error', reject);
      request.on('response', (response) => {
        const status = response.statusCode ?? 0;
        buffer(response).then((bytes) => resolve({ status, text: bytes.toString('utf8', 0, 200) }), reject);
      });
      request.end(body);
    });
    return status < 300 ? sample() : sample(`${status} ${text}`);
  } catch (error) {
    return sample(String(error));
  }
}

async function work(worker: number, until: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let turn = 0; performance.now() < until; turn++) {
    for (const one of round(worker, turn)) {
      samples.push(await ask(one));
      await delay(PAUSE_MS);
    }
  }
  return samples;
}

process.on('message', (seconds: number) => {
  const until = performance.now() + seconds * 1_000;
  void Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker, until))).then((all) =>
    process.send?.(all.flat()),
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
