/**
 * The answers for a person who has only a link: enough to continue, nothing about the server, the folder or the
 * account.
 */
import { type ErrorCode, GatewayError, refusal, toGatewayError } from '../base/errors.js';
import type { LinkState } from '../contract/link.js';

const ENDINGS: Readonly<Record<Ending, string>> = {
  used_up: 'this link has been used as often as it may be',
  expired: 'this link has expired',
  revoked: 'this link was revoked',
  key_ended: 'this link has ended',
};

type Ending = Exclude<LinkState, 'active'>;

/** The link has ended. */
export class LinkEnded extends GatewayError {
  constructor(readonly ending: Ending) {
    super('gone', ENDINGS[ending], { step: 'request' });
  }
}

/** One answer for everything that was never a link. */
export function noSuchLink(): GatewayError {
  return refusal('unknown_item', 'there is no such link');
}

/** Their texts say what the request did wrong, or nothing at all. */
const AS_THEY_ARE: ReadonlySet<ErrorCode> = new Set([
  ...(['bad_request', 'gone', 'unknown_item', 'forbidden', 'method_not_allowed', 'unsupported_media_type'] as const),
  ...(['too_large', 'bad_range', 'digest_mismatch', 'rate_limited', 'share_exceeded', 'overloaded'] as const),
  ...(['draining', 'database_away', 'outcome_unrecorded', 'internal'] as const),
  ...(['unsupported_version', 'offset_mismatch', 'checksum_mismatch', 'upload_locked'] as const),
]);

const WORDS: Partial<Readonly<Record<ErrorCode, string>>> = {
  bad_path: 'filename, and each name of folder, must be 1 to 255 bytes, without "/" and control characters',
  not_found: 'the file is not there',
  already_exists: 'a file of this name is there already',
  unknown_upload: 'there is no such upload, or nothing is left of it; begin a new one',
  resume_unsupported: 'the server of this link takes no files in pieces; send the whole file by PUT',
  is_a_folder: 'a folder has this name; an upload into it needs a filename',
  size_mismatch: 'the transfer is not whole; try again',
  too_slow: 'the transfer was too slow; try again',
  no_space: 'the server of this link has no room left',
  quota_exceeded: 'the account of this link has no transfers left for now',
};

/** The same code and status, in words without a path, host or account. The history has the original error. */
export function shownOnPage(thrown: unknown): GatewayError {
  const error = toGatewayError(thrown);
  const { code, retryAfterMs, limit, fileSize } = error;
  if (AS_THEY_ARE.has(code)) return error;
  const text = WORDS[code] ?? 'the server of this link cannot do this now';
  return new GatewayError(code, text, {
    step: 'request',
    cause: error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(limit === undefined ? {} : { limit }),
    ...(fileSize === undefined ? {} : { fileSize }),
  });
}
