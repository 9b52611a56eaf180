/** Names on a server whose connection has an encoding: as text where they are text in it, as bytes otherwise. */
import { encodingName, TableEncoding, type NameEncoding } from '../base/encoding.js';
import { refusal } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { joinPath, pathBytes, ROOT, textOfBytes, textOfRaw, type RemotePath } from './path.js';

export const UTF_8: NameEncoding = { name: 'utf-8', decode: textOfBytes, encode: pathBytes };

/** By name, and by label in lower case: the standard has about 230 of them. */
const encodings = new Map<string, NameEncoding>([[UTF_8.name, UTF_8]]);

/** The encoding with this label, which has been checked. Its tables are made once, in about 10 ms. */
export function encodingOf(label: string): NameEncoding {
  const key = label.trim().toLowerCase();
  const known = encodings.get(key);
  if (known !== undefined) return known;
  const name = encodingName(label) ?? UTF_8.name;
  const made = encodings.get(name) ?? new TableEncoding(name);
  encodings.set(name, made).set(key, made);
  return made;
}

/** The encoding of the names on the connection's server. */
export const encodingOn = (connection: Connection): NameEncoding =>
  'encoding' in connection ? encodingOf(connection.encoding) : UTF_8;

/** What a text holds that cannot be a name in the encoding; undefined if it can. */
export function inexpressibleIn(encoding: NameEncoding, text: string): string | undefined {
  const missing = encoding === UTF_8 || !text.isWellFormed() ? undefined : encoding.encode(text);
  return typeof missing === 'string' ? faultOf(encoding, missing) : undefined;
}

interface ListedName {
  /** The name; with replacement characters if it is no text. */
  readonly name: string;
  /** The base64 bytes of a name that is no text. */
  readonly rawName: string | undefined;
}

/** The name that a part of a decoded line is. */
export function listedName(encoding: NameEncoding, decoded: string): ListedName {
  if (decoded.isWellFormed()) return { name: decoded, rawName: undefined };
  const bytes = encoding.encode(decoded);
  if (typeof bytes === 'string') return { name: decoded.toWellFormed(), rawName: undefined };
  return { name: textOfRaw(bytes).toWellFormed(), rawName: bytes.toString('base64') };
}

const CONTROL = /\p{Cc}/u;

/** The path, with each raw name as text that is text in the encoding: one file has one path. */
export function asText(encoding: NameEncoding, path: RemotePath): RemotePath {
  if (path.isWellFormed()) return path;
  const named = (name: string): string => {
    const text = name.isWellFormed() ? name : encoding.decode(pathBytes(name));
    return text.isWellFormed() && !CONTROL.test(text) ? text : name;
  };
  return path
    .slice(1)
    .split('/')
    .reduce<RemotePath>((folder, name) => joinPath(folder, named(name)), ROOT);
}

/** The bytes of a path, or of a command with one. @throws GatewayError bad_path if the encoding does not have a character */
export function encodedPath(encoding: NameEncoding, path: string): Buffer {
  if (encoding === UTF_8) return pathBytes(path);
  return Buffer.concat(
    path.split('/').flatMap((name, index) => {
      const bytes = name.isWellFormed() ? encoding.encode(name) : pathBytes(name);
      if (typeof bytes === 'string') {
        throw refusal('bad_path', `the path holds ${faultOf(encoding, bytes)}`);
      }
      return index === 0 ? [bytes] : [SLASH, bytes];
    }),
  );
}

const SLASH = Buffer.from('/');

/** @throws GatewayError bad_path */
export function refuseInexpressible(encoding: NameEncoding, path: string, field: string): void {
  for (const name of path.split('/')) {
    const fault = inexpressibleIn(encoding, name);
    if (fault !== undefined) throw refusal('bad_path', `${field} holds ${fault}`);
  }
}

function faultOf({ name }: NameEncoding, character: string): string {
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${JSON.stringify(character)} (U+${point}), which ${name}, the encoding of the connection, does not have`;
}
