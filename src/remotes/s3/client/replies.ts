import { GatewayError, type ErrorCode, type Step } from '../../../base/errors.js';

/** The subject of a call, for the text of its error. */
interface Subject {
  readonly step: Step;
  /** Client-visible path, or a word such as "the bucket". */
  readonly what: string;
  readonly bucket: string;
  readonly host: string;
  readonly region: string;
}

/** The fields of an SDK error that are safe to read. */
interface SdkError {
  readonly name?: string;
  readonly Code?: string;
  readonly code?: string;
  readonly message?: string;
  readonly Region?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: {
    readonly statusCode?: number;
    readonly headers?: Readonly<Record<string, string | undefined>>;
  };
}

interface Reply {
  readonly status: number | undefined;
  /** S3's own error code ("NoSuchKey"); undefined if the answer had no body with one (HEAD). */
  readonly code: string | undefined;
}

/** Status and S3 code of an error, translated or not; both undefined if no answer came. */
export function replyOf(thrown: unknown): Reply {
  if (thrown instanceof GatewayError && thrown.cause !== undefined) return replyOf(thrown.cause);
  const error = (thrown ?? {}) as SdkError;
  const status = error.$response?.statusCode ?? error.$metadata?.httpStatusCode;
  if (thrown instanceof GatewayError || status === undefined) return { status: undefined, code: undefined };
  const code = error.Code ?? error.name;
  return { status, code: code === undefined || NAMELESS.has(code) ? undefined : code };
}

/** Whether the same call may be repeated: no answer came, or one that asks for a retry. */
export function isTransient(thrown: unknown): boolean {
  if (thrown instanceof GatewayError) return false;
  const { status, code } = replyOf(thrown);
  if (status === undefined) return LOST.has(systemCode(thrown) ?? '');
  // The SDK has learned the clock's offset from the refusal: the next signature has the right date.
  return status === 429 || status >= 502 || status === 500 || code === 'SlowDown' || code === 'RequestTimeTooSkewed';
}

/** Whether the keys that signed were refused, and others may be taken. */
export function refusesKeys(thrown: unknown): boolean {
  return REFUSED_KEYS.has(replyOf(thrown).code ?? '');
}

/** Whether a body was refused because it had no checksum, in the different words of stores. */
export function refusesWithoutChecksum(thrown: unknown): boolean {
  if (thrown instanceof GatewayError) return thrown.cause !== undefined && refusesWithoutChecksum(thrown.cause);
  const { status, code = '' } = replyOf(thrown);
  if (status !== 400 || WRONG_CHECKSUM.has(code)) return false;
  const { message = '' } = (thrown ?? {}) as SdkError;
  return (
    code === 'MissingContentMD5' ||
    (/content-md5|x-amz-checksum/i.test(message) && /requir|missing|must/i.test(message))
  );
}

/** The error that the client, the pool and the history get for a failed call. */
export function translateError(thrown: unknown, subject: Subject): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const error = (thrown ?? {}) as SdkError;
  const { status, code } = replyOf(thrown);
  const details = { step: subject.step, cause: thrown };
  if (status === undefined) return translateSilence(thrown, subject);
  if (/^text\/html/i.test(header(error, 'content-type') ?? '')) {
    return new GatewayError(
      'protocol_error',
      `${subject.host} answered HTML with status ${status}: is it an S3 endpoint, or a proxy in front of one?`,
      details,
    );
  }
  const region = header(error, 'x-amz-bucket-region') ?? error.Region ?? regionInWords(error.message);
  if (REGION_CODES.has(code ?? '') || (status === 301 && code === undefined)) {
    const right = region === undefined ? 'another region' : `region "${region}"`;
    return new GatewayError(
      'login_refused',
      `bucket "${subject.bucket}" at ${subject.host} wants ${right}; the connection is set to "${subject.region}"`,
      details,
    );
  }
  if (code === 'NoSuchBucket') {
    return new GatewayError('remote_failure', `bucket "${subject.bucket}" does not exist at ${subject.host}`, details);
  }
  const known = (code === undefined ? undefined : CODES[code]) ?? STATUSES[status];
  const words = wordsOf(error, code, status);
  if (known === undefined) {
    const broken = code === 'SyntaxError' || status < 400;
    return broken
      ? new GatewayError(
          'protocol_error',
          `${subject.host} sent an answer that is no S3 answer (status ${status})`,
          details,
        )
      : new GatewayError('remote_failure', `${subject.what}: the store refused`, { ...details, remote: words });
  }
  return new GatewayError(known[0], `${subject.what}: ${known[1]}`, { ...details, remote: words });
}

function translateSilence(thrown: unknown, subject: Subject): GatewayError {
  const code = systemCode(thrown);
  const details = { step: subject.step, cause: thrown };
  if (code !== undefined && LOST.has(code)) {
    return new GatewayError('connection_lost', `${subject.host} closed the connection (${code})`, details);
  }
  if (code?.startsWith('HPE_') === true) {
    return new GatewayError('protocol_error', `${subject.host} does not speak HTTP (${code})`, details);
  }
  const { name } = (thrown ?? {}) as SdkError;
  return new GatewayError(
    'remote_failure',
    `${subject.host}: the request failed (${code ?? name ?? 'unknown'})`,
    details,
  );
}

