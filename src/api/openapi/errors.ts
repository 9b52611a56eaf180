/**
 * The possible errors of an endpoint, their meanings, and their form in a document; made from the catalogue in
 * src/contract/errors.ts.
 */
import { type AnsweredErrorCode, errorCodes, type ErrorDefinition, ERRORS } from '../../contract/errors.js';
import type { BodyExample, DescribedRoute } from '../endpoint.js';
import { errorAnswer, skippedAnswer } from '../fields.js';
import { ANSWER_HEADERS, EVERY_ANSWER, KEYED_ANSWER, OPERATION_ANSWER } from './header-fields.js';
import type { Header, Reference, Response, Schema } from './types.js';

type Endpoints = NonNullable<ErrorDefinition['endpoints']>;

/** Codes that a client can get. */
const ANSWERED = errorCodes(({ example }) => example !== undefined) as readonly AnsweredErrorCode[];

/** Every code that the endpoint can answer, in the order of the catalogue. */
export function errorCodesOf(route: DescribedRoute): AnsweredErrorCode[] {
  const { errors = [] } = route.description;
  return ANSWERED.filter((code) => {
    const { endpoints } = ERRORS[code];
    return errors.includes(code) || (endpoints !== undefined && isOneOf(endpoints, route));
  });
}

function isOneOf(endpoints: Endpoints, route: DescribedRoute): boolean {
  const { access } = route;
  switch (endpoints) {
    case 'all':
      return true;
    case 'keyed':
      return access !== 'public';
    case 'scoped':
      return access !== 'public' && access !== 'any';
    case 'owner':
      return access === 'owner';
    case 'body':
      return route.body !== 'none';
    case 'idempotent':
      return route.idempotent === true;
    case 'remote':
      return route.description.isRemote === true;
    case 'router':
      return false;
  }
}

/** Every code of an API whose rows can answer `given`, in the order of the catalogue. */
export function allErrorCodes(given: readonly AnsweredErrorCode[]): AnsweredErrorCode[] {
  return ANSWERED.filter((code) => given.includes(code) || ERRORS[code].endpoints === 'router');
}

/** The codes by their common status. */
function byStatus(codes: readonly AnsweredErrorCode[]): Map<number, AnsweredErrorCode[]> {
  const groups = new Map<number, AnsweredErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}

const NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableContent',
  423: 'Locked',
  429: 'TooManyRequests',
  460: 'ChecksumMismatch',
  500: 'InternalServerError',
  501: 'NotImplemented',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
};
/** A 409 that may contain `skipped: true` (upload, copy). */
const SKIPPED = 'ConflictOrSkipped';

/** The answers of one operation to its errors. `isSkippable`: an existing file is answered as skipped. */
export function errorResponsesOf(
  codes: readonly AnsweredErrorCode[],
  isSkippable: boolean,
): Record<string, Reference & { readonly description: string }> {
  return Object.fromEntries(
    [...byStatus(codes)].map(([status, own]) => {
      const name = isSkippable && own.includes('already_exists') ? SKIPPED : nameOf(status);
      const description = own.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n');
      return [status, { $ref: `#/components/responses/${name}`, description }];
    }),
  );
}

/** The shared answers that operations refer to: `codes` are all that any of them can answer. */
export function sharedErrorResponses(
  codes: readonly AnsweredErrorCode[],
  hasSkippable: boolean,
  shown: (schema: object) => Schema,
): Record<string, Response> {
  // In an API with resumable uploads any error may come from one of those.
  const more = codes.includes('unsupported_version') ? optionalHeaders(['Tus-Resumable', 'Tus-Version']) : {};
  const answer = (status: number, own: readonly AnsweredErrorCode[], schema: object): Response => {
    const { headers, ...rest } = response(status, own, shown(schema));
    return { ...rest, headers: { ...headers, ...more } };
  };
  const shared = [...byStatus(codes)].map(([status, own]): [string, Response] => [
    nameOf(status),
    answer(status, own, errorAnswer),
  ]);
  if (!hasSkippable) return Object.fromEntries(shared);
  const conflicts = codes.filter((code) => ERRORS[code].status === 409);
  return { ...Object.fromEntries(shared), [SKIPPED]: answer(409, conflicts, skippedAnswer) };
}

/** Every code with its status and its remedy. */
export function errorCodeSchema(codes: readonly AnsweredErrorCode[]): Schema {
  return {
    oneOf: codes.map((code) => ({
      const: code,
      title: `${ERRORS[code].status} ${code}`,
      description: `${ERRORS[code].meaning} ${ERRORS[code].remedy}`,
    })),
  };
}

function nameOf(status: number): string {
  const name = NAMES[status];
  if (name === undefined) throw new Error(`no response is named for the status ${status}`);
  return name;
}

function response(status: number, codes: readonly AnsweredErrorCode[], schema: Schema): Response {
  const headers = [...EVERY_ANSWER, ...KEYED_ANSWER, ...OPERATION_ANSWER, ...headersOf(status)];
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: {
      'X-Error-Code': {
        description: 'What went wrong, as a code that does not change.',
        required: true,
        schema: { $ref: '#/components/schemas/ErrorCode' },
      },
      ...Object.fromEntries(headers.map((name): [string, Reference] => [name, headerReference(name)])),
    },
    content: {
      'application/json': { schema, examples: Object.fromEntries(codes.map((code) => [code, example(code, schema)])) },
    },
  };
}

function example(code: AnsweredErrorCode, schema: Schema): BodyExample {
  const isSkipped = code === 'already_exists' && String(schema['$ref']).endsWith('/SkippedAnswer');
  const value = { error: ERRORS[code].example, ...(isSkipped ? { skipped: true } : {}) };
  return { summary: `${ERRORS[code].status} ${code}`, value };
}

function headersOf(status: number): readonly string[] {
  if (status === 401) return ['WWW-Authenticate', 'X-Session-End'];
  if (status === 416) return ['Content-Range'];
  if (status === 415) return ['Accept-Encoding'];
  return status === 423 || status === 429 || status === 503 ? ['Retry-After'] : [];
}

/** Header fields that may be absent. */
function optionalHeaders(names: readonly string[]): Record<string, Header> {
  return Object.fromEntries(
    names.map((name) => [name, { description: '', schema: {}, ...ANSWER_HEADERS[name], required: false }]),
  );
}

export function headerReference(name: string): Reference {
  return { $ref: `#/components/headers/${name}` };
}
