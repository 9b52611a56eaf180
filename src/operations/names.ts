/** Names of transferred files: templates, names found in headers and URLs, temporary names. */
import { randomBytes } from 'node:crypto';
import contentDisposition from 'content-disposition';
import { MAX_NAME_BYTES, nameEnd } from '../base/file-name.js';
import { uuidv7 } from '../base/uuid.js';
import { refusal } from '../base/errors.js';
import { FILENAME_TOKENS, type FilenameToken, SHOWN_FILENAME_TOKENS } from '../contract/file-request.js';
import { TEMPORARY_PREFIX } from '../remotes/leftovers.js';
import { parseFileName } from '../remotes/path.js';

/** The time and the id that the tokens of one upload share, however often its name is computed. */
export interface TemplateFacts {
  readonly now: Date;
  readonly uuid: string;
}

export function templateFacts(now: Date = new Date()): TemplateFacts {
  return { now, uuid: uuidv7() };
}

/**
 * @throws GatewayError bad_request for an unknown token; bad_path for text around the tokens that a file name must not
 * contain
 */
export function checkTemplate(template: string): void {
  for (const [token, name] of template.matchAll(TOKEN)) {
    if (!Object.hasOwn(FILENAME_TOKENS, name ?? '')) {
      throw refusal(
        'bad_request',
        `filename_template: unknown token ${token.slice(0, 40)}; known are ${SHOWN_FILENAME_TOKENS.join(' ')}`,
      );
    }
  }
  parseFileName(template.replace(TOKEN, 'x'), 'filename_template');
}

const TOKEN = /\{([^{}]*)\}/g;

/**
 * Applies a template (all times UTC). If it gives the result no extension and has neither `{ext}` nor `{filename}`, the
 * original extension is kept; a dot inside a value (`{name}` of `v1.2.csv`) is no extension. @throws GatewayError
 * bad_request, bad_path
 */
export function applyTemplate(template: string, filename: string, { now, uuid }: TemplateFacts): string {
  checkTemplate(template);
  const { name, ext } = splitExtension(filename);
  const iso = now.toISOString();
  const compact = iso.replace(/[-:]/g, '');
  const values: Readonly<Record<FilenameToken, string>> = {
    filename,
    name,
    ext,
    date: iso.slice(0, 10),
    time: compact.slice(9, 15),
    datetime: `${compact.slice(0, 15)}Z`,
    timestamp: String(Math.floor(now.getTime() / 1000)),
    year: iso.slice(0, 4),
    month: iso.slice(5, 7),
    day: iso.slice(8, 10),
    uuid,
  };
  // A file without an extension leaves no trailing dot after `{name}.{ext}`.
  const cleaned = ext === '' ? template.replaceAll('.{ext}', '') : template;
  const result = cleaned.replace(TOKEN, (_token, token: FilenameToken) => values[token]);
  const givesExtension =
    template.includes('{ext}') ||
    template.includes('{filename}') ||
    splitExtension(cleaned.replace(TOKEN, 'x')).ext !== '';
  const complete = givesExtension || ext === '' || result === '' ? result : `${result}.${ext}`;
  return parseFileName(complete, 'filename_template');
}

/** The requested or suggested name. @throws GatewayError bad_request if there is none; bad_path */
export function requireName(name: string | undefined): string {
  if (name === undefined || name === '') throw refusal('bad_request', 'filename is missing');
  return parseFileName(name, 'filename');
}

/** `report.tar.gz` → name `report.tar`, ext `gz`; a leading dot starts no extension. */
function splitExtension(filename: string): { readonly name: string; readonly ext: string } {
  const dot = filename.lastIndexOf('.');
  return dot <= 0 || dot === filename.length - 1
    ? { name: filename, ext: '' }
    : { name: filename.slice(0, dot), ext: filename.slice(dot + 1) };
}

/**
 * The file name in a Content-Disposition field (RFC 6266), without any folder; undefined if it has none. If filename*
 * cannot be decoded, filename is used (RFC 6266, 4.3).
 */
export function nameFromDisposition(field: string | undefined): string | undefined {
  if (field === undefined) return undefined;
  const name = filenameParameter(field) ?? filenameParameter(field.replace(/;\s*filename\*\s*=[^;]*/gi, ''));
  return name === undefined ? undefined : lastSegment(utf8OrAsIs(name));
}

function filenameParameter(field: string): string | undefined {
  let name: string | undefined;
  try {
    name = contentDisposition.parse(field).parameters['filename'];
  } catch {
    return undefined;
  }
  // The parser inserts it for bytes that are not UTF-8.
  const isReplaced = name?.includes('\ufffd') === true && !/%ef%bf%bd/i.test(field);
  return isReplaced ? undefined : name;
}

/** Header bytes arrive as Latin-1, but most senders of characters outside ASCII mean UTF-8. */
function utf8OrAsIs(name: string): string {
  // eslint-disable-next-line no-control-regex
  if (!/^[\u0000-\u00ff]*$/.test(name)) return name;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(name, 'latin1'));
  } catch {
    return name;
  }
}

/** The last path segment of a URL, percent-decoded; undefined if the path ends with a slash. */
export function nameFromUrl(url: URL): string | undefined {
  const segment = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  try {
    return lastSegment(decodeURIComponent(segment));
  } catch {
    return lastSegment(segment);
  }
}

/** undefined if nothing is left that could be a file's name. */
function lastSegment(name: string): string | undefined {
  const segment = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
  return segment === '' || segment === '.' || segment === '..' ? undefined : segment;
}

/** `.ftg-<tag>-<random>.<name>`: hidden, identifies its process or its kind, cut to 255 bytes between characters. */
export function temporaryName(tag: string, name: string): string {
  const prefix = `${TEMPORARY_PREFIX}${tag}-${randomBytes(6).toString('hex')}.`;
  return prefix + nameEnd(name, MAX_NAME_BYTES - prefix.length);
}

/** Whether `name` is a temporary name of the process with this tag. */
export function isTemporaryName(name: string, tag: string): boolean {
  return name.startsWith(`${TEMPORARY_PREFIX}${tag}-`);
}
