/**
 * The gateway as a user runs it: a separate process with a configuration file; and its clients, which end with it.
 *
 *   const gateway = await startGateway({ connections: [{ id: 'c1', name: 'Files', ...server.connection }] });
 *   await gateway.api.get('/api/list/c1'); // with the account's key, KEY
 *   await gateway.client(ADMIN_KEY).get('/manage/account'); // with another key, on separate connections
 *   await (await gateway.login(EMAIL, PASSWORD)).get('/manage/connections');
 *   await gateway.stop();
 *
 * `config` is the content of the file; `accounts` in it describes more than one. A database that the test uses, or that
 * several nodes share: `config: { database: { url } }` with one of storage/databases.ts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { layEmbedded } from '../servers/data-folders.js';
import { FRONT_END } from './front-end.js';
import { KeptConnections } from './kept-connections.js';
import { MAIN, mainOf, START_ARGS } from './start-args.js';

/** Only for processes that hang: a busy machine has taken a minute for what takes two seconds. */
const START_MS = 240_000;
/** The same for its end, which takes as long as requests run and the configuration lets them. */
const STOP_MS = 240_000;
/** One question whether it is ready: an unanswered one is asked again. */
const ASK_MS = 10_000;
/** Lines at the end of its output that an error shows. */
const LAST_LINES = 20;
/** For tests that are not about these limits: a busy machine must not decide their result. */
const PATIENT = { acquireTimeoutMs: 120_000, connectTimeoutMs: 60_000, stallTimeoutMs: 120_000 };
export const KEY = 'ftg_test-key-0123456789-abcdefgh';

export interface GatewayOptions {
  /** As in the configuration file. */
  readonly connections?: readonly object[];
  readonly apiKeys?: readonly object[];
  readonly plan?: string;
  /** Further keys of the file; `accounts` here replaces the account that the other options describe. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The Node.js that runs it; absent: this one. */
  readonly node?: string;
  /** A built checkout of another version. */
  readonly checkout?: string;
  /** Kept when the gateway ends, to start another one on it. */
  readonly dataDir?: string;
}

