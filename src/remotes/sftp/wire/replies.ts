import { type ErrorCode, GatewayError, messageOf, type Step } from '../../../base/errors.js';
import { hasLongName } from '../../path.js';
import { MalformedReply, REPLY, type Attributes, type Names, type ReplyReader } from './wire.js';

/**
 * SSH_FX_* status codes; those above 8 belong to later versions of the protocol, but version 3 servers also send them.
 */
export const STATUS = {
  OK: 0,
  EOF: 1,
  NO_SUCH_FILE: 2,
  PERMISSION_DENIED: 3,
  FAILURE: 4,
  NO_CONNECTION: 6,
  CONNECTION_LOST: 7,
  OP_UNSUPPORTED: 8,
  NO_SUCH_PATH: 10,
  FILE_ALREADY_EXISTS: 11,
  WRITE_PROTECT: 12,
  NO_SPACE: 14,
  QUOTA_EXCEEDED: 15,
  DIR_NOT_EMPTY: 18,
  NOT_A_DIRECTORY: 19,
  FILE_IS_A_DIRECTORY: 24,
} as const;

/** A request that the server answered with a status other than OK; translated before it leaves this folder. */
export class StatusReply extends Error {
  constructor(
    readonly status: number,
    readonly text: string,
  ) {
    super(`SFTP status ${status}: ${text}`);
  }
}

/** Whether `thrown` is a status reply with one of these codes; without codes: any. */
export function isStatus(thrown: unknown, ...codes: number[]): thrown is StatusReply {
  return thrown instanceof StatusReply && (codes.length === 0 || codes.includes(thrown.status));
}

/** Whether a failure with several requests under way suggests a server that can only take one at a time. */
export const isImpatience = (error: Error, channel: { readonly closedAlone: boolean }): boolean =>
  isStatus(error, STATUS.FAILURE) || channel.closedAlone;

/** Whether the server reports that something on the way to the path does not exist. */
export const isMissing = (thrown: unknown): thrown is StatusReply =>
  isStatus(thrown, STATUS.NO_SUCH_FILE, STATUS.NO_SUCH_PATH);

const MEANING: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  [STATUS.NO_SUCH_FILE]: ['not_found', 'does not exist'],
  [STATUS.NO_SUCH_PATH]: ['not_found', 'does not exist'],
  [STATUS.PERMISSION_DENIED]: ['permission_denied', 'may not be accessed by this login'],
  [STATUS.NO_CONNECTION]: ['connection_lost', 'is out of reach: the server lost its own connection'],
  [STATUS.CONNECTION_LOST]: ['connection_lost', 'is out of reach: the server lost its own connection'],
  [STATUS.OP_UNSUPPORTED]: ['remote_failure', 'needs a request that the server does not support'],
  [STATUS.FILE_ALREADY_EXISTS]: ['already_exists', 'exists already'],
  [STATUS.WRITE_PROTECT]: ['permission_denied', 'is write-protected'],
  [STATUS.NO_SPACE]: ['no_space', 'does not fit: no space is left on the server'],
  [STATUS.QUOTA_EXCEEDED]: ['no_space', 'does not fit: the quota on the server is used up'],
  [STATUS.DIR_NOT_EMPTY]: ['not_empty', 'is not empty'],
  [STATUS.NOT_A_DIRECTORY]: ['not_a_folder', 'is not a folder'],
  [STATUS.FILE_IS_A_DIRECTORY]: ['is_a_folder', 'is a folder'],
};

// Servers without a code for a full disk answer 4 and give the reason in words, if at all.
const FULL_DISK = /no space|disk (is )?full|quota|not enough space/i;

/**
 * Translates a status reply about `path` to a GatewayError; a GatewayError is returned unchanged. Code 4 ("failure")
 * gives no reason: callers that can find out more ask the server first.
 */
export function translate(thrown: unknown, path: string, step: Step): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (!(thrown instanceof StatusReply)) {
    const text = messageOf(thrown);
    return new GatewayError('internal', text, { step, cause: thrown });
  }
  const [code, words] =
    thrown.status === STATUS.FAILURE && FULL_DISK.test(thrown.text)
      ? MEANING[STATUS.NO_SPACE]!
      : (MEANING[thrown.status] ?? unclear(path));
  return refused(code, `${path} ${words}`, step, thrown);
}

/** OpenSSH answers "bad message" for a name that is too long, and others "failure". */
const unclear = (path: string): readonly [ErrorCode, string] =>
  hasLongName(path)
    ? ['bad_path', 'has a name that is too long for the server']
    : ['remote_failure', 'could not be handled by the server'];

/** A GatewayError with our own words and the server's reply. */
function refused(code: ErrorCode, message: string, step: Step, reply: unknown): GatewayError {
  return new GatewayError(code, message, {
    step,
    cause: reply,
    remote: reply instanceof StatusReply ? { code: reply.status, text: reply.text } : undefined,
  });
}

/* Parsers for the replies to requests. Each throws MalformedReply for another kind of reply. */

export function expectType(reply: ReplyReader, type: number): void {
  if (reply.type !== type) throw new MalformedReply(`a reply of type ${reply.type} came where ${type} was expected`);
}

export function takeRefusal(reply: ReplyReader): StatusReply | undefined {
  const status = reply.uint32();
  if (status === STATUS.OK) return undefined;
  // Some servers omit the message.
  return new StatusReply(status, reply.hasMore ? reply.string().toString('utf8') : '');
}

export function takeOk(reply: ReplyReader): void {
  expectType(reply, REPLY.STATUS);
}

export function takeHandle(reply: ReplyReader): Buffer {
  expectType(reply, REPLY.HANDLE);
  // Copied: a handle lives as long as its file is open and would keep the whole packet in memory.
  return Buffer.from(reply.string());
}

export function takeData(reply: ReplyReader, length: number): Buffer {
  expectType(reply, REPLY.DATA);
  const data = reply.string();
  if (data.length > length) throw new MalformedReply('the server sent more data than was asked for');
  return data;
}

export function takeAttributes(reply: ReplyReader): Attributes {
  expectType(reply, REPLY.ATTRS);
  return reply.attributes();
}

export function takeNames(reply: ReplyReader): Names {
  expectType(reply, REPLY.NAME);
  return reply.names();
}

/** Bytes after the last name that a READDIR reply counts would be lost entries. */
export function takeListing(reply: ReplyReader): Names {
  const names = takeNames(reply);
  if (reply.hasMore) throw new MalformedReply('a folder listing holds more than the names that it counts');
  return names;
}
