/**
 * The meaning of server replies. RFC 959 fixes the codes only loosely: 550 can mean "absent", "refused", "a folder" or
 * "disk full". So the words decide if they can, and otherwise callers look further.
 */
import { GatewayError, type ErrorCode, type RemoteReply, type Step } from '../../../base/errors.js';

export interface Reply {
  readonly code: number;
  /** All lines, joined by LF, with the code as the server sent it. */
  readonly text: string;
}

const MISSING =
  /no such|not found|does ?n.t exist|does not exist|cannot find|can't find|can't check for file existence|unknown file/i;
const DENIED = /permission|denied|not permitted|not allowed|unauthori[sz]ed|read-?only|forbidden/i;
const NO_SPACE = /no space|disk full|quota|insufficient storage|exceeded storage|not enough space/i;
const TOO_MANY =
  /too many|maximum|max(?:imum)? number|already (?:logged in|connected)|no more|limit (?:reached|exceeded)|connection limit/i;
/** "Too many wrong passwords" is a refused login, not a full server. */
const WRONG_LOGIN = /password|attempt|fail|incorrect|invalid|credential/i;
const BAD_NAME =
  /(?:prohibited|illegal|invalid|bad|unacceptable|forbidden) (?:file ?|path ?|directory ?|folder ?)?name|illegal character/i;
const MAX_STRAY_WORDS = 100;
const FOLDER = /is a directory|is a folder|not a (?:plain|regular) file/i;

export const isPositive = (reply: Reply): boolean => reply.code >= 200 && reply.code < 300;
/** The server does not know the command (or this use of it). */
export const isUnsupported = (reply: Reply): boolean => reply.code === 500 || reply.code === 502 || reply.code === 504;
export const saysMissing = (reply: Reply): boolean => MISSING.test(reply.text);
export const saysNoFolder = (reply: Reply): boolean => /not a directory/i.test(reply.text);
export const saysDenied = (reply: Reply): boolean => DENIED.test(reply.text);

/** The words of a reply, for errors; `secrets` are always removed, even if the server echoes them. */
export function spoken(reply: Reply, secrets: Secrets = []): RemoteReply {
  const lines = reply.text.split('\n').map((line) => line.replace(/^\d{3}[- ]/, '').trim());
  const text = lines.filter((line) => line !== '').join(' ');
  return { code: reply.code, text: redacted(text, secrets) };
}

/** What was sent at the login. */
export type Secrets = readonly (string | undefined)[];

/** The longest first: one secret may be a part of another. */
export function redacted(text: string, secrets: Secrets): string {
  const given = secrets.filter((secret) => secret !== undefined && secret !== '') as string[];
  return given.sort((one, other) => other.length - one.length).reduce((left, one) => left.replaceAll(one, '***'), text);
}

/**
 * Translates a refusal into an error. `subject` begins the message ("reading /a"); `unclear` is what a 450, 550 or 553
 * means if its words do not say, which a caller knows after looking up the path.
 */
export function refusedBy(
  reply: Reply,
  step: Step,
  subject: string,
  unclear: ErrorCode = 'remote_failure',
): GatewayError {
  const code = meaningOf(reply, unclear);
  return new GatewayError(code, `${subject}: ${MEANING_WORDS[code] ?? 'the FTP server refused'}`, {
    step,
    remote: spoken(reply),
  });
}

const MEANING_WORDS: Partial<Record<ErrorCode, string>> = {
  not_found: 'there is no such file or folder',
  permission_denied: 'the FTP server denies permission',
  bad_path: 'the FTP server does not take this name',
  no_space: 'the FTP server has no space left',
  is_a_folder: 'a folder is there',
  connection_lost: 'the FTP server gave up the connection',
  login_refused: 'the FTP server no longer accepts the login',
  protocol_error: 'the FTP server answered out of step',
};

function meaningOf({ code, text }: Reply, unclear: ErrorCode): ErrorCode {
  if (code < 400) return 'protocol_error';
  if (code === 421 || code === 425 || code === 426) return 'connection_lost';
  if (code === 452 || code === 552 || NO_SPACE.test(text)) return 'no_space';
  if (code === 530) return 'login_refused';
  if (code === 532) return 'permission_denied';
  if (code !== 450 && code !== 451 && code !== 550 && code !== 553) return 'remote_failure';
  if (BAD_NAME.test(text)) return 'bad_path';
  if (MISSING.test(text)) return 'not_found';
  if (FOLDER.test(text)) return 'is_a_folder';
  if (DENIED.test(text)) return 'permission_denied';
  return code === 451 ? 'remote_failure' : unclear;
}

/** Translates a refused greeting, USER, PASS or ACCT. `secrets` are removed from the server's words. */
export function loginRefusal(reply: Reply, host: string, secrets: Secrets): GatewayError {
  const details = { step: 'login', remote: spoken(reply, secrets) } as const;
  const full = reply.code === 421 || (TOO_MANY.test(reply.text) && !WRONG_LOGIN.test(reply.text));
  if (full) return new GatewayError('too_many_sessions', `${host} admits no further FTP session`, details);
  if (reply.code < 400 || reply.code > 599)
    return new GatewayError('protocol_error', `${host} answered the login out of step`, details);
  return new GatewayError('login_refused', `${host} refused the login; check username and password`, details);
}

/** The error for a control or data connection that ended without being closed by us. */
export function connectionLost(host: string, cause: unknown, remote?: RemoteReply): GatewayError {
  return new GatewayError('connection_lost', `the connection to ${host} was lost`, { step: 'transfer', cause, remote });
}

/** A reply that belongs to no command, or to another one: later replies on this connection cannot be trusted. */
export function outOfStep(host: string, reply: Reply, awaited?: string): GatewayError {
  const what = awaited === undefined ? 'spoke unasked' : `did not answer ${awaited} as RFC 959 and RFC 3659 say`;
  return new GatewayError('protocol_error', `${host} ${what}; the session was given up`, {
    step: 'transfer',
    remote: spoken(reply),
  });
}

/** Text where a reply was expected: an HTTP server, an SSH server, or arbitrary bytes. */
export function notAReply(host: string, line: string): GatewayError {
  return new GatewayError('protocol_error', `${host} does not speak FTP where a reply was to come`, {
    step: 'transfer',
    remote: { text: line.slice(0, MAX_STRAY_WORDS) },
  });
}
