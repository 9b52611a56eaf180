/** A job: its work, its rules for existing files, and its progress. */
import { ID, TIME } from './examples.js';
import { type TObject, Type } from 'typebox';
import { shownKey } from './api-key.js';
import { JOB_FILTERS, JOB_OPTION_NAMES, type JobOption, ORDER_TYPES, type OrderType } from './job-options.js';
import {
  count,
  countOrNull,
  dateTime,
  dateTimeOrNull,
  described,
  flag,
  group,
  object,
  oneOf,
  orNull,
  text,
  textOrNull,
  texts,
} from './schema.js';
import { fileFields } from './file.js';
import { JOB_FILE_STATES, JOB_STATES } from './job-states.js';
import {
  derived,
  type ExampleOf,
  type Fields,
  given,
  hidden,
  kept,
  newFields,
  type RowOf,
  type SettingsOf,
  shownFields,
} from './thing.js';

export { JOB_FILE_STATES, JOB_STATES };
export type { JobFileState, JobState } from './job-states.js';

/** `upload` is a url upload with `Prefer: respond-async`. */
export const JOB_TYPES = [...ORDER_TYPES, 'upload'] as const;
export const CONFLICT_RULES = ['replace', 'skip', 'newer', 'rename', 'fail'] as const;
const COMPARISONS = ['size-and-time', 'size', 'digest'] as const;
export const JOB_ACTIONS = ['copy', 'move', 'delete', 'list', 'upload'] as const;
export type ConflictRule = (typeof CONFLICT_RULES)[number];
export type JobType = (typeof JOB_TYPES)[number];
export type JobAction = (typeof JOB_ACTIONS)[number];

const bound = (description: string, minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description });

const globs = (description: string) => texts(description, { maxItems: 100 }, { minLength: 1, maxLength: 1024 });

/** A hundred years. */
const MOST_SECONDS = 3_155_760_000;

/** An option that, when absent, leaves out no file. */
const unset = { default: undefined, isRare: true } as const;

