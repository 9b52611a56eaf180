/** Everything between a request and its handler, in one fixed order; errors become answers here. */
import { isUtf8 } from 'node:buffer';
import { Type } from 'typebox';
import { GatewayError, refusal, toGatewayError } from '../base/errors.js';
import { PASSING_ON, type Span, type Tracer } from '../base/span.js';
import { uuidv7 } from '../base/uuid.js';
import type { ApiKeys, IdempotencyStore } from '../storage/storage.js';
import { answerOfError } from './answer.js';
import { Authenticator, type Sessions } from './auth.js';
import { ForeignCoding, requireIdentity } from './body/foreign-coding.js';
import { idempotencyKey, once } from './idempotency.js';
import { requireModestJson } from './body/json-bounds.js';
import { requirePlainValues } from './body/json-values.js';
import { refuseForeignNumbers } from './field-numbers.js';
import { type Limiter, type Limiters, refuseOver } from './rate-limits.js';
import { createChecker } from '../base/schema-check.js';
import { UnknownFields } from './unknown-fields.js';
import type { Caller, HttpAnswer, HttpHandler, HttpRequest, RequestContext, Route } from './types.js';
import { readSigned, readUnsigned } from './json-bodies.js';

interface RouterOptions {
  readonly routes: readonly Route[];
  readonly keys: Pick<ApiKeys, 'findKey' | 'recallKey'>;
  /** Login sessions count as a key with all rights; absent = there are none. */
  readonly sessions?: Sessions;
  readonly idempotency: IdempotencyStore;
  /** Per API key; 0 = off. */
  readonly requestsPerSecond: number;
  /** Keeps that limit, and the one for bad keys. */
  readonly limiters: Limiters;
  /** Absent: the trace fields of a request are passed on. */
  readonly tracer?: Tracer;
  /** Called with unexpected errors. */
  onInternalError(error: GatewayError, requestId: string): void;
}

type Query = RequestContext['query'];

interface CompiledRoute {
  readonly route: Route;
  readonly segments: readonly string[];
  readonly parameters: readonly { readonly index: number; readonly name: string }[];
  readonly checkQuery: ((value: unknown) => Query) | undefined;
  readonly checkJson: ((value: unknown) => unknown) | undefined;
}

