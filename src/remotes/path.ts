import { isUtf8 } from 'node:buffer';
import { keyOfRaw, namesIn, rawOfKey } from '../base/entry-key.js';
import { type GatewayError, refusal } from '../base/errors.js';
import { MAX_NAME_BYTES } from '../base/file-name.js';

declare const brand: unique symbol;
/**
 * A path below a connection's root: absolute, normalised, without `..`, at most 4,096 bytes. Made only here. A byte
 * that is no text is a lone surrogate, U+DC80 to U+DCFF (as in Python's PEP 383): `pathBytes` returns it to the server,
 * `toWellFormed()` makes the path fit for people and JSON. Clients' texts cannot contain one. In a name that is not in
 * the encoding of its connection, and is UTF-8 by chance, each byte beyond ASCII is one.
 */
export type RemotePath = string & { readonly [brand]: 'RemotePath' };

export const ROOT = '/' as RemotePath;
const MAX_PATH_BYTES = 4096;
/** One unit of a text has at most this many bytes in UTF-8. */
const MOST_BYTES = 3;
const CONTROL = /\p{Cc}/u;

/**
 * Parses a client's path. A relative path starts at `base`. `field` names the request field in errors. @throws
 * GatewayError bad_path
 */
export function parseRemotePath(text: string, base: RemotePath, field: string): RemotePath {
  if (text === '') throw refusal('bad_path', `${field} must not be empty`);
  refuseControls(text, field);
  return normalise(text.startsWith('/') ? text : `${base}/${text}`, field);
}

/** Checks a single file name: no slash, no control character, not `.` or `..`. @throws GatewayError bad_path */
export function parseFileName(name: string, field: string): string {
  if (name === '') throw refusal('bad_path', `${field} must not be empty`);
  refuseControls(name, field);
  if (name.includes('/') || name === '.' || name === '..') {
    throw refusal('bad_path', `${field} must be one file name, without "/" and not "." or ".."`);
  }
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw refusal('bad_path', `${field} must be at most ${MAX_NAME_BYTES} bytes`);
  }
  return name;
}

/** The path of `name` inside `folder`; `name` has passed parseFileName. */
export function joinPath(folder: RemotePath, name: string): RemotePath {
  const joined = folder === '/' ? `/${name}` : `${folder}/${name}`;
  return within(joined, 'path');
}

export function baseName(path: RemotePath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function hasLongName(path: string): boolean {
  return path.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
}

/** The folder that contains `path`; the parent of the root is the root. */
export function parentOf(path: RemotePath): RemotePath {
  return (path.slice(0, path.lastIndexOf('/')) || '/') as RemotePath;
}

/**
 * Returns `path` with the exact bytes of its last name, base64, or of its last names separated by slashes. They must
 * match those names as text: they come from a listing's `rawName` beside a `path`. @throws GatewayError bad_path
 */
export function withRawName(path: RemotePath, rawName: string, field: string): RemotePath {
  const bytes = Buffer.from(rawName, 'base64');
  const refuse = (text: string): GatewayError => refusal('bad_path', `${field} ${text}`);
  if (bytes.length === 0 || bytes.toString('base64') !== rawName) throw refuse('must be padded base64');
  // One character for each byte, so that it can be split.
  const names = bytes
    .toString('latin1')
    .split('/')
    .map((name) => Buffer.from(name, 'latin1'));
  if (names.some(({ length }) => length > MAX_NAME_BYTES))
    throw refuse(`must be at most ${MAX_NAME_BYTES} bytes a name`);
  const shown = path.slice(1).split('/');
  const above = shown.splice(0, Math.max(0, shown.length - names.length));
  // All characters that a name must not contain are ASCII, so they would show here.
  const meant = names.map((name, index) => nameShownAs(name, shown[index] ?? ''));
  if (shown.length !== names.length || meant.includes(undefined)) {
    throw refuse('is not the name that the path ends with');
  }
  return within(`/${[...above, ...meant].join('/')}`, field);
}

/** The name with these bytes that is shown in this way. Decoders differ in how many replacement characters they use. */
function nameShownAs(name: Buffer, shown: string): string | undefined {
  if (textOfRaw(name).toWellFormed() === shown) return textOfRaw(name);
  return name.toString('utf8') === shown ? textOfBytes(name) : undefined;
}

/**
 * The bytes from the first name on that is no text, base64: the input of `withRawName`. Undefined if all names are text.
 * Names below it that are text are in UTF-8.
 */
export function rawNamesOf(path: RemotePath): string | undefined {
  // Asked for each entry of a list.
  if (path.isWellFormed()) return undefined;
  const names = path.slice(1).split('/');
  const first = names.findIndex((name) => !name.isWellFormed());
  return pathBytes(names.slice(first).join('/')).toString('base64');
}

const ESCAPED = { from: 0xdc80, to: 0xdcff, byte: 0xdc00 } as const;

/** The text of a name that is not in the encoding of its connection. */
export function textOfRaw(bytes: Buffer): string {
  if (!isUtf8(bytes)) return textOfBytes(bytes);
  return bytes
    .toString('latin1')
    .replace(/[\x80-\xFF]/g, (byte) => String.fromCharCode(ESCAPED.byte + byte.charCodeAt(0)));
}

/** The text that `pathBytes` turns into these bytes. */
export function textOfBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  // A server can send a lot of this: each byte must cost little.
  for (let at = 0; at < bytes.length;) {
    const first = bytes.readUInt8(at);
    const end = at + lengthFrom(first);
    const isCharacter = end > at && (first < 0x80 || (end <= bytes.length && isUtf8(bytes.subarray(at, end))));
    if (!isCharacter) text += String.fromCharCode(ESCAPED.byte + first);
    else text += first < 0x80 ? String.fromCharCode(first) : bytes.toString('utf8', at, end);
    at = isCharacter ? end : at + 1;
  }
  return text;
}

