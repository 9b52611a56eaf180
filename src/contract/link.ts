/** A link: a URL that needs no key and does one thing. */
import { Type } from 'typebox';
import { LINES, SHA_256 } from './patterns.js';
import { count, countOrNull, dateTime, dateTimeOrNull, flag, oneOf, text, textOrNull } from './schema.js';
import { given, hidden, kept, needed, type RowOf, type SettingsOf } from './thing.js';
import { CONNECTION_ID, ROOT_PATH } from './words.js';

export const LINK_OPERATIONS = ['upload', 'download'] as const;
const LINK_STATES = ['active', 'used_up', 'expired', 'revoked', 'key_ended'] as const;
export type LinkState = (typeof LINK_STATES)[number];

const FILENAME =
  'The name of an uploaded file, for any name that its sender gives; the name under which a download is saved.';
const DIGEST = 'SHA-256 that the file must have: `sha-256:` and 64 hexadecimal digits.';
const MAX_BYTES = 'The most bytes of one file.';
const NOTE = 'What it is for, in words for the people who get it: they are on its page.';
const MAX_USES = 'How often it may be used; a use that fails does not count.';

export const linkFields = {
  id: kept(text('Identifier.')),
  accountId: hidden<string>(),
  operation: needed(oneOf(LINK_OPERATIONS, '`upload` takes files into one folder, `download` gives one file.'), {
    texts: {
      label: 'What is it for?',
      choices: { upload: 'Others send me files', download: 'Others fetch one file' },
    },
  }),
  connectionId: kept(text(CONNECTION_ID), { isAsked: true, texts: { label: 'Connection' } }),
  /** The file to download, or the folder for uploads. */
  path: kept(text(ROOT_PATH), {
    isAsked: true,
    texts: {
      label: 'Folder that takes the files',
      hint: 'Files arrive only here. The senders see nothing of this folder.',
    },
  }),
  filename: given(text(FILENAME, { minLength: 1, maxLength: 255 }), {
    texts: { label: 'File name', hint: 'Empty: each file keeps its name.' },
    option: { flags: '--name <name>', help: 'the name of the file, for any name that its sender gives' },
    default: null,
    shown: textOrNull(FILENAME),
  }),
  note: given(text(NOTE, { minLength: 1, maxLength: 500, pattern: LINES }), {
    texts: { label: 'Message', hint: 'Shown to everyone who opens the link.' },
    input: 'long',
    option: { flags: '--note <text>', help: 'what it is for, shown on its page' },
    default: null,
    shown: textOrNull(NOTE),
  }),
  overwrite: given(flag('Whether an upload may replace a file of this name. If not, it is 409.'), {
    texts: { label: 'May replace a file', hint: 'Otherwise a name that is taken is refused.' },
    option: { flags: '--overwrite', help: 'an upload may replace a file of its name' },
    default: false,
  }),
  folders: given(flag('Whether uploads may name a folder below this one. Folders that are missing are created.'), {
    texts: { label: 'Takes folders', hint: 'Senders may send whole folders, also into those that are here already.' },
    option: { flags: '--folders', help: 'senders may send whole folders' },
    default: false,
  }),
  digest: given(text(DIGEST, { pattern: SHA_256 }), {
    texts: { label: 'SHA-256', hint: 'Another file than the one with this digest is refused.' },
    option: { flags: '--digest <digest>', help: 'what the file must be: sha-256: and 64 hexadecimal digits' },
    default: null,
    shown: textOrNull(DIGEST),
    show: (digest: Buffer | null) => digest && `sha-256:${digest.toString('hex')}`,
  }),
  maxBytes: given(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: MAX_BYTES }), {
    texts: { label: 'Largest file', hint: 'Empty: as large as the gateway allows.' },
    option: { flags: '--max-bytes <size>', help: 'the largest file, such as 512K or 10M', unit: 'bytes' },
    default: null,
    shown: countOrNull(`${MAX_BYTES} Null = as many as any upload.`),
  }),
  maxUses: given(Type.Integer({ minimum: 1, maximum: 1_000_000, description: MAX_USES }), {
    texts: { label: 'Number of uses', hint: 'Empty: without a limit.' },
    option: { flags: '--max-uses <number>', help: 'how often it may be used' },
    default: null,
    shown: countOrNull(`${MAX_USES} Null = as often as anybody likes.`),
  }),
  uses: kept(count('Uses that have succeeded.')),
  /** Computed by the reading statement. */
  state: kept(
    oneOf(
      LINK_STATES,
      '`active`; `used_up`; `expired`; `revoked`; `key_ended`: the API key that made it was revoked, has expired, or may no longer do what the link does.',
    ),
  ),
  keyId: kept(textOrNull('The API key that made it, and with which it ends; null = the owner of the account did.')),
  expiresAt: needed(
    text('When it ends, a date-time with its zone, at most `links.maxDays` (90) days from now.', { maxLength: 64 }),
    { texts: { label: 'Valid for' }, input: 'date-time', shown: dateTime('When it ends by itself.') },
  ),
  revokedAt: kept(dateTimeOrNull('When it was revoked.')),
  lastUsedAt: kept(dateTimeOrNull('The last use that has succeeded.')),
  createdAt: kept(dateTime('When it was made.')),
};

type Fields = typeof linkFields;
export type Link = RowOf<Fields>;
export type LinkSettings = Pick<Link, keyof SettingsOf<Fields> | 'connectionId' | 'path'>;