interface Match {
  readonly compiled: CompiledRoute;
  readonly params: Record<string, string>;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const NO_PARAMETERS: Query = {};
const ANONYMOUS: Caller = { accountId: '', email: '', plan: '', keyId: '', scopes: [], connections: [] };

export function createRouter(options: RouterOptions): HttpHandler {
  const routes = new RouteIndex(options.routes.map(compile));
  const authenticator = new Authenticator(options.keys, options.limiters.failures, options.sessions);
  const rate = options.limiters.requests;
  const tracer = options.tracer ?? PASSING_ON;

  async function dispatch(request: HttpRequest, requestId: string, state: RequestState): Promise<HttpAnswer> {
    const { compiled, params } = match(routes, request);
    const { route } = compiled;
    const { access } = route;
    state.route = route;
    const caller =
      access === 'public'
        ? ANONYMOUS
        : (authenticator.recall(request, access) ?? (await authenticator.authenticate(request, access)));
    if (access !== 'public') {
      state.keyId = caller.keyId;
      request.claims.admit(caller.accountId, route.isEssential === true);
      if (rate !== undefined) await takeRate(rate, caller.keyId, options.requestsPerSecond, state);
    }
    refuseForeignNumbers(request.headers);
    if (route.body !== 'none') requireIdentity(request.headers.get('content-encoding'));
    const unknown = (state.unknown = new UnknownFields(request));
    const hasQuery = request.queryText !== '';
    if (hasQuery) {
      refuseForeignBytes(request.queryText);
      if (route.anyQuery !== true) unknown.noteQuery(request.query, route.query);
    }
    const query =
      compiled.checkQuery?.(hasQuery ? queryValues(request.query, route.query) : NO_PARAMETERS) ?? NO_PARAMETERS;
    const readWhole = access === 'public' ? readUnsigned : readSigned;
    const bytes = route.body === 'json' ? await readWhole(request) : undefined;
    const parsed = bytes === undefined ? undefined : parseJson(bytes);
    if (route.json !== undefined) unknown.noteFields(parsed, route.json);
    const body = compiled.checkJson === undefined ? parsed : compiled.checkJson(parsed);
    const { span } = state;
    const timedBy: RequestContext['timedBy'] = (timing) => (state.timing = timing);
    const noteFields: RequestContext['noteFields'] = (given, schema) => unknown.noteFields(given, schema);
    const stillOpens = async (): Promise<boolean> =>
      access === 'public' || (await authenticator.stillOpens(request, access));
    const context = { request, requestId, params, query, body, caller, span, timedBy, noteFields, stillOpens };
    const key = route.idempotent === true ? idempotencyKey(request) : undefined;
    if (key === undefined) return route.handle(context);
    const run = async (changes: Pick<RequestContext, 'request' | 'intent'>): Promise<HttpAnswer> => {
      try {
        const answer = await route.handle({ ...context, ...changes });
        // Added here, so that they are stored with the answer.
        return { ...answer, headers: { ...answer.headers, ...unknown.headers } };
      } catch (error) {
        return failure(error, requestId, state);
      }
    };
    await route.permit?.(context);
    const recall = async (transferId: string): Promise<string> =>
      (await route.recall?.(context, transferId)) ?? `transfer ${transferId}`;
    return once(options.idempotency, caller, key, { request, body: bytes }, { run, recall });
  }

  function failure(thrown: unknown, requestId: string, state: RequestState): HttpAnswer {
    const error = toGatewayError(thrown);
    state.error = error;
    if (error.code === 'internal') options.onInternalError(error, requestId);
    return answerOfError(error, state.route?.skippable);
  }

  return async (request) => {
    const inbound = request.headers.get('x-request-id');
    const requestId = inbound !== undefined && REQUEST_ID.test(inbound) ? inbound : uuidv7();
    const span = tracer.begin(request.method, { kind: 'server' }, request.headers);
    const state: RequestState = { span };
    let answer: HttpAnswer;
    try {
      answer = await dispatch(request, requestId, state);
    } catch (error) {
      answer = failure(error, requestId, state);
    }
    const facts = { requestId, route: state.route?.path ?? 'unknown', keyId: state.keyId, error: state.error, span };
    return { ...answer, facts, headers: headersOf(answer, requestId, state) };
  };
}

function headersOf(answer: HttpAnswer, requestId: string, state: RequestState): NonNullable<HttpAnswer['headers']> {
  const headers: Record<string, string | readonly string[]> = { 'Cache-Control': 'no-store' };
  const timing = state.timing?.serverTiming ?? '';
  Object.assign(headers, state.route?.alwaysHeaders, state.headers, state.unknown?.headers);
  if (timing !== '') headers['Server-Timing'] = timing;
  Object.assign(headers, answer.headers);
  if (state.error instanceof MethodNotAllowed) headers['Allow'] = state.error.allow;
  if (state.error instanceof ForeignCoding) headers['Accept-Encoding'] = 'identity';
  headers['X-Request-Id'] = requestId;
  return headers;
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
  const segments = segmentsOf(route.path);
  return {
    route,
    segments,
    parameters: segments.flatMap((segment, index) => (isParameter(segment) ? [{ index, name: segment.slice(1) }] : [])),
    ...checkersOf(route),
  };
}

/** The checkers for the requests of a route. */
export function checkersOf({
  query,
  json,
}: Pick<Route, 'query' | 'json'>): Pick<CompiledRoute, 'checkQuery' | 'checkJson'> {
  return {
    checkQuery:
      query === undefined ? undefined : createChecker(Type.Unsafe<Query>(query), 'the query', { coerce: true }),
    checkJson: json === undefined ? undefined : createChecker(json, 'the body'),
  };
}

const segmentsOf = (path: string): string[] => path.split('/').slice(1);
const isParameter = (segment: string): boolean => segment.startsWith(':');

/** Finds all routes of a path, for any method. */
class RouteIndex {
  /** Paths without parameters. */
  readonly #whole = new Map<string, readonly CompiledRoute[]>();
  /** By their first two segments if both are literal, so that a request is compared with few. */
  readonly #byStart = new Map<string, readonly CompiledRoute[]>();
  readonly #others: readonly CompiledRoute[];

