/**
 * How an endpoint is written: one object with all that there is to say of it.
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
 * The router checks query and body against these schemas before the handler runs, and the OpenAPI document is made from the
 * same object. The handler returns the body of `answer`, or with `answers` (several statuses, other media types, header fields)
 * the whole answer. Every field has its words in its schema (src/contract/schema.ts); a query or path parameter also has
 * `examples: [one]`. A schema gets a name in the document by `object`, or by `component`.
 *
 * An endpoint with `owner` is also at the same path below /manage, for owners. `owner` has what differs there; the handler is
 * one, and knows by its third argument whose request it is. `endpoint({ method, path, tag, … })` writes a single one.
 * endpoints.ts lists all.
 */
import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';
import { text, type TSchemaOf } from '../contract/schema.js';
import type { Reader } from '../contract/thing.js';
import type { ErrorCode } from '../base/errors.js';
import { json } from '../http/answer.js';
import type { HttpAnswer, RequestContext, Route } from '../http/types.js';
import { ID } from './fields.js';
import type { Services } from './services.js';

/** What a document says of an endpoint beside its row of the route table. */
interface Description {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Schemas of the path's parameters, by name. */
  readonly params?: Readonly<Record<string, object>>;
  /** Request header fields (`REQUEST_HEADERS`) beside those that the row implies. */
  readonly headers?: readonly string[];
  /** Of the JSON body that the row's schema checks. */
  readonly bodyExamples?: Examples;
  /** The body of a row that streams it, by media type. */
  readonly body?: Readonly<Record<string, BodyForm>>;
  readonly success: Readonly<Record<string, Success>>;
  /** Reaches the remote server: with everything that can go wrong there. */
  readonly isRemote?: boolean;
  /** Codes beside those that the row and `isRemote` imply. */
  readonly errors?: readonly ErrorCode[];
}

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export type Examples = Readonly<Record<string, Example>>;

export interface BodyForm {
  readonly schema: object;
  readonly examples?: Examples;
}

export interface Success {
  readonly description: string;
  /** Answer header fields (`ANSWER_HEADERS`) beside those of every answer; a "?" behind a name: not always. */
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
  /** Of one that honours Idempotency-Key. */
  readonly repeats: ((context: RequestContext) => Repeated) | undefined;
}

/** What a request names that may be repeated with its Idempotency-Key. */
export interface Repeated {
  /** Ids of connections, which its key must still be allowed to use. */
  readonly connections: readonly string[];
  /** The path that a file leaves: looked at, beside the one of the transfer, when nobody knows how the first request ended. */
  readonly from?: string;
}

/** What `handle` is given: the request's context, checked and typed. */
export interface Input<Path extends string, Query extends TSchema, Body extends TSchema> extends Omit<
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

/** What an endpoint says of itself beside where it stands. */
interface Details<Path extends string, Query extends TObject, Body extends TSchema>
  extends
    Pick<Route, 'head' | 'isEssential' | 'skippable' | 'alwaysHeaders'>,
    Pick<Description, 'operationId' | 'summary' | 'description' | 'headers' | 'isRemote' | 'errors'> {
  readonly query?: Query;
  /** The JSON body: held and checked. */
  readonly body?: Body;
  readonly bodyExamples?: Readonly<Record<string, object>>;
  /** In place of `body`, by media type: the handler reads `request.body` itself. */
  readonly streams?: Readonly<Record<string, BodyForm>>;
  /** Honours Idempotency-Key. */
  readonly idempotent?: (input: Input<Path, Query, Body>) => Repeated;
}

interface Request<Path extends string, Query extends TObject, Body extends TSchema>
  extends Details<Path, Query, Body>, Pick<Route, 'method' | 'access'>, Pick<Description, 'tag'> {
  readonly path: Path;
}

interface Answered<Answer extends TSchema> {
  /** "Done." unless given. */
  readonly description?: string;
  /** 200 unless given. */
  readonly status?: number;
  readonly schema: Answer;
  readonly example?: Static<Answer>;
  /** In place of one. */
  readonly examples?: Readonly<Record<string, Static<Answer>>>;
}

/** One answer with a JSON body, or whole answers by status. */
type Answering<Answer extends TSchema> =
  { readonly answer: Answered<Answer> } | { readonly answers: Readonly<Record<number, Success>> };

/** It is given the checked input, and resolves to the body of `answer`, or to one of `answers`. */
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
): Unhandled<Input<Path, Query, Body>, Static<Answer>> {
  const { method, path, access, query, body, streams, idempotent, head, skippable, alwaysHeaders } = definition;
  const { operationId, tag, summary, params, headers, bodyExamples, isRemote, errors } = definition;
  const one = 'answer' in definition ? definition.answer : undefined;
  // What an owner looks at is his own state.
  const { isEssential = access === 'owner' && method === 'GET' ? true : undefined } = definition;
  const reader = access === 'owner' ? 'owner' : 'key';
  // The router has checked them against these very schemas.
  const inputOf = (context: RequestContext) => context as unknown as Input<Path, Query, Body>;
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

/** The parameter of paths for owners, where an endpoint says nothing of it. */
export const itemParameter = { id: text('Identifier.', { minLength: 1, examples: [ID] }) };

/** `Known`: path parameters that the file of the endpoint describes. */
type Defined<Path extends string, Query extends TObject, Body extends TSchema, Known extends string> = Details<
  Path,
  Query,
  Body
> &
  ([Exclude<ParameterOf<Path>, Known>] extends [never] ? unknown : { readonly params: PathSchemas }) &
  (Path extends `/manage/${string}` ? Partial<Pick<Route, 'access'>> : Pick<Route, 'access'>);

/** What differs at the address for owners. */
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
        Input<Path, Query, Body> & { readonly query: Partial<Static<OwnerQuery>> },
        Services,
        Static<Answer> | Static<OwnerAnswer>
      >,
    ): void;
  };
  /** In the order in which they are written. */
  readonly all: readonly Endpoint<Services>[];
}

/** Writes the endpoints of one file. `params`: parameters in its paths for keys. */
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

/** The content of an answer in JSON, for `answers`. */
export function jsonContent(schema: TSchema, examples: Readonly<Record<string, unknown>>): Success['content'] {
  return { 'application/json': { schema, examples: valuesOf(examples) } };
}

/** A stream of server-sent events, for `answers`. `example`: one event, as it is sent. */
export function eventsAnswers(description: string, example: string): Description['success'] {
  const content = { 'text/event-stream': { schema: { type: 'string' }, examples: { event: { value: example } } } };
  return { 200: { description, headers: ['X-Accel-Buffering'], content } };
}

export function eventStream(stream: Readable): HttpAnswer {
  // No proxy in between may gather events.
  const headers = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
  return { status: 200, headers, body: { stream, length: undefined } };
}

function valuesOf(examples: Readonly<Record<string, unknown>> = {}): Examples {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

function defined<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
