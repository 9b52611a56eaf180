/**
 * Eight invented changes, with each line that has to be written by hand: the cost of one more field, error, kind or
 * event. `npm run cost` makes them in a copy of the project, checks its types and finds where they appear.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Edit {
  /** Relative to the root of the project. */
  readonly file: string;
  /** The text is inserted after this one; absent: the file is new. */
  readonly after?: string;
  readonly text: string;
}

export interface Recipe {
  readonly change: string;
  /** The name that appears everywhere. */
  readonly name: string;
  /** The most files that may have to be written. */
  readonly most: number;
  readonly edits: readonly Edit[];
}

export const RECIPES: readonly Recipe[] = [
  {
    change: 'a field of a watched folder',
    name: 'filesPerCheck',
    most: 4,
    edits: [
      {
        file: 'src/contract/watched-folder.ts',
        after: 'export const watchedFolderFields = {\n',
        text: `  filesPerCheck: given(
    countOrNull('The most files that one check reports; the next one goes on.', { minimum: 1, maximum: 10_000 }),
    {
      texts: { label: 'Files per check' },
      option: { flags: '--files-per-check <number>', help: 'the most files that one check reports' },
      default: null,
      isRare: true,
      shown: countOrNull('The most files that one check reports; the next one goes on.', { minimum: 1 }),
    },
  ),
`,
      },
      {
        file: 'src/contract/de/fields.ts',
        after: '  watchedFolder: {\n',
        text: "    filesPerCheck: { label: 'Dateien je Prüfung' },\n",
      },
      {
        file: 'src/storage/migrations/9998.do.files-per-check.sql',
        text: 'alter table watched_folders add column files_per_check integer;\n',
      },
      {
        file: 'src/watch/scan.ts',
        after: 'maxReports: ',
        text: 'folder.filesPerCheck ?? ',
      },
    ],
  },
  {
    change: 'a field of a connection',
    name: 'keepAliveSeconds',
    most: 4,
    edits: [
      {
        file: 'src/contract/connection/sftp.ts',
        after: '  ...onServers,\n',
        text: `  keepAliveSeconds: given(
    integer(1, 3600, 'After so many seconds without traffic, the gateway asks whether the server is there.'),
    { texts: { label: 'Keep-alive (s)' }, default: 10, isAdvanced: true },
  ),
`,
      },
      { file: 'src/contract/connection/sftp.ts', after: 'import { ', text: 'integer, ' },
      {
        file: 'src/remotes/sftp/session/login.ts',
        after: '      readyTimeout: 0,\n      keepaliveInterval: ',
        text: 'this.#connection.keepAliveSeconds * 1000 || ',
      },
      {
        file: 'src/contract/de/fields.ts',
        after: '  connection: {\n',
        text: "    keepAliveSeconds: { label: 'Lebenszeichen alle (s)' },\n",
      },
    ],
  },
  {
    change: 'an option of a job',
    name: 'skipHidden',
    most: 4,
    edits: [
      {
        file: 'src/contract/job-options.ts',
        after: 'export const JOB_OPTIONS = {\n',
        text: '  skipHidden: ALL,\n',
      },
      {
        file: 'src/contract/job.ts',
        after: 'export const jobOptionFields = {\n',
        text: `  skipHidden: given(flag('Not files whose names begin with a dot.'), {
    ...unset,
    texts: { label: 'Except hidden files' },
    option: { flags: '--skip-hidden', help: 'not files whose names begin with a dot' },
  }),
`,
      },
      {
        file: 'src/contract/de/fields.ts',
        after: '  jobOptions: {\n',
        text: "    skipHidden: { label: 'Ohne versteckte Dateien' },\n",
      },
      {
        file: 'src/jobs/listings.ts',
        after: "    if (job.type === 'delete' || ",
        text: 'job.definition.skipHidden === true || ',
      },
    ],
  },
  {
    change: 'a field of an API key',
    name: 'purpose',
    most: 3,
    edits: [
      {
        file: 'src/contract/api-key.ts',
        after: 'export const apiKeyFields = {\n',
        text: `  purpose: given(textOrNull('What the key is for.', { maxLength: 200, pattern: NAME }), {
    texts: { label: 'Purpose' },
    option: { flags: '--purpose <text>', help: 'what it is for' },
    default: null,
    file: { allowed: 'text of at least one character', example: 'releases' },
  }),
`,
      },
      {
        file: 'src/contract/de/fields.ts',
        after: '  apiKey: {\n',
        text: "    purpose: { label: 'Zweck' },\n",
      },
      {
        file: 'src/storage/migrations/9999.do.purpose-of-keys.sql',
        text: 'alter table api_keys add column purpose text;\n',
      },
    ],
  },
  {
    change: 'a field of a copy',
    name: 'if_newer',
    most: 2,
    edits: [
      {
        file: 'src/contract/file-request.ts',
        after: 'export const copyRequestFields = {\n',
        text: "  if_newer: Type.Optional(flag('Whether an older file is left out.')),\n",
      },
      {
        file: 'src/api/files/copy.ts',
        after: '  const wanted = body.dest_path ?? body.source_path;\n',
        text: '  if (body.if_newer === true) requireOpen(target);\n',
      },
    ],
  },
  {
    change: 'an error code',
    name: 'server_asleep',
    most: 2,
    edits: [
      {
        file: 'src/contract/errors.ts',
        after: 'const catalogue = {\n',
        text: `  server_asleep: {
    status: 503,
    fault: 'remote',
    retry: 'retry_after',
    endpoints: 'remote',
    inJobs: 'retry',
    meaning: 'The remote server is asleep.',
    remedy: 'Wait until it is awake.',
    example: 'the server is asleep',
  },
`,
      },
      {
        file: 'src/contract/de/errors.ts',
        after: 'Record<ErrorCode, ErrorTexts>> = {\n',
        text: "  server_asleep: { meaning: 'Der Server schläft.', remedy: 'Warten Sie, bis er wach ist.' },\n",
      },
    ],
  },
  {
    change: 'a kind of what needs attention',
    name: 'month_running_out',
    most: 2,
    edits: [
      {
        file: 'src/contract/attention.ts',
        after: 'const kinds = {\n',
        text: `  month_running_out: {
    facts: 'month',
    page: '/usage',
    found: 'the forecast says that the month runs out',
    en: {
      text: 'The {limit} actions of this month will not be enough',
      choice: 'The actions of the month will not be enough',
      open: 'See the usage',
    },
    de: {
      text: 'Die {limit} Aktionen dieses Monats werden nicht genügen',
      choice: 'Die Aktionen des Monats werden nicht genügen',
      open: 'Verbrauch ansehen',
    },
  },
`,
      },
      {
        file: 'src/attention/find.ts',
        after: "    ...counted('dead_letters', watch.deadLetters),\n",
        text: "    ...(month.runsOutAt === null ? [] : [{ kind: 'month_running_out' as const, used: month.used, limit: month.limit }]),\n",
      },
    ],
  },
  {
    change: 'an event type',
    name: 'connection.slow',
    most: 2,
    edits: [
      {
        file: 'src/contract/event.ts',
        after: 'const subscribedTypes = {\n',
        text: `  'connection.slow': subscribed({
    schemaName: 'ConnectionSlowEvent',
    operationId: 'connectionSlow',
    summary: 'A server answers late',
    name: 'Connection Slow',
    text: 'A server answers late.',
    data: { connection, connectMs: count('How long it took to connect, in milliseconds.') },
    example: { connection: connectionExample, connectMs: 4000 },
  }),
`,
      },
      {
        file: 'src/contract/de/events.ts',
        after: 'Record<SubscribedType, string>> = {\n',
        text: "  'connection.slow': 'Ein Server antwortet spät.',\n",
      },
    ],
  },
];

/** The files that a recipe changes, with their new text. @throws Error where a place is not found */
export function changedFiles({ edits, change }: Recipe, root: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { file, after, text } of edits) {
    const before = files.get(file) ?? (after === undefined ? '' : readFileSync(join(root, file), 'utf8'));
    const at = after === undefined ? 0 : before.indexOf(after) + after.length;
    if (after !== undefined && !before.includes(after)) throw new Error(`${change}: ${file} has no ${after.trim()}`);
    files.set(file, before.slice(0, at) + text + before.slice(at));
  }
  return files;
}

export const linesOf = ({ edits }: Recipe): number =>
  edits.reduce((sum, { text }) => sum + Math.max(1, text.split('\n').length - 1), 0);
