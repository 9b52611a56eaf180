/** Everything between a request and its handler, in one fixed order; errors become answers here. */
import { isUtf8 } from 'node:buffer';
import { Type } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import { GatewayError, toGatewayError } from '../base/errors.js';
import { PASSING_ON, type Span, type Tracer } from '../base/span.js';
import type { ApiKeys, IdempotencyStore } from '../storage/storage.js';
import { errorAnswer } from './answer.js';
import { Authenticator, type Sessions } from './auth.js';
import { idempotencyKey, once } from './idempotency.js';
import { requireModestJson } from './body/json-bounds.js';
import type { Limiter, Limiters } from './rate-limits.js';
import { createChecker } from './schema-check.js';
import { UnknownFields } from './unknown-fields.js';
import type { Caller, HttpAnswer, HttpHandler, HttpRequest, RequestContext, Route } from './types.js';
import { readSigned, readUnsigned } from './whole-body.js';

export interface RouterOptions {
  readonly routes: readonly Route[];
  readonly keys: Pick<ApiKeys, 'findKey'>;
  /** Login sessions count as a key with every right; absent = there are none. */
  readonly sessions?: Sessions;
  readonly idempotency: IdempotencyStore;
  /** Per API key; 0 = off. */
  readonly requestsPerSecond: number;
  /** What keeps that limit, and the one of bad keys. */
  readonly limiters: Limiters;
  /** Absent: what a request brings of a trace is passed on. */
  readonly tracer?: Tracer;
  /** Told of errors nobody expected. */
  onInternalError(error: GatewayError, requestId: string): void;
}

type Query = RequestContext['query'];

interface CompiledRoute {
  readonly route: Route;
  readonly segments: readonly string[];
  readonly checkQuery: ((value: unknown) => Query) | undefined;
  readonly checkJson: ((value: unknown) => unknown) | undefined;
}

