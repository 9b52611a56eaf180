/** Which errors an endpoint can give, what each means, and how a document shows them; made from the catalogue in src/base/errors.ts. */
import { ERROR_RULES, type ErrorCode } from '../../base/errors.js';
import type { DescribedRoute } from '../endpoint.js';
import { errorAnswer, skippedAnswer } from '../fields.js';
import { ANSWER_HEADERS, EVERY_ANSWER, KEYED_ANSWER, OPERATION_ANSWER } from './header-fields.js';
import type { Example, Header, Reference, Response, Schema } from './types.js';

/** Codes that no client ever sees: nobody is left to answer, or the pool answers in its place. */
type Hidden = 'client_gone' | 'too_many_sessions';
export type ClientErrorCode = Exclude<ErrorCode, Hidden>;

interface Meaning {
  /** What it is and what to do about it. */
  readonly meaning: string;
  /** A text as the gateway words it. */
  readonly example: string;
}

const ERROR_MEANINGS: Readonly<Record<ClientErrorCode, Meaning>> = {
  bad_request: {
    meaning: 'A field or parameter is missing, malformed or out of range. The text names it; mend the request.',
    example: 'path is missing',
  },
  bad_path: {
    meaning: 'A path is empty, holds control characters, leaves the root or is too long.',
    example: 'path leaves the root of the connection',
  },
  bad_base64: { meaning: 'The content is not base64.', example: 'content is not valid base64' },
  digest_mismatch: {
    meaning: 'The body is not the one that Content-Digest describes; nothing was stored. Send it again.',
    example: 'the body does not match the sha-256 of Content-Digest',
  },
  unsupported_operation: {
    meaning: 'This type of connection cannot do it: append on S3, exec on FTP and S3.',
    example: 'append is not supported on S3 connections; use write instead',
  },
  unauthenticated: {
    meaning: 'The API key is missing, unknown, expired or revoked.',
    example: 'the API key is not valid',
  },
  totp_required: {
    meaning: 'The password was right; send it again with `code`, or the code was wrong.',
    example: 'code: the six digits of the authenticator, or a recovery code',
  },
  forbidden: {
    meaning: 'The API key is not for this connection or this address.',
    example: 'this API key is not for connection warehouse',
  },
  scope_missing: {
    meaning: 'The API key lacks the scope that the endpoint asks for.',
    example: 'this API key lacks the scope write',
  },
  csrf_rejected: {
    meaning: 'A request with a login session lacks its CSRF token, or comes from another site.',
    example: 'the header X-CSRF-Token must hold the csrfToken of GET /manage/session',
  },
  plan_required: {
    meaning: 'The plan of the account does not allow it.',
    example: 'copy needs a plan with more than one connection; this account has free',
  },
  connection_inactive: { meaning: 'The connection is switched off.', example: 'connection warehouse is not active' },
  permission_denied: {
    meaning: 'The remote server refuses this path to its login.',
    example: '/etc/passwd may not be opened (remote said: 3 Permission denied)',
  },
  address_denied: {
    meaning: 'The network rules of the gateway deny the address.',
    example: 'the address of 169.254.169.254 is denied by the network rules',
  },
  unknown_route: { meaning: 'There is no such endpoint.', example: 'there is no such endpoint' },
  unknown_connection: {
    meaning: 'The account has no connection with this id; GET /api/connections lists them.',
    example: 'there is no connection warehouse',
  },
  unknown_watched_folder: {
    meaning: 'The account has no watched folder with this id.',
    example: 'there is no watched folder 0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001',
  },
  unknown_item: {
    meaning: 'The account has no session, API key, key pair or transfer with this id.',
    example: 'there is no API key 0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001',
  },
  unknown_upload: {
    meaning:
      'There is no such resumable upload at this connection, or it has expired or ended in failure, or what stood of it is gone from the server; begin a new one.',
    example: 'there is no upload 0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001',
  },
  not_found: {
    meaning: 'The file or folder is not there.',
    example: '/upload/report.pdf does not exist (remote said: 2 No such file)',
  },
  method_not_allowed: {
    meaning: 'The path takes another method; Allow lists them.',
    example: 'PUT is not allowed here; use POST',
  },
  already_exists: {
    meaning: 'A file stands there and may not be replaced.',
    example: '/upload/report.pdf exists and overwrite is false',
  },
  is_a_folder: { meaning: 'A folder stands where a file is wanted.', example: '/upload is a folder' },
  not_a_folder: {
    meaning: 'A file stands where a folder is wanted.',
    example: '/upload/report.pdf is a file, not a folder',
  },
  not_empty: {
    meaning:
      'The folder that was to be removed holds something: it was filled meanwhile, or holds a name that cannot be addressed.',
    example: '/upload is not empty',
  },
  offset_mismatch: {
    meaning: 'Another number of bytes stands than Upload-Offset says; HEAD tells how many. Go on from there.',
    example: 'Upload-Offset is 0, and 1048576 bytes stand',
  },
  idempotency_in_progress: {
    meaning: 'A request with this Idempotency-Key still runs; ask again after Retry-After for its answer.',
    example: 'a request with this Idempotency-Key still runs',
  },
  sessions_exhausted: {
    meaning: 'Both ends of the copy need a session of one login whose maxSessions cannot carry both.',
    example: 'both paths need a session of one login, and its maxSessions is 1',
  },
  in_use: {
    meaning: 'Others depend on it, or it is switched on already; the text names them.',
    example: 'connection warehouse is used by API key "ci"; confirm=true deletes it all the same',
  },
  from_configuration: {
    meaning: 'The configuration file owns it and would put it back at the next start; change it there.',
    example:
      'connection warehouse comes from the configuration file, whose next start would undo this; change it there',
  },
  not_running: {
    meaning: 'It has ended, was revoked or is switched off.',
    example: 'transfer 0199c2f4-6f5e-7c1a-9a51-0d2f64b1c7e2 does not run, or has only just begun',
  },
  source_suspicious: {
    meaning:
      'A job with deleteExtra found its source empty, or less than half of the files of its last run there; nothing was deleted.',
    example:
      'the source holds 3 files, and at the last run it held 700: nothing was deleted; with allowEmptySource: true it would be',
  },
  cancelled: {
    meaning: 'The owner of the account ended the operation while it ran; nothing was stored.',
    example: 'the transfer was cancelled by the owner of the account',
  },
  gone: {
    meaning: 'It is no longer kept, and the text says from where to go on; or it is a link that has ended.',
    example: 'events up to 41 are no longer kept; the oldest is 42: go on with after=41',
  },
  unsupported_version: {
    meaning: 'Tus-Resumable is missing, or another version of the protocol than Tus-Version lists.',
    example: 'Tus-Resumable must be 1.0.0',
  },
  too_large: {
    meaning: 'The body, the file to read or the output of the command is above its limit.',
    example: 'the body is larger than 1048576 bytes',
  },
  unsupported_media_type: {
    meaning: 'The Content-Type is none that the endpoint takes, or the body has a Content-Encoding.',
    example: 'this endpoint takes application/json',
  },
  bad_range: {
    meaning: 'The range lies outside the file.',
    example: 'Range bytes=100-200 lies outside the file of 42 bytes',
  },
  outcome_unknown: {
    meaning:
      'The first request with this Idempotency-Key had begun when its gateway or its session was lost; nobody knows whether it was done. The text has its transfer and what stands on the remote now. It never runs again: look, and use a new key.',
    example:
      'the first request with this Idempotency-Key had begun when it was lost: nobody knows whether transfer 0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001 (append) was done; /log.txt is a file of 120 bytes now, changed 2026-11-22T10:00:00.000Z',
  },
  idempotency_mismatch: {
    meaning: 'This Idempotency-Key was used with another request; make a new one.',
    example: 'this Idempotency-Key was used with another request',
  },
  upload_locked: {
    meaning: 'Another request is writing to this upload; try again after Retry-After.',
    example: 'another request is writing to this upload',
  },
  rate_limited: {
    meaning: 'Too many requests a second with this API key; wait for Retry-After.',
    example: 'more than 20 requests a second with this API key',
  },
  quota_exceeded: {
    meaning: "The month's actions are used up; Retry-After says when the next month (UTC) begins.",
    example: 'the 1000 actions of this month are used up',
  },
  share_exceeded: {
    meaning: 'The account has its fair share of what all accounts use together; try again after Retry-After.',
    example: "this account has its share of the gateway's 2048 requests (budgets.requests)",
  },
  checksum_mismatch: {
    meaning: 'The body does not match its Upload-Checksum; none of it was kept. Send it again.',
    example: 'the body does not match its Upload-Checksum (sha1)',
  },
  internal: {
    meaning: 'A fault of the gateway. The request id finds it in the log.',
    example: 'internal error; the request id in X-Request-Id finds it in the log',
  },
  resume_unsupported: {
    meaning: 'The remote server cannot go on in a file that was begun; use a plain upload.',
    example: 'this connection takes no resumable uploads: the FTP server refuses REST and APPE',
  },
  dns_failed: { meaning: 'The host name has no address.', example: 'sftp.example.com cannot be resolved' },
  unreachable: { meaning: 'The remote server does not accept connections.', example: 'sftp.example.com:22 refused' },
  login_refused: {
    meaning: 'The remote server refuses the login of the connection.',
    example: 'the server refused the login (remote said: 530 Login incorrect)',
  },
  host_key_mismatch: {
    meaning: 'The SFTP server shows another host key than the pinned one. Find out why before the pin is changed.',
    example: 'the server of connection warehouse shows host key SHA256:new, but SHA256:old is pinned (hostKey)',
  },
  certificate_rejected: {
    meaning: 'The TLS certificate of the remote server is not trusted.',
    example: 'the certificate of ftp.example.com:21 is not trusted',
  },
  connection_lost: {
    meaning: 'The remote server cut the connection. An upload left nothing behind; try again.',
    example: 'the remote server cut the connection',
  },
  protocol_error: { meaning: 'The remote server breaks its protocol.', example: 'the server broke the protocol' },
  remote_failure: {
    meaning: 'The remote server failed; the text holds its words.',
    example: 'the server could not do it (remote said: 4 Failure)',
  },
  no_space: { meaning: 'The remote server has no space left.', example: 'no space is left on the server' },
  size_mismatch: {
    meaning:
      'The remote server stored another number of bytes than were sent, or sent another number than the file is long; nothing was replaced.',
    example: 'the server holds 41 bytes, but 42 were sent',
  },
  readback_mismatch: {
    meaning:
      'What the remote server has stored was read again, and is not what it was sent; nothing was replaced, unless the connection writes in place.',
    example: 'what the server has stored is not what it was sent',
  },
  copy_unverified: {
    meaning:
      'A file was copied to be removed, and its copy, which the server has acknowledged, could not be looked at; the original was kept.',
    example: 'the copy of /out/a.csv was delivered, but was gone when it was looked for; /out/a.csv was kept',
  },
  fetch_failed: {
    meaning: 'The URL of a url upload answered anything but 2xx, or could not be read.',
    example: 'the url answered 404',
  },
  pool_full: {
    meaning: 'Too many requests wait for this server; try again after Retry-After.',
    example: 'too many requests wait for a session to sftp.example.com:22',
  },
  acquire_timeout: {
    meaning: 'No session to this server became free in time; try again after Retry-After.',
    example: 'no session to sftp.example.com:22 became free within 15000 ms',
  },
  too_slow: {
    meaning:
      'The client moved too few bytes while others waited for a session of this server, or too few for a link; nothing of an upload is visible, and a resumable one keeps its bytes. Try again after Retry-After.',
    example:
      'others wait for a session on sftp.example.com:22, and this transfer moved fewer than 16384 bytes a second for 10000 ms (pools.giveWay)',
  },
  overloaded: {
    meaning: 'The gateway has too much under way; try again after Retry-After.',
    example: 'all 2048 requests of this gateway are in use (budgets.requests)',
  },
  draining: { meaning: 'The gateway is stopping; try again after Retry-After.', example: 'the gateway is stopping' },
  database_away: {
    meaning: 'The database of the gateway cannot be reached; try again after Retry-After.',
    example: 'the database cannot be reached',
  },
  outcome_unrecorded: {
    meaning:
      'The operation was performed on the remote, but its history item could not be written: the database takes no writes. Do not repeat it before you have looked; there is no Retry-After.',
    example:
      'the operation was performed, but could not be recorded: the database of the gateway is not reachable or takes no writes; look at the remote before you repeat it',
  },
  connect_timeout: {
    meaning: 'The remote server did not answer in time.',
    example: 'sftp.example.com:22 did not answer within 10000 ms',
  },
  stall_timeout: { meaning: 'No byte moved for too long.', example: 'no byte moved for 30000 ms' },
  command_timeout: { meaning: 'The command ran too long and was killed.', example: 'the command ran over 30000 ms' },
};

