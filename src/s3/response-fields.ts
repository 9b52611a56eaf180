/** Fields of an answer that the client chooses in its query, as in `response-content-type=text/html`. */
import { attachment } from '../http/answer.js';
import { S3Error } from './errors.js';

const FIELDS = {
  'response-content-type': 'Content-Type',
  'response-content-disposition': 'Content-Disposition',
  'response-content-language': 'Content-Language',
  'response-content-encoding': 'Content-Encoding',
  'response-cache-control': 'Cache-Control',
  'response-expires': 'Expires',
} as const;

export const RESPONSE_PARAMETERS = Object.keys(FIELDS);

/** @throws S3Error InvalidArgument for a value that no field can have */
export function chosenFields(query: URLSearchParams): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const [parameter, field] of Object.entries(FIELDS)) {
    const value = query.get(parameter);
    if (value === null) continue;
    if (/\p{Cc}/u.test(value)) throw new S3Error('InvalidArgument', `${parameter} must have no control characters`);
    chosen[field] = isLatin1(value) ? value : encoded(parameter, value);
  }
  return chosen;
}

const isLatin1 = (text: string): boolean => !/[^\0-\xff]/.test(text);

/** RFC 9110 allows no more than Latin-1 in a field; RFC 6266 has a form for any file name. */
function encoded(parameter: string, value: string): string {
  const disposition = parameter === 'response-content-disposition' ? withEncodedName(value) : undefined;
  if (disposition !== undefined) return disposition;
  const text = `${parameter} must have no characters beyond ISO 8859-1, except in the file name of a disposition`;
  throw new S3Error('InvalidArgument', text);
}

const DISPOSITION = /^\s*[\w!#$%&'*+.^`|~-]+/;
const PARAMETER = /\s*;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;"]+)/guy;

/** Undefined if it is no disposition, or another parameter than the name has such characters. */
function withEncodedName(value: string): string | undefined {
  const [type = ''] = DISPOSITION.exec(value) ?? [];
  const parameters = [...value.slice(type.length).matchAll(PARAMETER)];
  const known = type + parameters.map(([text]) => text).join('');
  if (type === '' || value.slice(known.length).trim() !== '') return undefined;
  const hasEncodedName = parameters.some(([, name]) => name?.toLowerCase() === 'filename*');
  let field = type;
  for (const [text, name, content = ''] of parameters) {
    if (isLatin1(text)) field += text;
    else if (name?.toLowerCase() !== 'filename') return undefined;
    // Clients prefer the encoded name that is there.
    else if (!hasEncodedName) field += attachment(unquoted(content)).replace(/^attachment/, '');
  }
  return field;
}

const unquoted = (content: string): string =>
  content.startsWith('"') ? content.slice(1, -1).replace(/\\(.)/gu, '$1') : content;
