import type { TestContext } from 'node:test';
import type { ExchangeRecord } from '../../../src/http/exchange.js';
import { createBudgets, type Budgets } from '../../../src/budgets/budgets.js';
import { createHttpServer, type HttpServer } from '../../../src/http/server.js';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../../../src/http/types.js';
import { FRONT_END } from '../../support/front-end.js';

type BudgetLimits = Parameters<typeof createBudgets>[0];

export type HttpServerOptions = Parameters<typeof createHttpServer>[0];

export interface FrontEnd {
  readonly port: number;
  readonly server: HttpServer;
  readonly records: ExchangeRecord[];
  readonly log: string[];
  /** Resolves when the `count`th request is over. */
  over(count: number): Promise<ExchangeRecord>;
}

const LIMITS: BudgetLimits = {
  memoryBytes: 128 * 1024 * 1024,
  requests: 2_048,
  waiting: 2_048,
  sessions: 1_024,
  lookups: 64,
};

/** As configured by default, except for `limits`. */
export function testBudgets(limits: Partial<BudgetLimits> = {}): Budgets {
  return createBudgets({ ...LIMITS, ...limits }, 1);
}

export const ON_LOOPBACK = {
  frontEnd: FRONT_END,
  host: '127.0.0.1',
  port: 0,
  tls: { certFile: '', keyFile: '' },
  receiveBufferBytes: 262_144,
  idleTimeoutMs: 60_000,
  keepAliveSeconds: 5,
  minBytesPerSecond: 0,
  trustedProxies: [],
  connectionsPerAddress: 0,
} as const;

/** A real front end on loopback with this handler; ends with the test. */
export async function startFrontEnd(
  t: Pick<TestContext, 'after'>,
  handler: HttpHandler,
  settings: Partial<HttpServerOptions> = {},
): Promise<FrontEnd> {
  const records: ExchangeRecord[] = [];
  const log: string[] = [];
  const waiting = new Set<() => void>();
  const server = createHttpServer({
    ...ON_LOOPBACK,
    budgets: testBudgets(),
    handler,
    onRequest: (record) => {
      records.push(record);
      for (const wake of waiting) wake();
    },
    log: (_level, message) => log.push(message),
    ...settings,
  });
  t.after(() => server.drain(0));
  const { port } = await server.listen();
  const over = (count: number): Promise<ExchangeRecord> =>
    new Promise((resolve) => {
      const look = (): void => {
        const record = records[count - 1];
        if (record === undefined) return;
        waiting.delete(look);
        resolve(record);
      };
      waiting.add(look);
      look();
    });
  return { port, server, records, log, over };
}

/** A handler that never answers while its client waits. */
export function untilGone({ signal }: HttpRequest): Promise<HttpAnswer> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
