/** A watched folder: a folder on a remote server that the gateway checks for new files. */
import { Type } from 'typebox';
import { LATER, TIME } from './examples.js';
import { NAME } from './patterns.js';
import {
  count,
  countOrNull,
  dateTime,
  dateTimeOrNull,
  flag,
  object,
  oneOf,
  orNull,
  text,
  textOrNull,
} from './schema.js';
import { type ConflictRule, CONFLICT_RULES } from './job.js';
import { type ExampleOf, given, hidden, kept, type RowOf, type SettingsOf } from './thing.js';
import { CONNECTION_ID, ERROR_CODE, ROOT_PATH } from './words.js';

const path = { minLength: 1, maxLength: 4096, pattern: NAME };

export const copyToSchema = object('CopyTo', {
  connectionId: text('Id of the connection that takes the copies.', { minLength: 1, maxLength: 64 }),
  path: text(
    'Folder for the copies, absolute or from the default path of the connection; made where it is missing.',
    path,
  ),
  filename_template: Type.Optional(
    text(
      'Renames the copies; tokens as for uploads. Times are those of the detection, and `{uuid}` stays the same for all tries of a copy.',
      { minLength: 1, maxLength: 1024 },
    ),
  ),
  onConflict: Type.Optional(
    oneOf(CONFLICT_RULES, 'What becomes of an existing file at the place of a copy; `replace` when absent.'),
  ),
});

const glob = (description: string) => textOrNull(description, { minLength: 1, maxLength: 1024, pattern: NAME });

const DEFAULT_MINUTES = 5;