interface Match {
  readonly compiled: CompiledRoute;
  readonly params: Record<string, string>;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const NOBODY: Caller = { accountId: '', email: '', plan: '', keyId: '', scopes: [], connections: [] };

export function createRouter(options: RouterOptions): HttpHandler {
  const routes = new RouteIndex(options.routes.map(compile));
  const authenticator = new Authenticator(options.keys, options.limiters.failures, options.sessions);
  const rate = options.limiters.requests;
  const tracer = options.tracer ?? PASSING_ON;

  async function dispatch(request: HttpRequest, requestId: string, state: RequestState): Promise<HttpAnswer> {
    const { compiled, params } = match(routes, request);
    const { route } = compiled;
    state.route = route;
    const isPublic = route.access === 'public';
    const caller = route.access === 'public' ? NOBODY : await authenticator.authenticate(request, route.access);
    if (!isPublic) {
      state.keyId = caller.keyId;
      request.claims.admit(caller.accountId, route.isEssential === true);
      if (rate !== undefined) await takeRate(rate, caller.keyId, options.requestsPerSecond, state);
    }
    refuseForeignBytes(request.queryText);
    const unknown = (state.unknown = new UnknownFields(request));
    if (route.anyQuery !== true) unknown.noteQuery(request.query, route.query);
    const query = compiled.checkQuery?.(queryValues(request.query)) ?? {};
    const readWhole = isPublic ? readUnsigned : readSigned;
    const bytes = route.body === 'json' ? await readWhole(request) : undefined;
    const parsed = bytes === undefined ? undefined : parseJson(bytes);
    if (route.json !== undefined) unknown.noteFields(parsed, route.json);
    const body = compiled.checkJson === undefined ? parsed : compiled.checkJson(parsed);
    const { span } = state;
    const timedBy: RequestContext['timedBy'] = (timing) => (state.timing = timing);
    const noteFields: RequestContext['noteFields'] = (given, schema) => unknown.noteFields(given, schema);
    const { access } = route;
    const stillOpens = async (): Promise<boolean> =>
      access === 'public' || (await authenticator.stillOpens(request, access));
    const facts = { request, requestId, params, query, body, caller, span };
    const context: RequestContext = { ...facts, timedBy, noteFields, stillOpens };
    const key = route.idempotent === true ? idempotencyKey(request) : undefined;
    const handle = async (changes: Pick<RequestContext, 'request' | 'intent'>): Promise<HttpAnswer> => {
      try {
        const answer = await route.handle({ ...context, ...changes });
        // Here, so that they are stored with the answer.
        return { ...answer, headers: { ...answer.headers, ...unknown.headers } };
      } catch (error) {
        return failure(error, requestId, state);
      }
    };
    if (key === undefined) return handle({ request });
    await route.permit?.(context);
    const recall = async (transferId: string): Promise<string> =>
      (await route.recall?.(context, transferId)) ?? `transfer ${transferId}`;
    return once(options.idempotency, caller, key, { request, body: bytes }, { run: handle, recall });
  }

  function failure(thrown: unknown, requestId: string, state: RequestState): HttpAnswer {
    const error = toGatewayError(thrown);
    state.error = error;
    if (error.code === 'internal') options.onInternalError(error, requestId);
    return errorAnswer(error, state.route?.skippable);
  }

  return async (request) => {
    const inbound = request.headers.get('x-request-id');
    const requestId = inbound !== undefined && REQUEST_ID.test(inbound) ? inbound : uuidv7();
    const span = tracer.begin(request.method, { kind: 'server' }, request.headers);
    const state: RequestState = { span };
    const answer = await dispatch(request, requestId, state).catch((error: unknown) =>
      failure(error, requestId, state),
    );
    const allow: Record<string, string> = state.error instanceof MethodNotAllowed ? { Allow: state.error.allow } : {};
    const facts = { requestId, route: state.route?.path ?? 'unknown', keyId: state.keyId, error: state.error, span };
    const timing = state.timing?.serverTiming ?? '';
    return {
      ...answer,
      facts,
      headers: {
        'Cache-Control': 'no-store',
        ...state.headers,
        ...state.unknown?.headers,
        ...(timing === '' ? {} : { 'Server-Timing': timing }),
        ...answer.headers,
        ...allow,
        'X-Request-Id': requestId,
      },
    };
  };
}

interface RequestState {
  readonly span: Span;
  timing?: { readonly serverTiming: string };
  route?: Route;
  keyId?: string;
  error?: GatewayError;
  headers?: Record<string, string>;
  unknown?: UnknownFields;
}

class MethodNotAllowed extends GatewayError {
  constructor(
    method: string,
    readonly allow: string,
  ) {
    super('method_not_allowed', `${method} is not allowed here; use ${allow}`, { step: 'request' });
  }
}

function compile(route: Route): CompiledRoute {
  return {
    route,
    segments: route.path.split('/').slice(1),
    checkQuery:
      route.query === undefined
        ? undefined
        : createChecker(Type.Unsafe<Query>(route.query), 'the query', { coerce: true }),
    checkJson: route.json === undefined ? undefined : createChecker(route.json, 'the body'),
  };
}

/** Routes by their first two segments where both are literal, so that a request is compared with few of them. */
class RouteIndex {
  private readonly literal = new Map<string, CompiledRoute[]>();
  private readonly others: CompiledRoute[] = [];

  constructor(routes: readonly CompiledRoute[]) {
    for (const compiled of routes) {
      const { segments } = compiled;
      const start = startOf(segments);
      if (segments.slice(0, 2).some((segment) => segment.startsWith(':'))) this.others.push(compiled);
      else this.literal.set(start, [...(this.literal.get(start) ?? []), compiled]);
    }
  }