export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly process: ChildProcess;
  readonly api: ApiClient;
  /** One more client, on separate connections. */
  client(key?: string): ApiClient;
  /** A user of the dashboard who has not logged in. */
  visitor(): Browser;
  /** A user who has logged in. */
  login(email: string, password: string): Promise<Browser>;
  /** Everything it wrote so far, standard output and error. */
  output(): string;
  /** SIGTERM and the exit code. Rejects if it has to be killed. */
  stop(): Promise<number | null>;
  /** SIGKILL. Resolves when it has ended; rejects with its last output if it had ended before. */
  kill(): Promise<void>;
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-gateway-'));
  // The database runs as another user if this process is root.
  chmodSync(folder, 0o755);
  const file = path.join(folder, 'gateway.yaml');
  const dataDir = options.dataDir ?? path.join(folder, 'data');
  const { connections = [], plan = 'pro', apiKeys = [{ name: 'test', key: KEY }], config = {} } = options;
  const { server, pools, ...others } = config as { server?: object; pools?: { default?: object } };
  const settings = {
    dataDir,
    // No load balancer polls /readyz here, so no test waits for one. All clients have one address.
    server: { port: 0, frontEnd: FRONT_END, retireSeconds: 0, connectionsPerAddress: 10_000, ...server },
    pools: { ...pools, default: { ...PATIENT, ...pools?.default } },
    // Only the test itself uses its servers.
    health: { everySeconds: 0 },
    alarms: { everySeconds: 0 },
    accounts: [{ email: 'test@example.com', plan, apiKeys, connections }],
    ...others,
  };
  writeFileSync(file, JSON.stringify(settings));
  if (!('database' in config)) await layEmbedded(dataDir);
  const main = options.checkout === undefined ? MAIN : mainOf(options.checkout);
  const child = spawn(options.node ?? process.execPath, [...START_ARGS, main], {
    env: { ...process.env, GATEWAY_CONFIG: file, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const exited = once(child, 'exit');
  const port = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the gateway did not start:\n${lines.join('\n')}`)), START_MS);
    createInterface(child.stderr).on('line', (line) => lines.push(line));
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line);
      const listening = /"port":(\d+).*"msg":"listening"/.exec(line);
      if (listening !== null) resolve(Number(listening[1]));
    });
    void exited.then(() => reject(new Error(`the gateway ended:\n${lines.join('\n')}`)));
    void exited.finally(() => clearTimeout(timer));
  });
  const tls = (server as { tls?: { certFile?: string } } | undefined)?.tls?.certFile;
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  const lastOutput = (): string => lines.slice(-LAST_LINES).join('\n');
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  // Its last output: a test that cannot connect cannot find out the reason otherwise.
  child.once('exit', (code) => {
    if (code !== null && code !== 0) console.error(`a gateway ended with ${code}:\n${lastOutput()}`);
  });
  const clients: { close(): void }[] = [];
  const closing = <C extends { close(): void }>(one: C): C => {
    clients.push(one);
    return one;
  };
  const visitor = (): Browser => closing(new Browser(port));
  const api = closing(new ApiClient(port));
  // The clients of this file do not use TLS.
  await untilReady(
    (signal) => (tls === undefined ? api.get('/readyz', { signal }) : secureAnswer(port, signal)),
    lastOutput,
  ).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    url,
    port,
    pid: child.pid ?? 0,
    process: child,
    api,
    client: (key) => closing(new ApiClient(port, key)),
    visitor,
    login: async (email, password) => {
      const browser = visitor();
      const { status, text } = await browser.login(email, password);
      if (status !== 200) throw new Error(`${email} cannot log in: ${status} ${text}`);
      return browser;
    },
    output: () => lines.join('\n'),
    kill: async () => {
      if (hasEnded()) throw new Error(`the gateway had ended by itself:\n${lastOutput()}`);
      child.kill('SIGKILL');
      await exited;
      if (child.signalCode !== 'SIGKILL') throw new Error(`the gateway ended by itself:\n${lastOutput()}`);
    },
    stop: async () => {
      let isLate = false;
      if (!hasEnded()) {
        child.kill('SIGTERM');
        const hard = setTimeout(() => (isLate = child.kill('SIGKILL')), STOP_MS);
        await exited;
        clearTimeout(hard);
      }
      for (const each of clients) each.close();
      rmSync(folder, { recursive: true, force: true });
      if (isLate) throw new Error(`the gateway did not stop within ${STOP_MS} ms:\n${lastOutput()}`);
      return child.exitCode;
    },
  };
}

async function secureAnswer(port: number, signal: AbortSignal): Promise<{ readonly status: number }> {
  const request = https.get({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, signal });
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  answer.resume();
  return { status: answer.statusCode ?? 0 };
}

async function untilReady(
  ask: (signal: AbortSignal) => Promise<{ readonly status: number }>,
  lastOutput: () => string,
): Promise<void> {
  let last = 'no answer';
  for (const until = Date.now() + START_MS; Date.now() < until;) {
    const limit = AbortSignal.timeout(ASK_MS);
    try {
      const { status } = await ask(limit);
      if (status === 200) return;
      last = String(status);
    } catch (error) {
      if (!limit.aborted) throw new Error(`the gateway cannot be asked:\n${lastOutput()}`, { cause: error });
      last = `no answer within ${ASK_MS} ms`;
    }
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`the gateway is not ready (${last}):\n${lastOutput()}`);
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The body as JSON; fails if it is not. */
  readonly json: Record<string, unknown>;
  readonly text: string;
}

export interface ApiRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly json?: unknown;
  readonly body?: Buffer | string | Readable;
  readonly key?: string;
  /** Ends the request, and the answer that is being read. */
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  /** The key that replaces the one that a test names. */
  readonly keyOf?: (key: string) => string;
  /**
   * Once more on a new connection, if a kept one is reset before any answer: a busy gateway may have closed it while
   * the request was on its way. Not for tests of gateways that end.
   */
  readonly repeatsReset?: boolean;
}

/** Plain node:http, so that nothing between the test and the wire changes a request. */
export class ApiClient {
  readonly #keyOf: (key: string) => string;
  readonly #repeatsReset: boolean;
  readonly #agent = new KeptConnections({ maxSockets: 256 });

  constructor(
    readonly port: number,
    readonly key: string = KEY,
    { keyOf = (named) => named, repeatsReset = false }: ClientOptions = {},
  ) {
    this.#keyOf = keyOf;
    this.#repeatsReset = repeatsReset;
  }

  close(): void {
    this.#agent.destroy();
  }

  get(target: string, request: Omit<ApiRequest, 'method'> = {}): Promise<ApiAnswer> {
    return this.send(target, request);
  }

  post(target: string, json: unknown, request: Omit<ApiRequest, 'method' | 'json'> = {}): Promise<ApiAnswer> {
    return this.send(target, { ...request, method: 'POST', json });
  }

  async send(target: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    const response = await this.#answered(target, request);
    const bytes = await buffer(response);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      bytes,
      get json() {
        return JSON.parse(bytes.toString()) as Record<string, unknown>;
      },
      get text() {
        return bytes.toString();
      },
    };
  }

  /** The answer's head, with its body unread. */
  open(target: string, request: ApiRequest = {}): Promise<http.IncomingMessage> {
    return this.#begin(target, request).response;
  }

  /** Sends a request that announces more than it has, and resets the connection once all of that is on its way. */
  async leave(target: string, request: ApiRequest & { readonly body: Buffer }): Promise<void> {
    const { body, ...head } = request;
    const { outgoing, response } = this.#begin(target, { ...head, body: new Readable({ read: () => undefined }) });
    response.catch(() => undefined);
    await new Promise((sent) => outgoing.write(body, sent));
    const closed = new Promise((done) => outgoing.once('close', done));
    outgoing.socket?.resetAndDestroy();
    await closed;
  }

  async #answered(target: string, request: ApiRequest): Promise<http.IncomingMessage> {
    const { outgoing, response } = this.#begin(target, request);
    try {
      return await response;
    } catch (error) {
      if (!this.#repeatsReset || !outgoing.reusedSocket || !isReset(error) || !canRepeat(request)) throw error;
      return this.#begin(target, request, false).response;
    }
  }

  #begin(
    target: string,
    request: ApiRequest,
    agent: http.Agent | false = this.#agent.dropRested(),
  ): { readonly outgoing: http.ClientRequest; readonly response: Promise<http.IncomingMessage> } {
    const { method = 'GET', headers = {}, query = {}, json, key = this.key, signal } = request;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, value);
    const search = parameters.size === 0 ? '' : `?${parameters.toString()}`;
    const body = json === undefined ? request.body : JSON.stringify(json);
    const outgoing = http.request({
      agent,
      host: '127.0.0.1',
      port: this.port,
      method,
      path: target + search,
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...(key === '' ? {} : { Authorization: `Bearer ${this.#keyOf(key)}` }),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(typeof body === 'string' || body instanceof Buffer ? { 'Content-Length': Buffer.byteLength(body) } : {}),
        ...headers,
      },
    });
    // An error after the answer's head is reported by the answer.
    outgoing.on('error', () => undefined);
    const response = once(outgoing, 'response') as Promise<[http.IncomingMessage]>;
    if (body === undefined || typeof body === 'string' || body instanceof Buffer) outgoing.end(body);
    // An answer may arrive before the body has been sent; then the answer counts.
    else pipeline(body, outgoing).catch(() => undefined);
    return { outgoing, response: response.then(([message]) => message) };
  }
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