  constructor(routes: readonly CompiledRoute[]) {
    this.#others = routes.filter(({ segments }) => segments.slice(0, 2).some(isParameter));
    for (const compiled of routes) {
      const start = startOf(compiled.segments);
      if (!this.#others.includes(compiled)) this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), compiled]);
    }
    for (const { route, parameters } of routes) {
      if (parameters.length === 0) this.#whole.set(route.path, this.#compare(segmentsOf(route.path)));
    }
  }

  on(path: string): readonly CompiledRoute[] {
    return this.#whole.get(path) ?? this.#compare(segmentsOf(path));
  }

  #compare(segments: readonly string[]): CompiledRoute[] {
    const literal = this.#byStart.get(startOf(segments)) ?? [];
    return [...literal, ...this.#others].filter((candidate) => fits(candidate.segments, segments));
  }
}

const startOf = ([first = '', second = '']: readonly string[]): string => `${first}/${second}`;

/** @throws GatewayError unknown_route; method_not_allowed; bad_request for a malformed percent-encoding */
function match(routes: RouteIndex, { path, method }: HttpRequest): Match {
  const onPath = routes.on(path);
  const answers = ({ route }: CompiledRoute): boolean =>
    route.method === method || (method === 'HEAD' && route.head === true);
  if (onPath.length === 0) {
    throw refusal('unknown_route', 'there is no such endpoint');
  }
  const compiled = onPath.find(answers);
  if (compiled === undefined) {
    const allow = onPath.flatMap(({ route }) => (route.head === true ? [route.method, 'HEAD'] : [route.method]));
    throw new MethodNotAllowed(method.slice(0, 20), [...new Set(allow)].join(', '));
  }
  if (compiled.parameters.length === 0) return { compiled, params: {} };
  const segments = segmentsOf(path);
  const params: Record<string, string> = {};
  for (const { index, name } of compiled.parameters) params[name] = decodeSegment(segments[index] ?? '');
  return { compiled, params };
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((segment, index) => (isParameter(segment) ? segments[index] !== '' : segment === segments[index]))
  );
}

function decodeSegment(segment: string): string {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch {
    throw refusal('bad_request', 'the path holds a malformed percent-encoding');
  }
  // No name contains control characters, and a NUL would make the database fail.
  // eslint-disable-next-line no-control-regex
  if (!/[\u0000-\u001f\u007f]/.test(text)) return text;
  throw refusal('bad_request', 'the path holds a control character');
}

/**
 * URLSearchParams replaces bytes that are not UTF-8 by U+FFFD, and a file would get a name that the client did not
 * send.
 */
export function refuseForeignBytes(query: string): void {
  // Only ASCII bytes.
  if (!query.includes('\ufffd') && !/%[89a-f]/i.test(query)) return;
  const encoded = query.match(/(?:%[\da-f]{2})+/gi) ?? [];
  const isText = (run: string): boolean => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex'));
  if (!query.includes('\ufffd') && encoded.every(isText)) return;
  throw refusal('bad_request', 'the query holds bytes that are not UTF-8');
}

function queryValues(query: URLSearchParams, schema: object | undefined): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of query) {
    const refuse = (mistake: string): GatewayError =>
      refusal('bad_request', `the query parameter ${name.slice(0, 64)} ${mistake}`);
    const former = values.get(name);
    if (former !== undefined && !mayRepeat(schema, name)) throw refuse('appears twice');
    if (value.includes('\0')) throw refuse('holds a NUL');
    values.set(name, former === undefined ? value : [former, value].flat());
  }
  return Object.fromEntries(values);
}

/** Whether the schema accepts a list besides the single value. */
function mayRepeat(schema: object | undefined, name: string): boolean {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { anyOf?: { type?: string }[] }> };
  return properties[name]?.anyOf?.some(({ type }) => type === 'array') === true;
}

function parseJson(body: Buffer): unknown {
  requireModestJson(body);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw refusal('bad_request', 'the body is not valid JSON');
  }
  requirePlainValues(value);
  return value;
}

async function takeRate(limiter: Limiter, keyId: string, limit: number, state: RequestState): Promise<void> {
  const taken = await limiter(keyId);
  const { remaining, msBeforeNext } = taken;
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  state.headers = {
    'RateLimit-Policy': `"default";q=${limit};w=1`,
    RateLimit: `"default";r=${remaining};t=${seconds}`,
  };
  refuseOver(taken, `more than ${limit} requests a second with this API key`);
}
