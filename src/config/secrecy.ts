/**
 * Recognizes names of secrets, and secrets inside longer texts. Messages about the configuration and the log share it.
 */

import { CONNECTION_TYPES } from '../contract/connection/types.js';
import { secretNameTest } from './secret-names.js';

/** The replacement for a secret. */
export const HIDDEN = '[hidden]';

/**
 * Whether a field, header or variable of this name contains a secret: `apiKey`, `X-Api-Key`, `WEBHOOK_SECRET`; not
 * `keyFile`, `hostKey`.
 */
export const isSecretName = secretNameTest(CONNECTION_TYPES);

/**
 * The password of a URL, API keys, webhook secrets, bearer credentials and PEM private keys. `\\.` matches the escapes
 * of JSON text, so that a whole log line can be cleaned at once.
 */
const SECRETS = new RegExp(
  [
    String.raw`(?<url>\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"\/?#:@]*:)[^\s"\/?#]*@`,
    String.raw`(?<key>\bftg_)(?:\\.|[^\s"\\]){20,}`,
    String.raw`(?<hook>\bwhsec_)[A-Za-z0-9+\/=_-]+`,
    String.raw`(?<bearer>\bBearer )(?:\\.|[^\s"\\])+`,
    String.raw`(?<pem>-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----)[^"]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|(?=")|$)`,
  ].join('|'),
  'gi',
);

/** The text with all secrets masked that are recognizable by their form. */
export function maskSecrets(text: string): string {
  return text.replace(
    SECRETS,
    (_match: string, url?: string, key?: string, hook?: string, bearer?: string, pem?: string) =>
      url === undefined ? `${key ?? hook ?? bearer ?? pem}${HIDDEN}` : `${url}${HIDDEN}@`,
  );
}
