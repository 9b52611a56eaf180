/** What is kept of a try to be looked at later: bounded, and without what is secret. */
import { hasReadableLogin } from '../base/formats.js';

/** Of an answer's header. */
const HEADER_BYTES = 4096;
const VALUE_LENGTH = 1024;
const REMOVED = '[removed]';
const SECRET_FIELDS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

type Headers = Readonly<Record<string, string>>;

/** Fields in their order; what goes beyond the bound is left out. `hidden`: texts that must show nowhere. */
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
  // Of a field that comes twice both values are told, as HTTP joins them.
  const joined = new Map<string, string>();
  for (const [name, text] of shown) joined.set(name, joined.has(name) ? `${joined.get(name)}, ${text}` : text);
  return Object.fromEntries(joined);
}

/** A receiver that answers with what it was sent tells the login, too. */
export function without(text: string, hidden: readonly string[]): string {
  return hidden.reduce((left, secret) => (secret === '' ? left : left.replaceAll(secret, REMOVED)), text);
}

/** Of a URL with a login: how it may come back. */
export function loginTexts(url: string): readonly string[] {
  const parsed = new URL(url);
  const { username, password } = parsed;
  if (username === '' && password === '') return [];
  // Of one that was taken before such were refused.
  if (!hasReadableLogin(parsed)) return [username, password];
  const [user, word] = [decodeURIComponent(username), decodeURIComponent(password)];
  const texts = [Buffer.from(`${user}:${word}`).toString('base64'), `${user}:${word}`];
  // A short one would tear holes into texts that have nothing to do with it.
  return word.length < 6 ? texts : [...texts, word, password];
}