function systemCode(thrown: unknown): string | undefined {
  const { code } = (thrown ?? {}) as SdkError;
  return typeof code === 'string' ? code : undefined;
}

/** A store or token service that explains a refusal may quote the signature, the keys, or the key of a customer. */
export function withoutSecrets(words: string, secrets: readonly (string | undefined)[] = []): string {
  const isSecret = (secret: string | undefined): secret is string => secret !== undefined && secret !== '';
  return secrets
    .filter(isSecret)
    .reduce((text, secret) => text.replaceAll(secret, '…'), words)
    .replace(/[A-Za-z0-9+/]{43}=/g, '…')
    .replace(/\b[0-9a-f]{64}\b/gi, '…')
    .replace(/(signature|credential)=[^\s,&]+/gi, '$1=…')
    .replace(/(x-amz-security-token[:=])[^\s,&']+/gi, '$1…');
}

function wordsOf(error: SdkError, code: string | undefined, status: number): { code: string; text: string } {
  const message = error.message === undefined || NAMELESS.has(error.message) ? '' : error.message;
  const text = withoutSecrets(message);
  return { code: code ?? `HTTP ${status}`, text: text === '' ? `HTTP ${status}` : text };
}

function header(error: SdkError, name: string): string | undefined {
  return error.$response?.headers?.[name];
}

function regionInWords(text: string | undefined): string | undefined {
  return /expecting '([a-z0-9-]+)'/.exec(text ?? '')?.[1];
}

/** The checksum that was sent is invalid, or differs from the body's. */
const WRONG_CHECKSUM = new Set([
  'BadDigest',
  'InvalidDigest',
  'XAmzContentSHA256Mismatch',
  'XAmzContentChecksumMismatch',
]);

/** Names that the SDK invents if an answer has none. */
const NAMELESS = new Set(['Unknown', 'UnknownError', 'Error', 'NotFound', 'S3ServiceException', '']);

const LOST = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
]);

const REGION_CODES = new Set([
  'AuthorizationHeaderMalformed',
  'PermanentRedirect',
  'TemporaryRedirect',
  'IllegalLocationConstraintException',
  'IncorrectEndpoint',
]);

const REFUSED_KEYS = new Set(['InvalidAccessKeyId', 'ExpiredToken', 'InvalidToken', 'TokenRefreshRequired']);

const LOGIN: [ErrorCode, string] = ['login_refused', 'the store refused the access key'];

const CODES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  NoSuchKey: ['not_found', 'does not exist'],
  NoSuchUpload: ['remote_failure', 'the store has lost the multipart upload'],
  AccessDenied: ['permission_denied', 'the store denies access'],
  AllAccessDisabled: ['permission_denied', 'the store denies access'],
  AccountProblem: ['permission_denied', 'the store denies access'],
  InvalidObjectState: ['remote_failure', 'the object is archived and must be restored first'],
  InvalidAccessKeyId: LOGIN,
  SignatureDoesNotMatch: LOGIN,
  ExpiredToken: ['login_refused', 'the session token has expired'],
  InvalidToken: ['login_refused', 'the store refused the session token'],
  TokenRefreshRequired: ['login_refused', 'the store refused the session token'],
  RequestTimeTooSkewed: ['login_refused', "this gateway's clock and the store's differ too much"],
  RequestExpired: ['login_refused', "this gateway's clock and the store's differ too much"],
  InvalidRange: ['bad_range', 'the range is outside the file'],
  PreconditionFailed: ['remote_failure', 'the object changed while it was in use'],
  ConditionalRequestConflict: ['remote_failure', 'another write to the same object is under way'],
  EntityTooLarge: ['too_large', 'larger than the store takes'],
  KeyTooLongError: ['bad_path', 'the path is longer than the store takes'],
  InvalidObjectName: ['bad_path', 'the store does not take this name'],
  XMinioInvalidObjectName: ['bad_path', 'the store does not take this name'],
  QuotaExceeded: ['no_space', 'the store has no space left'],
  InsufficientStorage: ['no_space', 'the store has no space left'],
  XMinioAdminBucketQuotaExceeded: ['no_space', 'the bucket is as full as it may be'],
  XMinioStorageFull: ['no_space', 'the store has no space left'],
  InvalidStorageClass: ['remote_failure', 'the store does not know the storage class of the connection'],
  AccessControlListNotSupported: ['remote_failure', 'the bucket takes no ACL: set acl of the connection to none'],
  SlowDown: ['remote_failure', 'the store asks for fewer requests'],
  IncompleteBody: ['connection_lost', 'the body did not arrive whole'],
  RequestTimeout: ['stall_timeout', 'the store waited too long for the next byte'],
};

const STATUSES: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  401: LOGIN,
  403: ['permission_denied', 'the store denies access'],
  404: ['not_found', 'does not exist'],
  412: ['remote_failure', 'the object changed while it was in use'],
  413: ['too_large', 'larger than the store takes'],
  416: ['bad_range', 'the range is outside the file'],
  507: ['no_space', 'the store has no space left'],
};