export const jobOptionFields = {
  include: given(
    globs(
      'Only files that one of these globs takes: of the path below the folder where it holds `/` or `**`, else of the name.',
    ),
    {
      texts: {
        label: 'Only files matching',
        hint: 'One pattern per line. With / or ** it matches the path, otherwise the name.',
      },
      example: '*.csv',
      option: { flags: '--include <glob>', help: 'only these files; may be given several times' },
      default: [],
      words: 'Only files that one of these globs takes.',
    },
  ),
  exclude: given(globs('Not files and folders that one of these globs takes.'), {
    texts: { label: 'Except files matching', hint: 'These files and folders are left out.' },
    example: '*.tmp',
    option: { flags: '--exclude <glob>', help: 'not these files and folders; may be given several times' },
    default: [],
  }),
  maxDepth: given(bound('Not files in folders further down: 1 = only those of the folder itself.', 1, 100), {
    ...unset,
    texts: { label: 'Maximum depth', hint: '1: only the files of the folder itself.' },
    option: { flags: '--max-depth <number>', help: 'not files further down; 1 = those of the folder itself' },
  }),
  minSize: given(bound('Not files of fewer bytes.', 0, Number.MAX_SAFE_INTEGER), {
    ...unset,
    texts: { label: 'Minimum size' },
    option: { flags: '--min-size <size>', help: 'not files of fewer bytes, such as 512K or 10M', unit: 'bytes' },
  }),
  maxSize: given(bound('Not files of more bytes.', 0, Number.MAX_SAFE_INTEGER), {
    ...unset,
    texts: { label: 'Maximum size' },
    option: { flags: '--max-size <size>', help: 'not files of more bytes', unit: 'bytes' },
  }),
  minAgeSeconds: given(bound('Not files that were modified less than this before the job began.', 0, MOST_SECONDS), {
    ...unset,
    texts: { label: 'Minimum age', hint: 'Time since the last change, when the job starts.' },
    option: {
      flags: '--min-age <age>',
      help: 'not files modified less than this ago, such as 90s, 12h or 7d',
      unit: 'age',
    },
  }),
  maxAgeSeconds: given(bound('Not files that were modified more than this before the job began.', 0, MOST_SECONDS), {
    ...unset,
    texts: { label: 'Maximum age' },
    option: { flags: '--max-age <age>', help: 'not files modified more than this ago', unit: 'age' },
  }),
  onConflict: given(
    oneOf(
      CONFLICT_RULES,
      'What a `copy` or `move` does with an existing file at the destination; a `sync` replaces it.',
    ),
    {
      texts: {
        label: 'If a file exists',
        choices: {
          replace: 'Replace it',
          skip: 'Skip it',
          newer: 'Replace it if the source is newer',
          rename: 'Keep both: rename the new one',
          fail: 'Report an error',
        },
      },
      option: { flags: '--on-conflict <rule>', help: 'what to do with a file that exists' },
      default: 'replace',
      words: 'What becomes of an existing file at the destination.',
      docs: 'what to do with a file that exists; `newer` replaces what is older',
    },
  ),
  compare: given(oneOf(COMPARISONS, 'How a `sync` recognizes that a file has not changed; `digest` reads both.'), {
    texts: {
      label: 'A file is unchanged when',
      choices: {
        'size-and-time': 'Size and time are the same',
        size: 'The size is the same',
        digest: 'The content is the same (reads both files)',
      },
    },
    option: { flags: '--compare <how>', help: 'how to find changes' },
    default: 'size-and-time',
    words: 'How a `sync` recognizes that a file has not changed.',
  }),
  deleteExtra: given(flag('A `sync` deletes what the source does not have, after all else.'), {
    texts: {
      label: 'Delete files at the destination that the source does not have',
      hint: 'Done last, and only if everything was listed and copied.',
    },
    option: { flags: '--delete-extra', help: 'delete what the source does not have, after all else' },
    default: false,
    words: 'Whether a `sync` deletes what the source does not have.',
    docs: '[delete what is gone](#mirror-delete-what-is-gone)',
  }),
  maxDeletes: given(bound('With more to delete than this, nothing is deleted.', 0, 1_000_000_000), {
    texts: { label: 'Maximum deletions', hint: 'If there is more to delete, nothing is deleted.' },
    option: { flags: '--max-deletes <number>', help: 'with more to delete, delete nothing; 1000 when absent' },
    default: 1000,
    shown: count('With more to delete than this, nothing is deleted.'),
  }),
  allowEmptySource: given(
    flag(
      'With `deleteExtra`: deletes although the source is empty, or has lost more than half of its files since the last run.',
    ),
    {
      ...unset,
      texts: {
        label: 'Delete even if the source is empty',
        hint: 'Or if it has lost more than half of its files since the last run.',
      },
      option: {
        flags: '--allow-empty-source',
        help: 'delete although the source is empty, or has lost more than half of its files since the last run',
      },
    },
  ),
  bytesPerSecond: given(bound('The limit for all its files together; 0 = as fast as it goes.', 0, 1_000_000_000_000), {
    texts: { label: 'Speed limit per second', hint: 'For all files together. Empty: no limit.' },
    option: {
      flags: '--bwlimit <rate>',
      help: 'bytes a second of all files together, such as 512K or 10M',
      unit: 'bytes',
    },
    default: 0,
    shown: count('The limit for all its files together; 0 = as fast as it goes.'),
  }),
  dryRun: given(flag('Lists what would be done, and does nothing.'), {
    texts: { label: 'Dry run' },
    option: { flags: '--dry-run', help: 'show what would be done, and do nothing' },
    default: false,
  }),
  webhookUrl: given(
    textOrNull('URL that receives `job.finished` when it has ended, signed with the secret of the account.', {
      minLength: 1,
      maxLength: 2048,
    }),
    {
      texts: {
        label: 'Webhook to call at the end',
        hint: 'Receives a signed job.finished. Empty: none.',
      },
      input: 'url',
      example: 'https://',
      option: { flags: '--webhook <url>', help: 'URL that gets an event when the job has ended' },
      default: null,
      words: 'URL that receives `job.finished`.',
      docs: 'gets [`job.finished`](#get-a-webhook-at-the-end)',
    },
  ),
} satisfies Fields & Readonly<Record<JobOption, unknown>>;