export const watchedFolderFields = {
  id: kept(text('Identifier.')),
  accountId: hidden<string>(),
  connectionId: kept(text(CONNECTION_ID), { isAsked: true, texts: { label: 'Connection' } }),
  name: given(
    text("Shown in the dashboard; the folder's own name when absent.", { minLength: 1, maxLength: 200, pattern: NAME }),
    {
      texts: { label: 'Name', hint: "Empty: the folder's name." },
      option: { flags: '--name <name>', help: 'shown in the dashboard' },
      default: undefined,
      words: 'Shown in the dashboard.',
    },
  ),
  path: kept(text(ROOT_PATH), {
    isAsked: true,
    texts: { label: 'Folder', hint: 'Must exist already.' },
    example: '/incoming',
  }),
  filePattern: given(glob('A glob on the file name, or on the path below the folder where it holds `/` or `**`.'), {
    texts: { label: 'Only files matching', hint: 'With / or ** it matches sub-folders too.' },
    example: '*.csv',
    option: { flags: '--pattern <glob>', help: 'files to report' },
    default: null,
    docs: 'a glob on the name; all files when absent. With `/` or `**` it is a glob on the path below the folder, and includes sub-folders. `*` `?` `**` `[a-z]` `{a,b}` `@(a|b)`. A leading `!` means all others',
  }),
  scheduleMinutes: given(Type.Integer({ minimum: 1, maximum: 1440, description: 'Minutes between two checks.' }), {
    texts: { label: 'Check every (minutes)' },
    option: { flags: '--every <minutes>', help: 'how often it is checked; 5 when absent' },
    default: DEFAULT_MINUTES,
  }),
  webhookUrl: given(
    textOrNull('URL that receives a POST when files are found.', { minLength: 1, maxLength: 2048, pattern: NAME }),
    {
      texts: {
        label: 'Webhook',
        hint: 'Receives a signed POST with the files found. Empty: no message is sent.',
      },
      input: 'url',
      example: 'https://example.com/hooks/files',
      option: { flags: '--webhook <url>', help: 'URL that gets an event for new files' },
      default: null,
      docs: '`http` or `https`. Without it, detections are in the history and in the [feed](events.md#read-the-feed-get-apievents)',
    },
  ),
  source: kept(text('How it was created.')),
  detectModified: given(flag('Also report files whose size or date changed.'), {
    texts: { label: 'Report changed files too', hint: 'Files whose size or date changed.' },
    option: { flags: '--modified', help: 'report changed files too' },
    default: false,
  }),
  detectDeleted: given(flag('Also report files that are gone, as `watched_folder.files_deleted`.'), {
    texts: { label: 'Report deleted files too', hint: 'Files that were there and are gone.' },
    option: { flags: '--deleted', help: 'report files that are gone, too' },
    default: false,
    isRare: true,
    docs: 'report files that are gone as [`watched_folder.files_deleted`](events.md#which-events-there-are). Not together with `afterDelivery` `move` or `delete`',
  }),
  isActive: kept(flag('Whether it is switched on.')),
  createdAt: kept(dateTime('When it was created.')),
  excludePattern: given(glob('A glob of files that are not reported.'), {
    texts: { label: 'Except files matching' },
    example: 'draft-*',
    option: { flags: '--exclude <glob>', help: 'files to leave out' },
    default: null,
    isRare: true,
    docs: 'a glob of the same kind. Matching files are ignored',
  }),
  doneFile: given(
    textOrNull('Name of a marker file: a file is reported only once its marker is there too.', {
      minLength: 1,
      maxLength: 255,
      pattern: NAME,
    }),
    {
      texts: {
        label: 'Wait for a done file',
        hint: 'A file is reported once this marker exists too. {filename} is its name, {name} the name without extension.',
      },
      example: '{filename}.done',
      option: { flags: '--done-file <name>', help: 'a file counts once this marker is there too' },
      default: null,
      isRare: true,
      docs: 'a marker that announces a file: `{filename}.done`, `{name}.ok`, `_SUCCESS`. At most one token. The marker itself is never reported',
    },
  ),
  initial: given(
    oneOf(['ignore', 'report'], 'Whether the files of the first check are reported, or are the baseline.'),
    {
      texts: {
        label: 'Existing files',
        choices: { ignore: 'Baseline: do not report them', report: 'Report them as new' },
      },
      option: { flags: '--initial', help: 'report what is there at the first check', means: 'report' },
      default: 'ignore',
      isRare: true,
    },
  ),
  recursive: given(flag('Whether sub-folders are watched too.'), {
    texts: { label: 'Include sub-folders' },
    option: { flags: '--recursive', help: 'sub-folders too' },
    default: false,
    isRare: true,
  }),
  minAgeSeconds: given(
    Type.Integer({ minimum: 0, maximum: 604_800, description: 'Files younger than this are not reported yet.' }),
    {
      texts: { label: 'Minimum age in seconds', hint: 'Newer files wait for a later check.' },
      option: { flags: '--min-age <seconds>', help: 'leave younger files for later' },
      default: 0,
      isRare: true,
      shown: count('Files younger than this are not reported yet.'),
      docs: 'how long a file must rest, if five seconds are too short',
    },
  ),
  afterDelivery: given(
    oneOf(
      ['keep', 'move', 'delete'],
      'What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.',
    ),
    {
      texts: {
        label: 'After delivery',
        hint: 'What to do with the file.',
        choices: { keep: 'Leave it where it is', move: 'Move it to another folder', delete: 'Delete it' },
      },
      option: { flags: '--after <what>', help: 'what happens to delivered files' },
      default: 'keep',
      isRare: true,
      docs: '`move` or `delete` a file [after delivery](#move-or-delete-a-file-after-delivery)',
    },
  ),
  /** Absolute in a row; in a request it may be relative to the folder. */
  moveTo: given(textOrNull('Folder for `afterDelivery: move`.', path), {
    texts: { label: 'Move it to', hint: 'Relative to the watched folder, or absolute with /.' },
    input: 'folder',
    example: 'processed',
    option: { flags: '--move-to <folder>', help: 'where --after move puts them' },
    default: null,
    isRare: true,
    goesWith: 'afterDelivery',
    docs: 'where to: a full path, or one relative to the folder; `processed` when absent. It is not watched itself',
  }),
  expectEveryMinutes: given(
    countOrNull('Raise an alarm when no file came for this long.', { minimum: 1, maximum: 525_600 }),
    {
      texts: {
        label: 'Alarm after minutes without a file',
        hint: 'The webhook gets a message of its own. Empty: no alarm.',
      },
      option: { flags: '--expect-every <minutes>', help: 'raise an alarm when no file came for so long' },
      default: null,
      isRare: true,
      shown: countOrNull('Raise an alarm when no file came for this long.', { minimum: 1 }),
      docs: 'send `watched_folder.files_missing` if nothing came for so long, once a period. Webhooks of `POST /api/webhooks` get `watched_folder.late`',
    },
  ),
  copyTo: given(
    orNull(
      copyToSchema,
      'Copies each file there, as it lies below the folder, before its event is sent; needs the scopes `read` and `write`. Null = nowhere.',
    ),
    {
      texts: {
        label: 'Copy each file',
        parts: {
          connectionId: { label: 'Copy each file to', hint: 'Done before the webhook is called.' },
          path: { label: 'Destination folder', hint: 'Created if missing.' },
          filename_template: { label: 'Name of the copies', hint: "Empty: the file's own." },
          onConflict: {
            label: 'If a file exists',
            choices: {
              replace: 'Replace it',
              skip: 'Skip the file',
              newer: 'Replace it if it is older',
              rename: 'Keep both: rename the copy',
              fail: 'Report an error',
            },
          },
        },
      },
      default: null,
      isRare: true,
      words: 'Where its files are copied before their event is sent.',
      docs: '`{ connectionId, path, filename_template, onConflict }`: a [route](#routes)',
    },
  ),
  nextCheckAt: kept(dateTime('When it is checked next.'), { isOwners: true }),
  baselineAt: kept(dateTimeOrNull('When the first check went through.'), { isOwners: true }),
  timeResolutionMs: hidden<number>(),
  lastSuccessAt: kept(dateTimeOrNull('When a check last went through.'), { isOwners: true }),
  lastDetectionAt: kept(dateTimeOrNull('When a file was last reported.'), { isOwners: true }),
  alarmedAt: kept(dateTimeOrNull('When the last alarm said that no file came.'), { isOwners: true }),
  failingSince: kept(dateTimeOrNull('Since when every check has failed.'), { isOwners: true }),
  failures: kept(count('Checks that have failed in a row.'), { isOwners: true }),
  errorCode: kept(textOrNull(ERROR_CODE), { isOwners: true }),
  errorMessage: kept(textOrNull('What went wrong.'), { isOwners: true }),
  deliveriesEndedAt: kept(dateTimeOrNull('When the receiver answered 410: nothing more is sent to it.'), {
    isOwners: true,
  }),
  /** The name filters of its last check, if they have changed since. */
  formerNames: hidden<FolderNames | null>(),
};

/** The target of a watched folder's copies; its path is absolute. */
export interface CopyTo {
  readonly connectionId: string;
  readonly path: string;
  readonly filename_template?: string;
  readonly onConflict: ConflictRule;
}

/** The name filters of a folder. */
export type FolderNames = {
  readonly filePattern: string | null;
  readonly excludePattern: string | null;
  readonly doneFile: string | null;
  readonly recursive: boolean;
};

type Fields = typeof watchedFolderFields;

export type WatchedFolder = Omit<RowOf<Fields>, 'copyTo'> & { readonly copyTo: CopyTo | null };

/** The settings of its owner. */
export type WatchSettings = Pick<WatchedFolder, keyof SettingsOf<Fields> | 'connectionId' | 'path' | 'source'>;

export const watchedFolderExample = {
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c001',
  connectionId: 'warehouse',
  name: 'incoming',
  filePattern: '*.csv',
  webhookUrl: 'https://example.com/hooks/files',
  source: 'api',
  isActive: true,
  createdAt: TIME,
  nextCheckAt: LATER,
  baselineAt: TIME,
  lastSuccessAt: TIME,
  failures: 0,
} as const satisfies ExampleOf<typeof watchedFolderFields>;
