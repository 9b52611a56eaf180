/**
 * How an endpoint is written: one object defines all of it.
 *
 *   const endpoint = endpoints('Folders', connectionParameter);
 *   export const folderEndpoints = endpoint.all;
 *
 *   endpoint('POST /api/mkdir/:connectionId', {
 *     access: 'write', operationId: 'makeFolder', summary: 'Create a folder', description: 'Creates a folder with its parents.',
 *     body: object('MkdirRequest', { path: remotePath('Full path of the folder.') }),
 *     bodyExamples: { folder: { path: '/upload/archive' } },
 *     answer: { description: 'The folder is there.', schema: object('MkdirAnswer', { … }), example: { … } },
 *     isRemote: true, errors: ['quota_exceeded', 'not_found'],
 *   }).handle(async ({ caller, params, body }, services) => { …; return { success: true, path, created }; });
 *
 * The router checks query and body with these schemas before the handler runs, and the OpenAPI document is made from the
 * same object. The handler returns the body of `answer`, or with `answers` (several statuses, other media types, header
 * fields) the whole answer. The description of a field is in its schema (src/contract/schema.ts); a query or path parameter
 * also has `examples: [one]`. A schema gets a name in the document with `object` or `component`.
 *
 * An endpoint with `owner` exists also at the same path below /manage, for owners. `owner` has the differences there. The
 * handler is the same; its third argument shows who asks. `endpoint({ method, path, tag, … })` defines a single endpoint.
 * endpoints.ts lists all.
 */
import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';
import { text, type TSchemaOf } from '../contract/schema.js';
import type { Reader } from '../contract/thing.js';
import type { ErrorCode } from '../base/errors.js';
import { json } from '../http/answer.js';
import type { HttpAnswer, RequestContext, Route } from '../http/types.js';
import { ID } from '../contract/examples.js';
import type { Services } from './services.js';

/** The documentation of an endpoint, in addition to its row of the route table. */
interface Description {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Schemas of the path parameters, by name. */
  readonly params?: Readonly<Record<string, object>>;
  /** Request header fields (`REQUEST_HEADERS`) in addition to those that the row implies. */
  readonly headers?: readonly string[];
  /** For the JSON body that the row's schema checks. */
  readonly bodyExamples?: Examples;
  /** The body of a row that streams it, by media type. */
  readonly body?: Readonly<Record<string, BodyForm>>;
  readonly success: Readonly<Record<string, Success>>;
  /** Reaches the remote server: all its errors are possible. */
  readonly isRemote?: boolean;
  /** Codes in addition to those that the row and `isRemote` imply. */
  readonly errors?: readonly ErrorCode[];
}

export interface BodyExample {
  readonly summary?: string;
  readonly value: unknown;
}

export type Examples = Readonly<Record<string, BodyExample>>;

export interface BodyForm {
  readonly schema: object;
  readonly examples?: Examples;
}

export interface Success {
  readonly description: string;
  /** Answer header fields (`ANSWER_HEADERS`) in addition to those of every answer; a "?" after a name: not always. */
  readonly headers?: readonly string[];
  /** By media type; absent = no body. */
  readonly content?: Readonly<Record<string, BodyForm>>;
}

export interface DescribedRoute extends Route {
  readonly description: Description;
}

export interface Endpoint<Services> {
  readonly method: Route['method'];
  readonly path: string;
  readonly route: (services: Services) => DescribedRoute;
  /** Set for an endpoint that honours Idempotency-Key. */
  readonly repeats: ((context: RequestContext) => Repeated) | undefined;
}

/** The parts of a request that a repetition with its Idempotency-Key needs. */
export interface Repeated {
  /** Ids of connections that its key must still be allowed to use. */
  readonly connections: readonly string[];
  /**
   * The source path of a move: checked, together with the path of the transfer, if the result of the first request is
   * unknown.
   */
  readonly from?: string;
}

/** The input of `handle`: the request's context, checked and typed. */
export interface EndpointInput<Path extends string, Query extends TSchema, Body extends TSchema> extends Omit<
  RequestContext,
  'params' | 'query' | 'body'
> {
  readonly params: Readonly<Record<ParameterOf<Path>, string>>;
  readonly query: Static<Query>;
  readonly body: Static<Body>;
}

type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type PathParameters<Path extends string> = [ParameterOf<Path>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<ParameterOf<Path>, TSchema>> };