const WITH_KEY = [
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'share_exceeded',
  'overloaded',
  'database_away',
] as const;
const WITH_BODY = ['unsupported_media_type', 'too_large'] as const;
/** What no row is asked for: the router answers where there is none. */
const WITHOUT_ROW: readonly ErrorCode[] = ['unknown_route', 'method_not_allowed'];
const IDEMPOTENT = ['idempotency_in_progress', 'outcome_unknown', 'idempotency_mismatch'] as const;
/** All that can go wrong between the gateway and a remote server, whatever is asked of it. */
const REMOTE = [
  'cancelled',
  'bad_path',
  'connection_inactive',
  'permission_denied',
  'address_denied',
  'unknown_connection',
  'not_a_folder',
  'dns_failed',
  'unreachable',
  'login_refused',
  'host_key_mismatch',
  'certificate_rejected',
  'connection_lost',
  'protocol_error',
  'remote_failure',
  'pool_full',
  'acquire_timeout',
  'too_slow',
  'draining',
  'outcome_unrecorded',
  'connect_timeout',
  'stall_timeout',
] as const;

/** Every code that the endpoint can answer with, in the order of the catalogue. */
export function errorCodesOf({ description, ...route }: DescribedRoute): ClientErrorCode[] {
  const { isRemote = false, errors = [] } = description;
  const hasKey = route.access !== 'public';
  const codes = new Set<ErrorCode>([
    'internal',
    // A field that stands twice is refused wherever it is sent.
    'bad_request',
    ...(hasKey ? WITH_KEY : []),
    ...(hasKey && route.access !== 'any' ? (['scope_missing'] as const) : []),
    ...(route.access === 'owner' ? (['csrf_rejected'] as const) : []),
    ...(route.body === 'none' ? [] : WITH_BODY),
    ...(route.idempotent === true ? IDEMPOTENT : []),
    ...(isRemote ? REMOTE : []),
    ...errors,
  ]);
  return clientErrorCodes.filter((code) => codes.has(code));
}

