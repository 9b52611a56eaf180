/** An API key: the credential of a program. */
import { Type } from 'typebox';
import { slug } from './connection/fields.js';
import { ID, LATER, TIME } from './examples.js';
import { NAME } from './patterns.js';
import { ALL_SCOPES, type Scope, SCOPES } from './scopes.js';
import { dateTime, dateTimeOrNull, listOf, oneOf, orNull, text, textOrNull, texts } from './schema.js';
import { derived, type ExampleOf, given, hidden, kept, needed, type RowOf, type SettingsOf } from './thing.js';

const EXPIRES_AT = 'When it ends; null = never.';

/** A key as part of other things. */
export const shownKey = (description: string) =>
  orNull(Type.Object({ id: text('Its id.'), name: text('Its name.') }), description);

export const apiKeyFields = {
  id: kept(text('Identifier.')),
  name: needed(text('Shown to people.', { minLength: 1, maxLength: 200, pattern: NAME }), {
    texts: { label: 'Name', hint: 'The program that will use it.' },
    option: { flags: '--name <name>', help: 'its new name' },
    file: {
      allowed: 'text of at least one character',
      words: 'shown to people; one of a kind in the account',
      example: 'ci',
    },
  }),
  hint: kept(textOrNull('The last four characters of the key; null for those of the configuration file.')),
  scopes: given(
    listOf(oneOf(ALL_SCOPES, 'One right.'), 'What the key may do.', { minItems: 1, uniqueItems: true }),
    // A missing field gives no key the right to run commands or to manage the account.
    {
      texts: {
        label: 'Rights',
        choices: {
          read: 'List, look up, read and download files.',
          write: 'Upload, write, append, move, copy and delete files.',
          watch: 'See and change watched folders.',
          exec: 'Run commands on SFTP servers.',
          admin: 'Everything this dashboard can do. Treat it like the password.',
        } satisfies Readonly<Record<Scope, string>>,
      },
      option: { flags: '--scope <scopes...>', help: 'what it may do' },
      default: ['read', 'write', 'watch'],
      file: { default: [...SCOPES], words: 'absent = these; admin opens the management API' },
    },
  ),
  connections: given(
    texts('Connections that the key is for; empty = all.', { maxItems: 1000, uniqueItems: true }, { maxLength: 64 }),
    {
      texts: { label: 'May use' },
      option: { flags: '--connection <ids...>', help: 'connections that it is for; all when absent' },
      default: [],
      file: {
        schema: listOf(slug, undefined, { uniqueItems: true }),
        words: "ids of this account's connections; empty or absent = all",
      },
      column: 'connectionIds',
    },
  ),
  allowedIps: given(
    texts(
      'Addresses and CIDR blocks that the key may be used from; empty = all.',
      { maxItems: 100, uniqueItems: true },
      { maxLength: 64 },
    ),
    {
      texts: {
        label: 'Only from these addresses',
        hint: 'One per line, with or without a mask. Empty: any address.',
      },
      input: 'words',
      example: '192.0.2.0/24',
      option: {
        flags: '--ip <addresses...>',
        help: 'addresses and CIDR blocks that it may be used from; all when absent',
      },
      default: [],
      file: {
        allowed: 'an IP address or CIDR block',
        format: 'ip-or-cidr',
        words: 'addresses or CIDR blocks of callers; empty or absent = all',
      },
    },
  ),
  expiresAt: given(textOrNull(EXPIRES_AT, { maxLength: 64 }), {
    texts: { label: 'Expires', hint: 'Empty: never.' },
    input: 'date-time',
    option: { flags: '--expires <time>', help: 'when it ends, such as 2027-01-31T00:00:00Z, or never' },
    default: null,
    file: {
      allowed: 'a date-time such as 2027-01-31T00:00:00Z, or null',
      format: 'date-time',
      words: 'a date-time such as 2027-01-31T00:00:00Z',
      example: null,
    },
    shown: dateTimeOrNull(EXPIRES_AT),
  }),
  createdAt: kept(dateTime('When it was made.')),
  lastUsedAt: kept(dateTimeOrNull('The last request, exact to a minute.')),
  /** Computed by the reading statement. */
  s3: kept(
    listOf(
      Type.Object({
        accessKeyId: text('Its id.'),
        createdAt: dateTime('When it was made.'),
      }),
      'Its access keys for the S3 front, without their secrets.',
    ),
  ),
  revokedAt: kept(dateTimeOrNull('When it was revoked.')),
  state: derived(oneOf(['active', 'expired', 'revoked'], 'State.')),
  source: derived(
    oneOf(
      ['configuration', 'dashboard'],
      '`configuration` for those that the configuration file lists: they can be changed only there.',
    ),
  ),
  /** Listed in the configuration file. */
  isConfigured: hidden<boolean>({ column: 'configured' }),
};

export type ApiKey = RowOf<typeof apiKeyFields>;
export type KeyRights = SettingsOf<typeof apiKeyFields>;

export const apiKeyExample = {
  id: ID,
  name: 'ci',
  hint: '7Qx2',
  scopes: ['read', 'write'],
  connections: ['warehouse'],
  allowedIps: ['192.0.2.0/24'],
  createdAt: TIME,
  lastUsedAt: LATER,
  s3: [{ accessKeyId: 'FTGAX7Q2M4K6W3ZB5TND', createdAt: TIME }],
  state: 'active',
  source: 'dashboard',
} as const satisfies ExampleOf<typeof apiKeyFields>;
