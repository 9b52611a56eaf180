/** The schema of one entry under `accounts`: the account, its API keys, its connections. */
import { ALL_SCOPES, type Scope, SCOPES } from '../base/caller.js';
import { NAME } from '../base/formats.js';
import { flag, list, mapping, oneOf, oneOfMappings, optional, preset, text, textOrNull } from '../base/allowed.js';
import { slug } from '../connections/common.js';
import type { ConnectionEntry } from '../connections/connection.js';
import type { Definition } from '../connections/definition.js';
import { entrySchema } from '../connections/schemas.js';

const apiKey = mapping({
  name: text('text of at least one character', { pattern: NAME }),
  key: text('ftg_ and more, 24 to 200 printable ASCII characters without spaces in all', {
    pattern: '^ftg_[\\x21-\\x7e]{20,196}$',
  }),
  scopes: preset([...SCOPES], list(oneOf<Scope>(...ALL_SCOPES), { minItems: 1, uniqueItems: true })),
  connections: preset([], list(slug, { uniqueItems: true })),
  allowedIps: preset([], list(text('an IP address or CIDR block', { format: 'ip-or-cidr' }), { uniqueItems: true })),
  expiresAt: preset(null, textOrNull('a date-time such as 2027-01-31T00:00:00Z', 'date-time')),
});

export const accountSchema = (definitions: readonly Definition[]) =>
  mapping({
    email: text('an e-mail address', { format: 'email' }),
    plan: text('the name of a plan under limits.plans'),
    password: optional(text('text (numbers in quotes)')),
    allowPrivate: optional(flag()),
    apiKeys: preset([], list(apiKey)),
    connections: preset([], list(oneOfMappings<ConnectionEntry>('type', definitions.map(entrySchema)))),
  });
