/** The identity of a file in a tree: the exact bytes of its path below the tree's root, UTF-8 or not. */
import { isUtf8 } from 'node:buffer';

/** `folder`: the path of its folder below the root, "" for the root. */
export function entryKey(folder: string, file: { readonly name: string; readonly rawName?: string }): Buffer {
  const name = file.rawName === undefined ? Buffer.from(file.name) : keyOfRaw(Buffer.from(file.rawName, 'base64'));
  return folder === '' ? name : Buffer.concat([Buffer.from(`${folder}/`), name]);
}

interface EntryName {
  /** Below the root; bytes that are not text are shown as replacement characters. */
  readonly path: string;
  readonly name: string;
  /** The base64 bytes of a name that is not text. */
  readonly rawName: string | undefined;
}

export function nameOfKey(key: Buffer): EntryName {
  const raw = rawOfKey(key.subarray(key.lastIndexOf(SLASH) + 1));
  const path = namesIn(key).map(shownName).join('/');
  return { path, name: path.slice(path.lastIndexOf('/') + 1), rawName: raw?.toString('base64') };
}

const SLASH = 0x2f;
/** The first bytes of a lone surrogate, U+DC80 to U+DCFF, which UTF-8 does not have. */
const ESCAPE = /\xED[\xB2\xB3]/;
const ESCAPES = /\xED([\xB2\xB3])([\x80-\xBF])/g;

const isEscaped = (bytes: Buffer): boolean => !isUtf8(bytes) && ESCAPE.test(bytes.toString('latin1'));

/** The names of a key, or of a part of it. One that is UTF-8 as a whole has no others in it. */
export function namesIn(key: Buffer): Buffer[] {
  if (!isEscaped(key)) return [key];
  return key
    .toString('latin1')
    .split('/')
    .map((name) => Buffer.from(name, 'latin1'));
}

/**
 * The key of a name that is no text on its server. In an encoding other than UTF-8, its bytes may be UTF-8 by chance, and
 * another file may have that text as its name: then each byte is an escape, a surrogate.
 */
export function keyOfRaw(raw: Buffer): Buffer {
  if (!isUtf8(raw) && !isEscaped(raw)) return raw;
  const escaped = raw.toString('latin1').replace(/[\x80-\xFF]/g, (byte) => {
    const code = byte.charCodeAt(0);
    return `\xED${code < 0xc0 ? '\xB2' : '\xB3'}${String.fromCharCode(0x80 | (code & 0x3f))}`;
  });
  return Buffer.from(escaped, 'latin1');
}

/** The bytes of a name on its server; undefined if it is text. */
export function rawOfKey(name: Buffer): Buffer | undefined {
  if (isUtf8(name)) return undefined;
  if (!isEscaped(name)) return name;
  const raw = name
    .toString('latin1')
    .replace(ESCAPES, (_, upper: string, lower: string) =>
      String.fromCharCode((lower.charCodeAt(0) & 0x3f) | (upper === '\xB2' ? 0x80 : 0xc0)),
    );
  return Buffer.from(raw, 'latin1');
}

function shownName(name: Buffer): string {
  const raw = rawOfKey(name);
  return raw !== undefined && isUtf8(raw) ? raw.toString('latin1').replace(/[\x80-\xFF]/g, '\uFFFD') : name.toString();
}
