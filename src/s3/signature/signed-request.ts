/**
 * What a request says about its signature (AWS Signature Version 4): in the Authorization field ("Authenticating
 * Requests: Using the Authorization Header") or in its query ("Using Query Parameters").
 */
import { MINUTE_MS } from '../../contract/units.js';
import type { HttpRequest } from '../../http/types.js';
import { S3Error } from '../errors.js';

export interface SignedRequest {
  readonly accessKeyId: string;
  /** `20261128/us-east-1/s3/aws4_request`. */
  readonly scope: string;
  /** `20261128T101500Z`. */
  readonly date: string;
  /** Sorted, in lower case. */
  readonly signedHeaders: readonly string[];
  /** 64 hexadecimal digits. */
  readonly signature: string;
  /** The value of x-amz-content-sha256. */
  readonly payload: string;
  /** Present for a presigned URL. */
  readonly expiresSeconds?: number;
}

type Given = Pick<HttpRequest, 'headers' | 'query'>;

const ALGORITHM = 'AWS4-HMAC-SHA256';
export const UNSIGNED = 'UNSIGNED-PAYLOAD';
/** 15 minutes, as S3 allows. */
const MOST_SKEW_MS = 15 * MINUTE_MS;
const MOST_EXPIRY_SECONDS = 7 * 24 * 60 * 60;
const DATE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;
const SIGNATURE = /^[\da-f]{64}$/;
const MOST_HEADERS = 100;

/** Undefined: the request is not signed at all. @throws S3Error */
export function signedRequestOf(request: Given, region: string, now = Date.now()): SignedRequest | undefined {
  const field = request.headers.get('authorization');
  const isPresigned = request.query.has('X-Amz-Algorithm') || request.query.has('X-Amz-Signature');
  if (field !== undefined && isPresigned) {
    throw new S3Error('InvalidArgument', 'only one of the Authorization header and X-Amz-Signature may be given');
  }
  if (field !== undefined) return inHeader(request, field, region, now);
  if (isPresigned) return inQuery(request, region, now);
  if (request.query.has('Signature') || request.query.has('AWSAccessKeyId')) throw onlyVersion4();
  return undefined;
}

function inHeader({ headers }: Given, field: string, region: string, now: number): SignedRequest {
  if (/^AWS /.test(field)) throw onlyVersion4();
  const malformed = (text: string): S3Error => new S3Error('AuthorizationHeaderMalformed', `Authorization: ${text}`);
  const [algorithm, ...rest] = field.split(' ');
  if (algorithm !== ALGORITHM) throw malformed(`the algorithm must be ${ALGORITHM}`);
  const values = new Map<string, string>();
  for (const part of rest.join(' ').split(',')) {
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim();
    if (at < 0 || values.has(name)) throw malformed('it must hold Credential, SignedHeaders and Signature, once each');
    values.set(name, part.slice(at + 1).trim());
  }
  const date = headers.get('x-amz-date') ?? dateOfField(headers.get('date'));
  if (date === undefined) throw new S3Error('AccessDenied', 'x-amz-date is missing', 'unauthenticated');
  const credential = credentialOf(values.get('Credential'), date, region, malformed);
  requireRecent(timeOf(date, malformed), now);
  const payload = headers.get('x-amz-content-sha256');
  if (payload === undefined) throw new S3Error('MissingSecurityHeader', 'x-amz-content-sha256 is missing');
  return {
    ...credential,
    date,
    signedHeaders: signedHeadersOf(values.get('SignedHeaders'), headers, malformed),
    signature: signatureOf(values.get('Signature'), malformed),
    payload,
  };
}

function inQuery({ headers, query }: Given, region: string, now: number): SignedRequest {
  const malformed = (text: string): S3Error => new S3Error('AuthorizationQueryParametersError', text);
  const value = (name: string): string => {
    const [only, ...others] = query.getAll(name);
    if (only === undefined || others.length > 0) throw malformed(`${name} must be given once`);
    return only;
  };
  if (value('X-Amz-Algorithm') !== ALGORITHM) throw malformed(`X-Amz-Algorithm must be ${ALGORITHM}`);
  const date = value('X-Amz-Date');
  const credential = credentialOf(value('X-Amz-Credential'), date, region, malformed);
  const expires = value('X-Amz-Expires');
  const expiresSeconds = /^\d{1,6}$/.test(expires) ? Number(expires) : NaN;
  if (!(expiresSeconds >= 1 && expiresSeconds <= MOST_EXPIRY_SECONDS)) {
    throw malformed(`X-Amz-Expires must be 1 to ${MOST_EXPIRY_SECONDS} seconds`);
  }
  const signedAt = timeOf(date, malformed);
  if (signedAt > now + MOST_SKEW_MS) throw tooSkewed();
  if (now > signedAt + expiresSeconds * 1_000)
    throw new S3Error('AccessDenied', 'the presigned URL has expired', 'forbidden');
  return {
    ...credential,
    date,
    signedHeaders: signedHeadersOf(value('X-Amz-SignedHeaders'), headers, malformed),
    signature: signatureOf(value('X-Amz-Signature'), malformed),
    payload: headers.get('x-amz-content-sha256') ?? query.get('X-Amz-Content-Sha256') ?? UNSIGNED,
    expiresSeconds,
  };
}