/** The properties of an endpoint, except its method and path. */
interface Details<Path extends string, Query extends TObject, Body extends TSchema>
  extends
    Pick<Route, 'head' | 'isEssential' | 'skippable' | 'alwaysHeaders'>,
    Pick<Description, 'operationId' | 'summary' | 'description' | 'headers' | 'isRemote' | 'errors'> {
  readonly query?: Query;
  /** The JSON body: read into memory and checked. */
  readonly body?: Body;
  readonly bodyExamples?: Readonly<Record<string, object>>;
  /** Instead of `body`, by media type: the handler reads `request.body` itself. */
  readonly streams?: Readonly<Record<string, BodyForm>>;
  /** Honours Idempotency-Key. */
  readonly idempotent?: (input: EndpointInput<Path, Query, Body>) => Repeated;
}

interface Request<Path extends string, Query extends TObject, Body extends TSchema>
  extends Details<Path, Query, Body>, Pick<Route, 'method' | 'access'>, Pick<Description, 'tag'> {
  readonly path: Path;
}

interface Answered<Answer extends TSchema> {
  /** Default: "Done." */
  readonly description?: string;
  /** Default: 200. */
  readonly status?: number;
  readonly schema: Answer;
  readonly example?: Static<Answer>;
  /** Instead of one example. */
  readonly examples?: Readonly<Record<string, Static<Answer>>>;
}

/** One answer with a JSON body, or whole answers by status. */
type Answering<Answer extends TSchema> =
  { readonly answer: Answered<Answer> } | { readonly answers: Readonly<Record<number, Success>> };

/** Gets the checked input, and resolves to the body of `answer`, or to one of `answers`. */
type Handler<Given, Services, Answer> = (input: Given, services: Services, reader: Reader) => Promise<Answer>;

interface Unhandled<Given, Answer> {
  handle<Services = unknown>(handler: Handler<Given, Services, Answer>): Endpoint<Services>;
}

export type NoFields = TObject<Record<never, never>>;
type WholeAnswer = TSchemaOf<HttpAnswer>;

export function endpoint<
  Path extends string,
  Answer extends TSchema = WholeAnswer,
  Query extends TObject = NoFields,
  Body extends TSchema = NoFields,
>(
  definition: Request<Path, Query, Body> & PathParameters<Path> & Answering<Answer>,
): Unhandled<EndpointInput<Path, Query, Body>, Static<Answer>> {
  const { method, path, access, query, body, streams, idempotent, head, skippable, alwaysHeaders } = definition;
  const { operationId, tag, summary, params, headers, bodyExamples, isRemote, errors } = definition;
  const one = 'answer' in definition ? definition.answer : undefined;
  // A GET of an owner shows the state of the account.
  const { isEssential = access === 'owner' && method === 'GET' ? true : undefined } = definition;
  const reader = access === 'owner' ? 'owner' : 'key';
  // The router has checked them with exactly these schemas.
  const inputOf = (context: RequestContext) => context as unknown as EndpointInput<Path, Query, Body>;
  const row = {
    method,
    path,
    access,
    body: body !== undefined ? 'json' : streams !== undefined ? 'stream' : 'none',
    ...defined({ query, json: body, head, skippable, isEssential, alwaysHeaders }),
    ...(idempotent === undefined ? {} : { idempotent: true }),
    description: {
      operationId,
      tag,
      summary,
      description: definition.description,
      success: 'answers' in definition ? definition.answers : successOf(definition.answer),
      ...defined({ params, headers, isRemote, errors, body: streams, bodyExamples: valuesOf(bodyExamples) }),
    },
  } as const;
  return {
    handle: (handler) => ({
      method,
      path,
      repeats: idempotent === undefined ? undefined : (context) => idempotent(inputOf(context)),
      route: (services) => ({
        ...row,
        handle: async (context) => {
          const answer = await handler(inputOf(context), services, reader);
          return one === undefined ? answer : json(one.status ?? 200, answer);
        },
      }),
    }),
  };
}

function successOf({
  status = 200,
  description = 'Done.',
  schema,
  example,
  examples,
}: Answered<TSchema>): Description['success'] {
  return { [status]: { description, content: jsonContent(schema, examples ?? { answer: example }) } };
}

type PathSchemas = Readonly<Record<string, TSchema>>;