type Options = SettingsOf<typeof jobOptionFields>;
type Unset = {
  [N in JobOption]: (typeof jobOptionFields)[N] extends { readonly default: undefined } ? N : never;
}[JobOption];
type JobOptions = Omit<Options, Unset> & Partial<Pick<Options, Unset>>;

/** The files of a folder that a job applies to; an absent filter leaves none out. */
export type JobFilters = Pick<JobOptions, (typeof JOB_FILTERS)[number]>;

export function isFiltered(filters: JobFilters): boolean {
  return JOB_FILTERS.map((name) => filters[name]).some((filter) =>
    typeof filter === 'object' ? filter.length > 0 : filter !== undefined,
  );
}

const placeFields = {
  connectionId: text('Id of a connection.'),
  path: text('Path of the folder from the root of the connection.'),
};

/** A place of files, in answers. Only a source may have a name that is not UTF-8: new names are UTF-8. */
export const place = (description: string) => group(placeFields, description);
export const sourcePlace = (description: string) =>
  group({ ...placeFields, rawName: fileFields.rawName.schema }, description);

export interface JobPlace {
  readonly connectionId: string;
  /** Absolute. */
  readonly path: string;
}

export interface JobSource extends JobPlace {
  /** The bytes of the last names of its path, base64, from the first one on that is not UTF-8. */
  readonly rawName?: string;
}

export interface JobDefinition extends JobOptions {
  readonly type: JobType;
  /** The destination, for an upload, which has no source. */
  readonly source: JobSource;
  readonly destination: JobPlace | null;
  /** Only for uploads. */
  readonly upload?: UrlUpload;
}

/** Work that can be ordered, now or by a schedule. */
export type OrderDefinition = JobDefinition & { readonly type: OrderType };

/** The options of a url upload, except its url, which is sealed. */
export interface UrlUpload {
  /** Absent = the name that the url's server gives. */
  readonly filename?: string;
  readonly template?: string;
  /** For the template, so that every try makes the same name. */
  readonly now: string;
  readonly uuid: string;
  readonly mtime?: string;
  /** All that was stored is read again before it takes its place; absent = as the connection says. */
  readonly readsBack?: boolean;
}

/** Options that every job has. */
const SET = JOB_OPTION_NAMES.filter((name) => jobOptionFields[name].default !== undefined);
const newOptions = Type.Object(newFields(jobOptionFields));
const settings: TObject = Type.Object({
  ...Type.Required(Type.Pick(newOptions, SET)).properties,
  ...Type.Omit(newOptions, SET).properties,
});