/** The bytes of a character of UTF-8 that begins with this one; 0 = none does. */
function lengthFrom(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

/** The bytes of a path or name on the server. */
export function pathBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const pieces = Array.from(text, (character) => {
    const unit = character.charCodeAt(0);
    const isEscaped = unit >= ESCAPED.from && unit <= ESCAPED.to;
    return isEscaped ? Buffer.of(unit - ESCAPED.byte) : Buffer.from(character);
  });
  return Buffer.concat(pieces);
}

/** The bytes of a path or name wherever it is kept, other than on its server; see `keyOfRaw`. */
export function pathKeyOf(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const names = text.split('/').map((name) => (name.isWellFormed() ? Buffer.from(name) : keyOfRaw(pathBytes(name))));
  return Buffer.concat(names.flatMap((name, index) => (index === 0 ? [name] : [SLASH, name])));
}

const SLASH = Buffer.from('/');

/** The text that `pathKeyOf` turns into these bytes. */
export function textOfKey(key: Buffer): string {
  const textOf = (name: Buffer): string => {
    const raw = rawOfKey(name);
    return raw === undefined ? name.toString() : textOfRaw(raw);
  };
  return namesIn(key).map(textOf).join('/');
}

/** The path of this key below `folder`: names separated by slashes; empty = the folder itself. */
export function pathBelow(folder: RemotePath, below: Buffer): RemotePath {
  return below.length === 0 ? folder : joinPath(folder, textOfKey(below));
}

/** The `rawName` of a name: undefined if it is text. */
export function rawNameOf(name: string): string | undefined {
  return name.isWellFormed() ? undefined : pathBytes(name).toString('base64');
}

/** Puts a client-visible path below a connection's `rootPath`, for use by the protocol. */
export function underRoot(rootPath: string, path: RemotePath): string {
  const root = rootPath.endsWith('/') ? rootPath.slice(0, -1) : rootPath;
  return path === '/' ? root || '/' : root + path;
}

function normalise(text: string, field: string): RemotePath {
  const parts: string[] = [];
  for (const part of text.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (parts.pop() === undefined) {
        throw refusal('bad_path', `${field} leaves the connection's root by ".."`);
      }
    } else {
      parts.push(part);
    }
  }
  return within(`/${parts.join('/')}`, field);
}

function within(path: string, field: string): RemotePath {
  // Bytes of short paths need not be counted.
  if (path.length * MOST_BYTES > MAX_PATH_BYTES && Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw refusal('bad_path', `${field} must be at most ${MAX_PATH_BYTES} bytes`);
  }
  return path as RemotePath;
}

function refuseControls(text: string, field: string): void {
  if (CONTROL.test(text)) {
    throw refusal('bad_path', `${field} must not hold control characters (CR, LF, NUL …)`);
  }
  if (!text.isWellFormed()) throw refusal('bad_path', `${field} must be well-formed Unicode`);
}