/** Fields of the signature; and checksums, for SDKs put wrong ones into a query, and Amazon S3 ignores them there. */
const NO_FIELD =
  /^x-amz-(?:algorithm|credential|date|expires|signedheaders|signature|security-token|content-sha256|checksum-.*|sdk-.*)$/;

/** The fields of a request. A presigned URL may have those of S3 in its query, as SDKs write them. */
export function requestFieldsOf({ headers, query }: Given, { expiresSeconds }: SignedRequest): Given['headers'] {
  if (expiresSeconds === undefined) return headers;
  const hoisted = Array.from(query, ([name, value]) => [name.toLowerCase(), value] as const);
  return new Map([...hoisted.filter(([name]) => name.startsWith('x-amz-') && !NO_FIELD.test(name)), ...headers]);
}

type Malformed = (text: string) => S3Error;

function credentialOf(
  text: string | undefined,
  date: string,
  region: string,
  malformed: Malformed,
): { readonly accessKeyId: string; readonly scope: string } {
  const parts = (text ?? '').split('/');
  const [day = '', given = '', service = '', end = ''] = parts.slice(-4);
  const accessKeyId = parts.slice(0, -4).join('/');
  if (!/^[\w-]{1,128}$/.test(accessKeyId) || end !== 'aws4_request') {
    throw malformed('Credential must be ACCESS-KEY-ID/YYYYMMDD/REGION/s3/aws4_request');
  }
  if (service !== 's3') throw malformed('the service of Credential must be s3');
  if (given !== region) throw malformed(`the region ${given.slice(0, 40)} is wrong; expecting ${region}`);
  if (day !== date.slice(0, 8)) throw malformed('the date of Credential is not that of the request');
  return { accessKeyId, scope: `${day}/${given}/${service}/${end}` };
}

/** The client could change a header that is not signed: x-amz-* headers decide what happens, and Host where. */
function signedHeadersOf(text: string | undefined, headers: Given['headers'], malformed: Malformed): readonly string[] {
  const names = (text ?? '').split(';');
  const isInOrder = names.every((name, index) => index === 0 || (names[index - 1] ?? '') < name);
  if (names.length > MOST_HEADERS || !isInOrder || names.some((name) => !/^[a-z\d!#$%&'*+.^_`|~-]+$/.test(name))) {
    throw malformed('SignedHeaders must be names in lower case, in order, separated by ";"');
  }
  if (!names.includes('host')) throw malformed('SignedHeaders must include host');
  for (const name of headers.keys()) {
    if (name.startsWith('x-amz-') && !names.includes(name)) {
      throw new S3Error('AccessDenied', `the header ${name.slice(0, 60)} is not signed`, 'unauthenticated');
    }
  }
  return names;
}

function signatureOf(text: string | undefined, malformed: Malformed): string {
  if (text !== undefined && SIGNATURE.test(text)) return text;
  throw malformed('Signature must be 64 hexadecimal digits');
}

function timeOf(date: string, malformed: Malformed): number {
  const [, year, month, day, hour, minute, second] = DATE.exec(date) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time)) throw malformed('the date must be YYYYMMDDTHHMMSSZ');
  return time;
}

/** The Date field in place of x-amz-date. */
function dateOfField(field: string | undefined): string | undefined {
  const time = Date.parse(field ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
}

function requireRecent(time: number, now: number): void {
  if (Math.abs(time - now) > MOST_SKEW_MS) throw tooSkewed();
}

const tooSkewed = (): S3Error =>
  new S3Error(
    'RequestTimeTooSkewed',
    'the clocks of client and gateway differ by more than 15 minutes',
    'unauthenticated',
  );

const onlyVersion4 = (): S3Error =>
  new S3Error('InvalidRequest', `only Signature Version 4 is understood (${ALGORITHM})`);