  /** Every route that has this path, whatever its method. */
  on(segments: readonly string[]): CompiledRoute[] {
    const candidates = [...(this.literal.get(startOf(segments)) ?? []), ...this.others];
    return candidates.filter((candidate) => fits(candidate.segments, segments));
  }
}

const startOf = ([first = '', second = '']: readonly string[]): string => `${first}/${second}`;

/** @throws GatewayError unknown_route; method_not_allowed; bad_request for a malformed percent-encoding */
function match(routes: RouteIndex, { path, method }: HttpRequest): Match {
  const segments = path.split('/').slice(1);
  const onPath = routes.on(segments);
  const answers = ({ route }: CompiledRoute): boolean =>
    route.method === method || (method === 'HEAD' && route.head === true);
  if (onPath.length === 0) {
    throw new GatewayError('unknown_route', 'there is no such endpoint', { step: 'request' });
  }
  const compiled = onPath.find(answers);
  if (compiled === undefined) {
    const allow = onPath.flatMap(({ route }) => (route.head === true ? [route.method, 'HEAD'] : [route.method]));
    throw new MethodNotAllowed(method.slice(0, 20), [...new Set(allow)].join(', '));
  }
  const params: Record<string, string> = {};
  compiled.segments.forEach((segment, index) => {
    if (segment.startsWith(':')) params[segment.slice(1)] = decodeSegment(segments[index] ?? '');
  });
  return { compiled, params };
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((segment, index) => (segment.startsWith(':') ? segments[index] !== '' : segment === segments[index]))
  );
}

function decodeSegment(segment: string): string {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch {
    throw new GatewayError('bad_request', 'the path holds a malformed percent-encoding', { step: 'request' });
  }
  // Nothing is named with control characters, and a NUL would make the database fail.
  // eslint-disable-next-line no-control-regex
  if (!/[\u0000-\u001f\u007f]/.test(text)) return text;
  throw new GatewayError('bad_request', 'the path holds a control character', { step: 'request' });
}

/** URLSearchParams puts U+FFFD in the place of what is not UTF-8, and a file would get a name that nobody asked for. */
function refuseForeignBytes(query: string): void {
  const encoded = query.match(/(?:%[\da-f]{2})+/gi) ?? [];
  const isText = (run: string): boolean => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex'));
  if (!query.includes('\ufffd') && encoded.every(isText)) return;
  throw new GatewayError('bad_request', 'the query holds bytes that are not UTF-8', { step: 'request' });
}

function queryValues(query: URLSearchParams): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of query) {
    const refuse = (mistake: string): GatewayError =>
      new GatewayError('bad_request', `the query parameter ${name.slice(0, 64)} ${mistake}`, { step: 'request' });
    if (values.has(name)) throw refuse('stands twice');
    if (value.includes('\0')) throw refuse('holds a NUL');
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

function parseJson(body: Buffer): unknown {
  requireModestJson(body);
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    value = JSON.parse(text);
  } catch {
    throw new GatewayError('bad_request', 'the body is not valid JSON', { step: 'request' });
  }
  if (text.includes('\\u0000')) refuseNul(value);
  return value;
}

function refuseNul(body: unknown): void {
  const isMapping = typeof body === 'object' && body !== null && !Array.isArray(body);
  for (const [name, value] of isMapping ? Object.entries(body) : [['the body', body] as const]) {
    const where = name.includes('\0') ? 'a name in the body' : holdsNul(value) ? name.slice(0, 64) : undefined;
    if (where !== undefined) throw new GatewayError('bad_request', `${where} holds a NUL`, { step: 'request' });
  }
}

/** Nothing here has a use for one, and the database cannot store it. Without recursion: a body may be nested as deep as it is long. */
function holdsNul(body: unknown): boolean {
  const left = [body];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string' && value.includes('\0')) return true;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) left.push(name, inner);
  }
  return false;
}

async function takeRate(limiter: Limiter, keyId: string, limit: number, state: RequestState): Promise<void> {
  const { isOver, remaining, msBeforeNext } = await limiter(keyId);
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  state.headers = {
    'RateLimit-Policy': `"default";q=${limit};w=1`,
    RateLimit: `"default";r=${remaining};t=${seconds}`,
  };
  if (!isOver) return;
  throw new GatewayError('rate_limited', `more than ${limit} requests a second with this API key`, {
    step: 'request',
    retryAfterMs: msBeforeNext,
  });
}