/** The parameter of paths for owners, unless the endpoint describes it. */
export const itemParameter = { id: text('Identifier.', { minLength: 1, examples: [ID] }) };

/** `Known`: path parameters that are described once for the file. */
type Defined<Path extends string, Query extends TObject, Body extends TSchema, Known extends string> = Details<
  Path,
  Query,
  Body
> &
  ([Exclude<ParameterOf<Path>, Known>] extends [never] ? unknown : { readonly params: PathSchemas }) &
  (Path extends `/manage/${string}` ? Partial<Pick<Route, 'access'>> : Pick<Route, 'access'>);

/** The differences at the address for owners. */
type ForOwners<Path extends string, Query extends TObject, Answer extends TSchema> = Pick<Description, 'operationId'> &
  Partial<Omit<Details<Path, Query, NoFields>, 'operationId'>> &
  Partial<Answering<Answer>>;

interface Endpoints<Known extends string> {
  <
    Path extends string,
    Answer extends TSchema = WholeAnswer,
    Query extends TObject = NoFields,
    Body extends TSchema = NoFields,
    OwnerAnswer extends TSchema = Answer,
    OwnerQuery extends TObject = NoFields,
  >(
    at: `${Route['method']} ${Path}`,
    definition: Defined<Path, Query, Body, Known> &
      Answering<Answer> & { readonly owner?: ForOwners<Path, OwnerQuery, OwnerAnswer> },
  ): {
    handle(
      handler: Handler<
        EndpointInput<Path, Query, Body> & { readonly query: Partial<Static<OwnerQuery>> },
        Services,
        Static<Answer> | Static<OwnerAnswer>
      >,
    ): void;
  };
  /** In the order of their definitions. */
  readonly all: readonly Endpoint<Services>[];
}

/** Defines the endpoints of one file. `params`: parameters in its paths for keys. */
export function endpoints<Params extends PathSchemas = typeof itemParameter>(
  tag: string | Readonly<Record<Reader, string>>,
  params?: Params,
): Endpoints<keyof Params & string> {
  const all: Endpoint<Services>[] = [];
  const rowOf = (method: string, path: string, details: object) => {
    const reader = path.startsWith('/manage/') ? 'owner' : 'key';
    const known = Object.entries(reader === 'owner' ? itemParameter : (params ?? {}));
    const named = known.filter(([name]) => path.includes(`:${name}`));
    const row = {
      method,
      path,
      tag: typeof tag === 'string' ? tag : tag[reader],
      ...(reader === 'owner' ? { access: 'owner' } : {}),
      ...(named.length === 0 ? {} : { params: Object.fromEntries(named) }),
      ...details,
    };
    return endpoint(row as unknown as Parameters<typeof endpoint>[0]);
  };
  const write = (at: string, { owner, ...definition }: Readonly<Record<string, unknown>> & { owner?: object }) => {
    const [method = '', path = ''] = at.split(' ', 2);
    const rows = [rowOf(method, path, definition)];
    if (owner !== undefined) {
      const { access: _access, params: _params, isEssential: _essential, answer, answers, ...same } = definition;
      const answering = 'answer' in owner || 'answers' in owner ? {} : defined({ answer, answers });
      rows.push(rowOf(method, path.replace(/^\/api\//, '/manage/'), { ...same, ...answering, ...owner }));
    }
    return {
      handle: (handler: Handler<unknown, Services, unknown>) =>
        void all.push(...rows.map((row) => row.handle(handler as never))),
    };
  };
  return Object.assign(write, { all }) as unknown as Endpoints<keyof Params & string>;
}

/** The content of a JSON answer, for `answers`. */
export function jsonContent(schema: TSchema, examples: Readonly<Record<string, unknown>>): Success['content'] {
  return { 'application/json': { schema, examples: valuesOf(examples) } };
}

/** A stream of server-sent events, for `answers`. `example`: one event as sent. */
export function eventsAnswers(description: string, example: string): Description['success'] {
  const content = { 'text/event-stream': { schema: { type: 'string' }, examples: { event: { value: example } } } };
  return { 200: { description, headers: ['X-Accel-Buffering'], content } };
}

export function eventStream(stream: Readable): HttpAnswer {
  // Proxies must not buffer events.
  const headers = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
  return { status: 200, headers, body: { stream, length: undefined } };
}

function valuesOf(examples: Readonly<Record<string, unknown>> = {}): Examples {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

function defined<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
