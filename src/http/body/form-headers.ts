import { isUtf8 } from 'node:buffer';
import { type GatewayError, refusal } from '../../base/errors.js';
import { requireIdentity } from './foreign-coding.js';

/** A header value of the shape `value; name=value; name="value"` (RFC 2045, RFC 6266). Names are in lower case. */
interface ParameterizedHeader {
  readonly value: string;
  readonly params: ReadonlyMap<string, string>;
}

/** One parameter: its name, then a quoted string or a token. */
const PARAMETER = /\s*;\s*(?:([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^;"]*)))?/y;

/**
 * Splits a header value into its value and parameters; returns undefined for another shape. Only `\"` and `\\` are
 * taken as escapes: browsers do not escape a backslash, and old ones send whole Windows paths.
 */
function parseParameters(header: string): ParameterizedHeader | undefined {
  const end = header.indexOf(';');
  const value = (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
  const params = new Map<string, string>();
  let at = end === -1 ? header.length : end;
  while (at < header.trimEnd().length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(header);
    if (match === null) return undefined;
    at = PARAMETER.lastIndex;
    const [, name, quoted, token] = match;
    if (name === undefined) continue;
    if (params.has(name.toLowerCase())) return undefined;
    params.set(name.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? token?.trim() ?? '');
  }
  return { value, params };
}

/** The boundary of a multipart/form-data body (RFC 2046, section 5.1.1); throws bad_request without a usable one. */
export function parseBoundary(contentType: string): string {
  const header = parseParameters(contentType);
  const boundary = header?.params.get('boundary') ?? '';
  if (header?.value !== 'multipart/form-data' || !/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary)) {
    throw badForm('Content-Type must be multipart/form-data with a boundary of 1 to 70 characters');
  }
  return boundary;
}

interface PartHeaders {
  readonly name: string;
  /** The last segment of the name that the client sent; undefined if it sent none or an empty one. */
  readonly filename: string | undefined;
  /** Whether a file name was sent at all, even an empty one. */
  readonly hasFilename: boolean;
  readonly contentType: string | undefined;
}

/** The longest header block of one part; real ones have 200 bytes. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Reads the headers of one part (RFC 7578, section 4). `headers` holds bytes as latin1 strings, names in lower case. */
export function parsePartHeaders(headers: Readonly<Record<string, readonly string[]>>): PartHeaders {
  const bytes = Object.entries(headers).reduce((sum, [name, values]) => sum + name.length + values.join('').length, 0);
  if (bytes > MAX_HEADER_BYTES) throw badForm(`the headers of a part are over ${MAX_HEADER_BYTES} bytes`);
  const dispositions = headers['content-disposition'] ?? [];
  const text = dispositions.length === 1 ? fromUtf8(dispositions[0]!) : undefined;
  const disposition = text === undefined ? undefined : parseParameters(text);
  const name = disposition?.params.get('name');
  if (disposition?.value !== 'form-data' || name === undefined || name === '') {
    throw badForm('a part has no Content-Disposition: form-data with a name, in UTF-8');
  }
  const encoding = headers['content-transfer-encoding']?.[0]?.trim().toLowerCase() ?? 'binary';
  if (!['7bit', '8bit', 'binary'].includes(encoding)) {
    // Without decoding, the encoded text would be stored in place of the file (deprecated: RFC 7578, section 4.7).
    throw badForm(`part ${quote(name)} has a Content-Transfer-Encoding; send its bytes as they are`);
  }
  requireIdentity(headers['content-encoding']?.join());
  const sent = sentFilename(disposition.params, name);
  return {
    name: unescapeQuotes(name),
    filename: sent === undefined ? undefined : lastSegment(sent),
    hasFilename: sent !== undefined,
    contentType: headers['content-type']?.[0]?.trim(),
  };
}

/** `filename*` has a charset and takes precedence over `filename` (RFC 6266, section 4.3). */
function sentFilename(params: ReadonlyMap<string, string>, part: string): string | undefined {
  const extended = params.get('filename*');
  if (extended === undefined) {
    const plain = params.get('filename');
    return plain === undefined ? undefined : unescapeQuotes(plain);
  }
  const decoded = decodeExtended(extended);
  if (decoded === undefined)
    throw badForm(`filename* of part ${quote(part)} is not of the form UTF-8''percent-encoded`);
  return decoded;
}

/** RFC 8187: charset'language'percent-encoded. */
function decodeExtended(value: string): string | undefined {
  const match = /^(utf-8|iso-8859-1)'[^']*'((?:[\x21-\x24\x26-\x7e]|%[0-9a-f]{2})*)$/i.exec(value);
  if (match === null) return undefined;
  const bytes = Buffer.from(
    match[2]!.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  if (match[1]!.toLowerCase() === 'iso-8859-1') return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Browsers write a quote in a name as %22, and escape no other character of a file name (HTML, form submission). */
function unescapeQuotes(text: string): string {
  return text.replaceAll('%22', '"');
}

/** Cut at both separators: a file name contains no folder, and old browsers send the client's own path. */
function lastSegment(filename: string): string | undefined {
  const segment = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1);
  return segment === '' ? undefined : segment;
}

function fromUtf8(latin1: string): string | undefined {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** A name in the form that errors show. */
export function quote(name: string): string {
  return JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 64)}…`);
}

export function badForm(message: string): GatewayError {
  return refusal('bad_request', `bad form: ${message}`);
}
