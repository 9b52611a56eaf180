/** Hints after a failed command: what was probably meant, with words of the command line. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { nearestName } from '../base/nearest-name.js';
import { FtgError } from '../client/index.js';
import { textsOfError } from '../contract/errors.js';
import { UsageError } from './exit-codes.js';
import { inFlags } from './flag-words.js';
import type { Gateway } from './gateway.js';
import { isFolder, isPlace, NotAPlace, parseLocation } from './location.js';

/** A failed request, described with the words of its command. */
class HintedError extends FtgError {
  constructor(
    message: string,
    error: FtgError,
    readonly hint: string | undefined,
  ) {
    super(message, error);
  }
}

/** The gateway that hints may ask. */
interface Session {
  readonly gateway: Gateway;
  readonly signal: AbortSignal;
}

interface Called {
  readonly command: Command;
  readonly args: readonly string[];
  readonly session: Session;
}

/** The same failure with a hint, if there is one. Never fails itself. */
export async function withHint(thrown: unknown, called: Called): Promise<unknown> {
  if (called.session.signal.aborted) return thrown;
  try {
    if (thrown instanceof NotAPlace) return new UsageError(thrown.message, await placeHint(thrown.text, called));
    if (!(thrown instanceof FtgError)) return thrown;
    const hint = await hintOf(thrown, called);
    return new HintedError(messageOf(thrown, called.command), thrown, hint);
  } catch {
    return thrown;
  }
}

function messageOf({ message, code }: FtgError, { options }: Command): string {
  if (code !== 'already_exists') return inFlags(message, options);
  return message
    .replace('exists and overwrite is false', 'exists, and --no-overwrite keeps it')
    .replace('overwrite: true replaces it', '--overwrite replaces it');
}

async function hintOf(error: FtgError, { command, args, session }: Called): Promise<string | undefined> {
  switch (error.code) {
    case 'unknown_connection':
      return connectionHint(/no connection (\S+)/.exec(error.message)?.[1] ?? '', session);
    case 'is_a_folder':
      return folderHint(command.name(), args, session);
    case 'unauthenticated':
      return '"ftg profiles" lists what is kept here, "ftg login" logs in, and FTG_KEY takes an API key';
    case 'network_error':
      return `"ftg doctor" checks the way to ${session.gateway.url}`;
    default:
      return textsOfError(error.code)?.remedy;
  }
}

/** The target is a folder and lacks its slash, or the source is one and lacks -r. */
async function folderHint(name: string, args: readonly string[], session: Session): Promise<string | undefined> {
  const target = args.at(-1) ?? '';
  if (!['put', 'cp', 'mv'].includes(name) || !isPlace(target)) return undefined;
  const { connectionId, path } = parseLocation(target);
  if (!isFolder(path)) {
    const { file } = await session.gateway.files.exists(connectionId, path, { signal: patience(session) });
    if (file?.isDirectory === true) return `did you mean ${target}/ ?`;
  }
  return name === 'put' ? undefined : `${args[0] ?? ''} is a folder: use -r`;
}

const MOST_NAMED = 8;

async function connectionHint(given: string, session: Session): Promise<string | undefined> {
  const ids = await connectionIds(session);
  const near = nearestName(given, ids);
  if (near !== undefined) return `did you mean ${near} ?`;
  if (ids.length === 0) return 'this key has no connections: see "ftg connections create --help"';
  const more = ids.length > MOST_NAMED ? ', …' : '';
  return `there are: ${ids.slice(0, MOST_NAMED).join(', ')}${more}`;
}

/** A local path in place of a remote one, the reverse, or a place without its colon. */
async function placeHint(given: string, { command, args, session }: Called): Promise<string | undefined> {
  const name = command.name();
  const [first = '', last = ''] = [args[0], args.at(-1)];
  if (name === 'put' && args.length > 1 && args.slice(0, -1).every((one) => isPlace(one)))
    return `put uploads; to download: ftg get ${quoted(first)} ${quoted(last)}`;
  if (name === 'get' && isPlace(last)) return `get downloads; to upload: ftg put ${quoted(first)} ${quoted(last)}`;
  if (name === 'cp' || name === 'mv') {
    const what = `${name} is between places on servers`;
    if (isPlace(last)) return `${what}; to upload: ftg put ${quoted(first)} ${quoted(last)}`;
    if (isPlace(first)) return `${what}; to download: ftg get ${quoted(first)} ${quoted(last)}`;
  }
  const ids = await connectionIds(session);
  if (ids.includes(given)) return `did you mean ${given}: ?`;
  const near = nearestName(given, ids);
  if (near !== undefined) return `did you mean ${near}: ?`;
  const [only = 'CONNECTION'] = ids.length === 1 ? ids : [];
  if (name === 'put') return `did you mean ${quoted(`${only}:${given}/`)} ?`;
  if (existsSync(given)) return `it is a file of this machine; one on a server is ${only}:PATH`;
  return `did you mean ${quoted(`${only}:${given}`)} ?`;
}

async function connectionIds(session: Session): Promise<readonly string[]> {
  const listed = await session.gateway.files.connections({ signal: patience(session) });
  return listed.map(({ id }) => id);
}

/** A hint is not worth a long wait. */
function patience({ signal }: Session): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(2_000)]);
}

/** Quoted for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** For errors of commander; `command` is the selected one, `words` the whole command line. */
export function usageHint(message: string, command: Command, words: readonly string[]): string {
  const [, given] = /unknown option '(-[^']*)'/.exec(message) ?? [];
  if (given !== undefined && command.name() === 'exec') {
    const [connection = 'CONNECTION', ...rest] = words.slice(words.indexOf('exec') + 1).map(quoted);
    return `put "--" before a command with options: ftg exec ${connection} -- ${rest.join(' ')}`;
  }
  const other = command.options.find(({ short }) => short?.toLowerCase() === given?.toLowerCase());
  if (given !== undefined && other !== undefined) return `did you mean ${other.short ?? ''} ?`;
  return command.name() === 'ftg' ? 'ftg help shows the commands' : `${nameOf(command)} --help shows the options`;
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
