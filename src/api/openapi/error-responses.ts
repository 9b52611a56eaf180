/** What can go wrong, once for the whole document: an operation refers to the answer of a status and names its own codes. */
import { errorAnswer, skippedAnswer } from '../fields.js';
import { ERROR_RULES } from '../../base/errors.js';
import { byStatus, ERROR_MEANINGS, type ClientErrorCode } from './errors.js';
import { EVERY_ANSWER, KEYED_ANSWER, OPERATION_ANSWER } from './header-fields.js';
import type { Example, Reference, Response, Schema } from './types.js';

const NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
};
/** A 409 that may say `skipped: true` (upload, copy). */
const SKIPPED = 'ConflictOrSkipped';

/** The answers of one operation to its errors. `isSkippable`: a file that exists is told as skipped. */
export function errorResponsesOf(
  codes: readonly ClientErrorCode[],
  isSkippable: boolean,
): Record<string, Reference & { readonly description: string }> {
  return Object.fromEntries(
    [...byStatus(codes)].map(([status, own]) => {
      const name = isSkippable && own.includes('already_exists') ? SKIPPED : nameOf(status);
      const description = own.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code].meaning}`).join('\n\n');
      return [status, { $ref: `#/components/responses/${name}`, description }];
    }),
  );
}

/** Those that operations refer to: `codes` are all that any of them can give. */
export function sharedErrorResponses(
  codes: readonly ClientErrorCode[],
  hasSkippable: boolean,
  shown: (schema: object) => Schema,
): Record<string, Response> {
  const shared = [...byStatus(codes)].map(([status, own]): [string, Response] => [
    nameOf(status),
    response(status, own, shown(errorAnswer)),
  ]);
  if (!hasSkippable) return Object.fromEntries(shared);
  const conflicts = codes.filter((code) => ERROR_RULES[code].status === 409);
  return { ...Object.fromEntries(shared), [SKIPPED]: response(409, conflicts, shown(skippedAnswer)) };
}

/** Every code with its status and what to do about it. */
export function errorCodeSchema(codes: readonly ClientErrorCode[]): Schema {
  return {
    oneOf: codes.map((code) => ({
      const: code,
      title: `${ERROR_RULES[code].status} ${code}`,
      description: ERROR_MEANINGS[code].meaning,
    })),
  };
}

function nameOf(status: number): string {
  const name = NAMES[status];
  if (name === undefined) throw new Error(`no response is named for the status ${status}`);
  return name;
}

function response(status: number, codes: readonly ClientErrorCode[], schema: Schema): Response {
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

function example(code: ClientErrorCode, schema: Schema): Example {
  const isSkipped = code === 'already_exists' && String(schema['$ref']).endsWith('/SkippedAnswer');
  const value = { error: ERROR_MEANINGS[code].example, ...(isSkipped ? { skipped: true } : {}) };
  return { summary: `${ERROR_RULES[code].status} ${code}`, value };
}

function headersOf(status: number): readonly string[] {
  if (status === 401) return ['WWW-Authenticate'];
  if (status === 416) return ['Content-Range'];
  return status === 429 || status === 503 ? ['Retry-After'] : [];
}

export function headerReference(name: string): Reference {
  return { $ref: `#/components/headers/${name}` };
}