/** A stream has been read. */
function canRepeat({ body }: ApiRequest): boolean {
  return body === undefined || typeof body === 'string' || body instanceof Buffer;
}

/** Keeps the cookie and sends the CSRF token, as the dashboard does. */
export class Browser {
  cookie = '';
  csrfToken = '';
  /** Everything it has ever received. */
  readonly seen: string[] = [];
  readonly #client: ApiClient;

  constructor(port: number, options: Pick<ClientOptions, 'repeatsReset'> = {}) {
    this.#client = new ApiClient(port, '', options);
  }

  async login(email: string, password: string, code?: string): Promise<ApiAnswer> {
    const answer = await this.send('/manage/login', { method: 'POST', json: { email, password, code } });
    if (answer.status === 200) this.csrfToken = String(answer.json['csrfToken']);
    return answer;
  }

  get(target: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    return this.send(target, request);
  }

  post(target: string, json?: unknown): Promise<ApiAnswer> {
    return this.send(target, { method: 'POST', json });
  }

  patch(target: string, json: unknown): Promise<ApiAnswer> {
    return this.send(target, { method: 'PATCH', json });
  }

  delete(target: string): Promise<ApiAnswer> {
    return this.send(target, { method: 'DELETE' });
  }

  async send(target: string, request: ApiRequest = {}): Promise<ApiAnswer> {
    const answer = await this.#client.send(target, { ...request, headers: this.#headers(request) });
    this.seen.push(answer.text);
    const [cookie] = answer.headers['set-cookie'] ?? [];
    if (cookie !== undefined) this.cookie = cookie.split(';')[0] ?? '';
    return answer;
  }

  /** An answer whose body is still to come. */
  open(target: string, request: ApiRequest = {}) {
    return this.#client.open(target, { ...request, headers: this.#headers(request) });
  }

  close(): void {
    this.#client.close();
  }

  #headers({ headers = {} }: ApiRequest): Record<string, string> {
    return {
      ...(this.cookie === '' ? {} : { Cookie: this.cookie }),
      ...(this.csrfToken === '' ? {} : { 'X-CSRF-Token': this.csrfToken }),
      ...headers,
    };
  }
}

/** Resident memory in bytes, now and at its highest since the last reset (Linux). */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
