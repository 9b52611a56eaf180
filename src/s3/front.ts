/**
 * The S3 API over connections: from a request to its answer, in one fixed order. What a request needs is found, its
 * signature is compared before a byte of its body is read, and errors become S3's XML.
 */
import { randomBytes } from 'node:crypto';
import type { GatewayError } from '../base/errors.js';
import { toGatewayError } from '../base/errors.js';
import { PASSING_ON, type Span, type Tracer } from '../base/span.js';
import { uuidv7 } from '../base/uuid.js';
import { admit } from '../http/auth.js';
import type { GuessGuard } from '../http/guess-guard.js';
import { type Limiter, refuseOver } from '../http/rate-limits.js';
import { refuseForeignBytes } from '../http/router.js';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../http/types.js';
import type { ApiKeyRecord } from '../storage/storage.js';
import { s3BodyOf } from './body/body.js';
import { type Call, type Command, type S3Services, XML } from './call.js';
import { formOf, S3Error } from './errors.js';
import { answerInTime } from './late-answer.js';
import { refusePromises } from './promises.js';
import { commandOf } from './routes.js';
import { requestFieldsOf, signedRequestOf, type SignedRequest } from './signature/signed-request.js';
import { SignatureCheck } from './signature/verify.js';
import { type S3Target, s3TargetOf } from './target.js';
import { plainXml } from './xml.js';

interface AccessKey {
  readonly record: ApiKeyRecord;
  readonly secretAccessKey: string;
}

/** The access keys of API keys; expired and revoked ones are not found. */
interface AccessKeys {
  find(accessKeyId: string): Promise<AccessKey | undefined>;
  /** The same for one that was found within the last second, without a query. */
  recall(accessKeyId: string): AccessKey | undefined;
}

export interface S3Options {
  readonly services: S3Services;
  readonly keys: AccessKeys;
  /** Counts wrong signatures and unknown access keys by address. */
  readonly guard: GuessGuard;
  readonly rate: Limiter | undefined;
  /** The beginning of its addresses on this listener: `/s3`, or "" on a listener of its own. */
  readonly prefix: string;
  readonly tracer?: Tracer;
  onInternalError(error: GatewayError, requestId: string): void;
}

interface State {
  readonly span: Span;
  command?: Command;
  keyId?: string;
  error?: GatewayError;
}

export function createS3Front(options: S3Options): HttpHandler {
  const { services, keys, guard, rate, prefix } = options;
  const tracer = options.tracer ?? PASSING_ON;
  const signatures = new SignatureCheck();
  const hostId = randomBytes(12).toString('base64');

  /** @throws S3Error AccessDenied, InvalidAccessKeyId, SignatureDoesNotMatch */
  async function authenticate(
    request: HttpRequest,
    signed: SignedRequest,
  ): Promise<{ caller: ApiKeyRecord; key: Buffer }> {
    const { accessKeyId, signature } = signed;
    const found =
      keys.recall(accessKeyId) ?? (await guard.unlessGuessing(request, accessKeyId, () => keys.find(accessKeyId)));
    if (found === undefined) {
      throw new S3Error('InvalidAccessKeyId', 'there is no such access key', 'unauthenticated');
    }
    const key = signatures.keyOf(signed, found.secretAccessKey);
    if (signatures.isRight(request, signed, key)) return { caller: found.record, key };
    // Counted like a wrong key.
    await guard.unlessGuessing(request, `${accessKeyId} ${signature}`, () => Promise.resolve(undefined));
    throw new S3Error('SignatureDoesNotMatch', 'the signature is not that of this request', 'unauthenticated');
  }

  async function dispatch(request: HttpRequest, requestId: string, state: State): Promise<HttpAnswer> {
    if (request.queryText !== '') refuseForeignBytes(request.queryText);
    const target = addressed(request, prefix);
    const signed = signedRequestOf(request, services.region);
    if (signed === undefined) throw new S3Error('AccessDenied', 'the request is not signed', 'unauthenticated');
    const { caller, key } = await authenticate(request, signed);
    state.keyId = caller.keyId;
    request.claims.admit(caller.accountId, false);
    const taken = await rate?.(caller.keyId);
    if (taken !== undefined) refuseOver(taken, 'too many requests with this API key');
    const headers = requestFieldsOf(request, signed);
    const command = (state.command = commandOf({ method: request.method, query: request.query, headers }, target));
    admit(caller, request, command.scope);
    refusePromises(headers, command, caller);
    const body = () => s3BodyOf(request, signed, key, command.hasObjectChecksum === true);
    const failed = (thrown: unknown): HttpAnswer => failure(thrown, request, requestId, state);
    const inTime: Call['inTime'] = (work) => answerInTime(work, failed);
    return command.run({ services, request, requestId, caller, span: state.span, ...target, headers, body, inTime });
  }

  function failure(thrown: unknown, request: HttpRequest, requestId: string, state: State): HttpAnswer {
    const error = toGatewayError(thrown);
    state.error = error;
    if (error.code === 'internal') options.onInternalError(error, requestId);
    const { code, status } = formOf(error);
    const headers: Record<string, string> = { ...XML, 'X-Error-Code': error.code };
    if (error.fileSize !== undefined) headers['Content-Range'] = `bytes */${error.fileSize}`;
    if (status === 503) headers['Retry-After'] = String(Math.max(1, Math.ceil((error.retryAfterMs ?? 1_000) / 1_000)));
    if (request.method === 'HEAD') return { status, headers, headLength: 'unknown' };
    const body = plainXml('Error', [
      ['Code', code],
      ['Message', error.clientText],
      ['Resource', request.path],
      ['RequestId', requestId],
      ['HostId', hostId],
    ]);
    return { status, headers, body };
  }

  return async (request) => {
    const requestId = uuidv7();
    const span = tracer.begin(request.method, { kind: 'server' }, request.headers);
    const state: State = { span };
    let answer: HttpAnswer;
    try {
      answer = await dispatch(request, requestId, state);
    } catch (error) {
      answer = failure(error, request, requestId, state);
    }
    const facts = {
      requestId,
      route: `s3 ${state.command?.name ?? 'unknown'}`,
      keyId: state.keyId,
      // An answer that is sent already may end in an error.
      get error() {
        return state.error;
      },
      span,
    };
    const ids = { 'x-amz-request-id': requestId, 'x-amz-id-2': hostId };
    return { ...answer, facts, headers: { 'Cache-Control': 'no-store', ...answer.headers, ...ids } };
  };
}

function addressed(request: HttpRequest, prefix: string): S3Target {
  const path = request.path.slice(prefix.length);
  return s3TargetOf(path === '' ? '/' : path);
}
