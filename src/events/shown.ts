/** The parts of an attempt that are kept for its owner: limited in size, and without secrets. */
import { hasReadableLogin } from '../base/formats.js';

/** The most bytes of header fields. */
const HEADER_BYTES = 4096;
const VALUE_LENGTH = 1024;
const REMOVED = '[removed]';
const SECRET_FIELDS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

type Headers = Readonly<Record<string, string>>;

/** Fields in their order, as far as the limit allows. `hidden`: secret texts, which are removed. */
export function shownHeaders(
  fields: Iterable<readonly [name: string, value: string]>,
  hidden: readonly string[] = [],
): Headers {
  const shown: [string, string][] = [];
  let bytes = 0;
  for (const [name, value] of fields) {
    const field = name.toLowerCase();
    const text = SECRET_FIELDS.has(field) ? REMOVED : without(value, hidden).slice(0, VALUE_LENGTH);
    bytes += Buffer.byteLength(field) + Buffer.byteLength(text);
    if (bytes > HEADER_BYTES) break;
    shown.push([field, text]);
  }
  // The values of a repeated field are joined as in HTTP.
  const joined = new Map<string, string>();
  for (const [name, text] of shown) joined.set(name, joined.has(name) ? `${joined.get(name)}, ${text}` : text);
  return Object.fromEntries(joined);
}

/** Removes the login from an answer: a receiver may echo the request. */
export function without(text: string, hidden: readonly string[]): string {
  return hidden.reduce((left, secret) => (secret === '' ? left : left.replaceAll(secret, REMOVED)), text);
}

/** The forms in which a receiver may echo the login of a URL. */
export function loginTexts(url: string): readonly string[] {
  const parsed = new URL(url);
  const { username, password } = parsed;
  if (username === '' && password === '') return [];
  // Earlier versions accepted such a login.
  if (!hasReadableLogin(parsed)) return [username, password];
  const [user, word] = [decodeURIComponent(username), decodeURIComponent(password)];
  const texts = [Buffer.from(`${user}:${word}`).toString('base64'), `${user}:${word}`];
  // A short password may be part of unrelated texts.
  return word.length < 6 ? texts : [...texts, word, password];
}