export const jobFields = {
  id: kept(text('Identifier.')),
  accountId: hidden<string>(),
  keyId: hidden<string | null>(),
  type: kept(oneOf(JOB_TYPES, 'What is done; `upload` is a URL upload with `Prefer: respond-async`.'), {
    isAsked: true,
    texts: {
      label: 'Action',
      choices: { copy: 'Copy', move: 'Move', sync: 'Sync', delete: 'Delete', upload: 'Upload from a URL' },
    },
  }),
  name: kept(textOrNull('As it was given.', { maxLength: 200 }), {
    isAsked: true,
    texts: { label: 'Name', hint: 'Empty: the action and the folder.' },
  }),
  state: kept(oneOf(JOB_STATES, '`queued` waits for others of the account; the last four have ended.')),
  phase: hidden<number>(),
  definition: hidden<JobDefinition>(),
  source: derived(orNull(sourcePlace('Where the files are.'), 'null of an upload: its URL is not shown.'), {
    isAsked: true,
    texts: {
      label: 'From',
      parts: {
        connectionId: { label: 'Source connection' },
        path: {
          label: 'Source folder',
          hint: 'Includes sub-folders. The path of a single file works too.',
        },
        rawName: {
          label: 'Exact name (base64)',
          hint: 'The bytes of the name, which are not UTF-8.',
        },
      },
    },
    example: '/reports',
  }),
  destination: derived(orNull(place('Where they go.'), 'null of a deletion.'), {
    isAsked: true,
    texts: {
      label: 'To',
      parts: {
        connectionId: { label: 'Destination connection' },
        path: { label: 'Destination folder', hint: 'Created if missing.' },
      },
    },
    example: '/archive/reports',
  }),
  counts: derived(
    group(
      {
        found: count('Files of the source, as far as it has been listed.'),
        done: count('Files that were copied or moved.'),
        skipped: count('Files that were left as they are: unchanged, or in the way.'),
        failed: count('Files that failed.'),
        deleted: count('Files that were deleted.'),
        bytes: count('Bytes of the files that are done, and of those under way as far as they are.'),
        bytesTotal: count('Bytes of the files that are, or were, to be transferred.'),
      },
      'Exact at any moment; of a dry run what would be.',
    ),
  ),
  found: hidden<number>(),
  done: hidden<number>(),
  skipped: hidden<number>(),
  failed: hidden<number>(),
  deleted: hidden<number>(),
  bytes: hidden<number>(),
  bytesTotal: hidden<number>(),
  bytesPerSecond: derived(
    count('While it runs, of the last ten to twenty seconds; else of all the time that it has run.'),
  ),
  etaSeconds: derived(countOrNull('Seconds until its end at this speed; null if unknown.')),
  error: derived(textOrNull('What ended all of it.')),
  errorMessage: hidden<string | null>(),
  errorCode: kept(textOrNull('The code of that, as `X-Error-Code` would carry it.')),
  createdAt: kept(dateTime('When it was asked for.')),
  startedAt: kept(dateTimeOrNull('When it began.')),
  finishedAt: kept(dateTimeOrNull('When it ended.')),
  waitsUntil: kept(
    dateTimeOrNull('Until when it waits for the hours of its connections, while it runs; null = it does not wait.'),
  ),
  scheduleId: kept(textOrNull('The schedule that began it; null once that is deleted.')),
  settings: derived(described(settings, 'Its settings, besides the places of the files.'), { isOwners: true }),
  filesPerSecond: derived(Type.Number({ minimum: 0, description: 'The average of the time that it has run.' }), {
    isOwners: true,
  }),
  /** The reading statement computes this and the following fields. */
  isListed: kept(flag('Whether all its folders have been listed: `counts` grow no further then.'), {
    isOwners: true,
  }),
  /** For files under way: transferred bytes, and how much larger than listed they are. */
  moving: hidden<{ readonly bytes: number; readonly grown: number }>(),
  /** A recent sample: the bytes transferred then, and its age; null before the job runs. */
  sample: hidden<{ readonly bytes: number; readonly agoMs: number } | null>(),
  /** Without pauses. */
  activeMs: hidden<number>(),
  key: derived(shownKey('The API key that began it; null = the dashboard, or a schedule.'), { isOwners: true }),
};

export type JobRow = RowOf<typeof jobFields>;

/** A job in answers to keys. */
export const jobSchema = object('Job', shownFields(jobFields, 'key'));

export const jobExample = {
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001',
  type: 'copy',
  name: 'nightly',
  state: 'running',
  source: { connectionId: 'warehouse', path: '/reports' },
  destination: { connectionId: 'lake', path: '/reports' },
  counts: { found: 1200, done: 800, skipped: 0, failed: 1, deleted: 0, bytes: 640000, bytesTotal: 960000 },
  bytesPerSecond: 128000,
  etaSeconds: 3,
  error: null,
  errorCode: null,
  createdAt: TIME,
  startedAt: TIME,
  finishedAt: null,
  waitsUntil: null,
  scheduleId: null,
  settings: {
    include: [],
    exclude: ['*.tmp'],
    onConflict: 'replace',
    compare: 'size-and-time',
    deleteExtra: false,
    maxDeletes: 1000,
    bytesPerSecond: 0,
    dryRun: false,
    webhookUrl: null,
  },
  filesPerSecond: 160,
  isListed: true,
  key: { id: ID, name: 'nightly export' },
} as const satisfies ExampleOf<typeof jobFields>;
