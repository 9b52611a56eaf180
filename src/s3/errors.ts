/** Errors as S3 clients know them: a code, a status and an XML document ("Error responses" of the S3 API reference). */
import { type ErrorCode, GatewayError } from '../base/errors.js';

const STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  BadDigest: 400,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  ExpiredToken: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidDigest: 400,
  InvalidObjectState: 409,
  InvalidPart: 400,
  InvalidPartNumber: 416,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  MissingSecurityHeader: 400,
  NoSuchBucket: 404,
  NoSuchBucketPolicy: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchKey: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchPublicAccessBlockConfiguration: 404,
  NoSuchTagSet: 404,
  NoSuchUpload: 404,
  NoSuchWebsiteConfiguration: 404,
  NotImplemented: 501,
  ObjectLockConfigurationNotFoundError: 404,
  OperationAborted: 409,
  OwnershipControlsNotFoundError: 404,
  PreconditionFailed: 412,
  ReplicationConfigurationNotFoundError: 404,
  RequestTimeout: 400,
  RequestTimeTooSkewed: 403,
  ServerSideEncryptionConfigurationNotFoundError: 404,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const;

export type S3Code = keyof typeof STATUS;

/** An error of the S3 API itself; `code` is what the log and the history show. */
export class S3Error extends GatewayError {
  readonly s3Code: S3Code;

  constructor(s3Code: S3Code, message: string, code: ErrorCode = 'bad_request') {
    super(code, message, { step: 'request' });
    this.s3Code = s3Code;
  }
}

/** How clients of S3 react to the errors of the gateway: 5xx and SlowDown are repeated, others are not. */
const CODES: Partial<Readonly<Record<ErrorCode, S3Code>>> = {
  bad_request: 'InvalidArgument',
  bad_path: 'InvalidArgument',
  unauthenticated: 'AccessDenied',
  forbidden: 'AccessDenied',
  scope_missing: 'AccessDenied',
  permission_denied: 'AccessDenied',
  plan_required: 'AccessDenied',
  quota_exceeded: 'AccessDenied',
  address_denied: 'AccessDenied',
  unknown_connection: 'NoSuchBucket',
  connection_inactive: 'NoSuchBucket',
  unknown_upload: 'NoSuchUpload',
  invalid_part: 'InvalidPart',
  invalid_part_order: 'InvalidPartOrder',
  part_too_small: 'EntityTooSmall',
  not_found: 'NoSuchKey',
  method_not_allowed: 'MethodNotAllowed',
  already_exists: 'PreconditionFailed',
  is_a_folder: 'InvalidRequest',
  not_a_folder: 'InvalidRequest',
  bad_range: 'InvalidRange',
  digest_mismatch: 'BadDigest',
  too_large: 'EntityTooLarge',
  unsupported_operation: 'NotImplemented',
  sessions_exhausted: 'InvalidRequest',
  resume_unsupported: 'NotImplemented',
  upload_locked: 'OperationAborted',
  cancelled: 'OperationAborted',
  client_gone: 'RequestTimeout',
  rate_limited: 'SlowDown',
  share_exceeded: 'SlowDown',
  overloaded: 'SlowDown',
  pool_full: 'SlowDown',
  too_many_sessions: 'SlowDown',
  acquire_timeout: 'SlowDown',
};

interface ErrorForm {
  readonly code: S3Code;
  readonly status: number;
}

/** What a store refuses with one of these, it refuses again. */
const OF_STORES: readonly S3Code[] = ['EntityTooLarge', 'InvalidArgument', 'InvalidRequest', 'KeyTooLongError'];

export function formOf(error: GatewayError): ErrorForm {
  if (error instanceof S3Error) return { code: error.s3Code, status: STATUS[error.s3Code] };
  const ofStore = error.code === 'remote_failure' ? OF_STORES.find((one) => one === error.remote?.code) : undefined;
  const code = ofStore ?? CODES[error.code];
  if (code !== undefined) return { code, status: STATUS[code] };
  // A remote that is away, or a gateway that stops: the client tries again.
  return error.code === 'internal'
    ? { code: 'InternalError', status: 500 }
    : { code: 'ServiceUnavailable', status: 503 };
}
