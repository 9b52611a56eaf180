/** The header fields of tus 1.0.0 (tus.io/protocols/resumable-upload). */
import { isUtf8 } from 'node:buffer';
import { type GatewayError, refusal } from '../../base/errors.js';
import { PIECE_TYPE, TUS_VERSION } from '../../contract/tus.js';
import type { HttpRequest } from '../../http/types.js';
import type { ExpectedDigest } from '../../operations/pump.js';

const EXTENSIONS = [
  ...['creation', 'creation-with-upload', 'creation-defer-length', 'termination', 'expiration', 'checksum'],
] as const;
const ALGORITHMS = ['sha1', 'sha256'] as const;
const DIGEST_BYTES = { sha1: 20, sha256: 32 } as const;

/** In every answer, including errors. */
export const TUS_HEADERS = { 'Tus-Resumable': TUS_VERSION, 'Tus-Version': TUS_VERSION } as const;

/** The server's capabilities, for OPTIONS. `maxBytes` 0 = no limit. */
export function abilities(maxBytes: number): Record<string, string> {
  return {
    'Tus-Version': TUS_VERSION,
    'Tus-Extension': EXTENSIONS.join(','),
    'Tus-Checksum-Algorithm': ALGORITHMS.join(','),
    ...(maxBytes > 0 ? { 'Tus-Max-Size': String(maxBytes) } : {}),
  };
}

/** @throws GatewayError unsupported_version */
export function requireVersion({ headers }: HttpRequest): void {
  if (headers.get('tus-resumable') === TUS_VERSION) return;
  throw refusal('unsupported_version', `Tus-Resumable must be ${TUS_VERSION}`);
}

/** Otherwise a part of a file would become a separate file. @throws GatewayError bad_request */
export function refuseConcatenation({ headers }: HttpRequest): void {
  if (!headers.has('upload-concat')) return;
  throw refusal('bad_request', 'Upload-Concat: uploads are not joined here, as Tus-Extension says');
}

/** @throws GatewayError unsupported_media_type */
export function requirePiece({ headers }: HttpRequest): void {
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== PIECE_TYPE) throw refusal('unsupported_media_type', `the bytes of an upload are ${PIECE_TYPE}`);
}

/** A field with a number of bytes; undefined if it is absent. @throws GatewayError bad_request */
export function byteField({ headers }: HttpRequest, field: 'Upload-Offset' | 'Upload-Length'): number | undefined {
  const text = headers.get(field.toLowerCase());
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw refusal('bad_request', `${field} must be a number of bytes`);
  return Number(text);
}

/** The announced length of a new upload; undefined = announced later. @throws GatewayError bad_request */
export function lengthOf(request: HttpRequest): number | undefined {
  const length = byteField(request, 'Upload-Length');
  const deferred = request.headers.get('upload-defer-length');
  if (deferred !== undefined && deferred !== '1') throw refusal('bad_request', 'Upload-Defer-Length must be 1');
  if ((length === undefined) === (deferred === undefined))
    throw refusal('bad_request', 'either Upload-Length or Upload-Defer-Length: 1 is needed');
  return length;
}

/** The expected digest of a request's bytes. @throws GatewayError bad_request */
export function checksumOf({ headers }: HttpRequest): ExpectedDigest | undefined {
  const field = headers.get('upload-checksum');
  if (field === undefined) return undefined;
  const [name = '', value = ''] = field.split(' ');
  const algorithm = ALGORITHMS.find((known) => known === name);
  if (algorithm === undefined) throw refusal('bad_request', `Upload-Checksum: known are ${ALGORITHMS.join(' and ')}`);
  const digest = Buffer.from(value, 'base64');
  if (digest.length !== DIGEST_BYTES[algorithm] || digest.toString('base64') !== value) {
    throw refusal('bad_request', `Upload-Checksum: a ${algorithm} is ${DIGEST_BYTES[algorithm]} bytes as base64`);
  }
  return { algorithm, value: digest };
}

const MAX_METADATA = 8192;

/** The pairs of Upload-Metadata. @throws GatewayError bad_request */
export function metadataOf({ headers }: HttpRequest): Readonly<Record<string, string>> {
  const field = headers.get('upload-metadata') ?? '';
  if (field.length > MAX_METADATA) throw wrong(`is longer than ${MAX_METADATA} characters`);
  const pairs = new Map<string, string>();
  for (const pair of field === '' ? [] : field.split(',')) {
    const [, key, encoded = ''] = /^ *([\x21-\x2b\x2d-\x7e]+)(?: ([A-Za-z0-9+/]*={0,2}))? *$/.exec(pair) ?? [];
    if (key === undefined) throw wrong('must be pairs of a key and a value in base64, with commas between them');
    if (pairs.has(key)) throw wrong(`has ${key.slice(0, 64)} twice`);
    const bytes = Buffer.from(encoded, 'base64');
    if (bytes.toString('base64') !== encoded) throw wrong(`: the value of ${key.slice(0, 64)} is not base64`);
    if (!isUtf8(bytes)) throw wrong(`: the value of ${key.slice(0, 64)} is not UTF-8`);
    pairs.set(key, bytes.toString());
  }
  return Object.fromEntries(pairs);
}

function wrong(what: string): GatewayError {
  return refusal('bad_request', `Upload-Metadata ${what}`.replace(' :', ':'));
}