const clientErrorCodes = (Object.keys(ERROR_RULES) as ErrorCode[]).filter(
  (code): code is ClientErrorCode => code in ERROR_MEANINGS,
);

/** Every code of an API whose rows can give these, in the order of the catalogue. */
export function allErrorCodes(given: readonly ClientErrorCode[]): ClientErrorCode[] {
  return clientErrorCodes.filter((code) => given.includes(code) || WITHOUT_ROW.includes(code));
}

/** The codes by the status that they share. */
function byStatus(codes: readonly ClientErrorCode[]): Map<number, ClientErrorCode[]> {
  const groups = new Map<number, ClientErrorCode[]>();
  for (const code of codes) {
    const { status } = ERROR_RULES[code];
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
  // Of an API with resumable uploads any error may be one of those.
  const more = codes.includes('unsupported_version') ? optionalHeaders(['Tus-Resumable', 'Tus-Version']) : {};
  const answer = (status: number, own: readonly ClientErrorCode[], schema: object): Response => {
    const { headers, ...rest } = response(status, own, shown(schema));
    return { ...rest, headers: { ...headers, ...more } };
  };
  const shared = [...byStatus(codes)].map(([status, own]): [string, Response] => [
    nameOf(status),
    answer(status, own, errorAnswer),
  ]);
  if (!hasSkippable) return Object.fromEntries(shared);
  const conflicts = codes.filter((code) => ERROR_RULES[code].status === 409);
  return { ...Object.fromEntries(shared), [SKIPPED]: answer(409, conflicts, skippedAnswer) };
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
  if (status === 401) return ['WWW-Authenticate', 'X-Session-End'];
  if (status === 416) return ['Content-Range'];
  if (status === 415) return ['Accept-Encoding'];
  return status === 423 || status === 429 || status === 503 ? ['Retry-After'] : [];
}

/** Those that may be absent. */
function optionalHeaders(names: readonly string[]): Record<string, Header> {
  return Object.fromEntries(
    names.map((name) => [name, { description: '', schema: {}, ...ANSWER_HEADERS[name], required: false }]),
  );
}

export function headerReference(name: string): Reference {
  return { $ref: `#/components/headers/${name}` };
}
