/** Fields of requests for file operations and their history, shared by the API, the MCP tools and the n8n nodes. */
import { Type, type TSchemaOptions, type TString } from 'typebox';
import { flag, oneOf, text, type TSchemaOf, withDefault } from './schema.js';
import { CONNECTION_ID, FILE_NAME, RAW_NAME } from './words.js';

/** Path parameters of a request. */
export const connectionParameter = {
  connectionId: text(CONNECTION_ID, { minLength: 1, examples: ['warehouse'] }),
};

export const connectionId = (description = CONNECTION_ID): TString =>
  text(description, { minLength: 1, maxLength: 64 });

export const remotePath = (
  description = 'Path on the remote server, absolute or from the default path of the connection.',
  options?: TSchemaOptions,
): TString => text(description, { minLength: 1, maxLength: 4096, ...options });

export const rawName = (description = RAW_NAME, options?: TSchemaOptions): TString =>
  text(description, { minLength: 1, maxLength: 5464, ...options });

/** Query parameters that name a file. */
export const fileParameters = {
  path: remotePath(undefined, { examples: ['/upload/report.pdf'] }),
  rawName: Type.Optional(rawName(undefined, { examples: ['cmVwb3J0LnBkZg=='] })),
};

/** The tokens of a file name template. The examples are for `report.pdf`, at a time in UTC. */
export const FILENAME_TOKENS = {
  filename: { example: 'report.pdf', meaning: 'the name with its extension' },
  name: { example: 'report', meaning: 'the name without its extension' },
  ext: { example: 'pdf', meaning: 'the extension without its dot' },
  date: { example: '2026-01-31', meaning: 'the day' },
  time: { example: '090507', meaning: 'hour, minute, second' },
  datetime: { example: '20260131T090507Z', meaning: 'day and time' },
  timestamp: { example: '1769850307', meaning: 'Unix seconds' },
  year: { example: '2026', meaning: 'the year' },
  month: { example: '01', meaning: 'the month' },
  day: { example: '31', meaning: 'the day of the month' },
  uuid: { example: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c7e2', meaning: 'new for each upload' },
} as const;
export type FilenameToken = keyof typeof FILENAME_TOKENS;
export const SHOWN_FILENAME_TOKENS = Object.keys(FILENAME_TOKENS).map((token) => `{${token}}`);

const filenameTemplate = (options?: TSchemaOptions): TString =>
  text(`Renames the file. Tokens, in UTC: ${SHOWN_FILENAME_TOKENS.map((token) => `\`${token}\``).join(' ')}.`, {
    minLength: 1,
    maxLength: 1024,
    ...options,
  });

const MTIME =
  'Time of the last change that the file is to have, a date-time with its zone. Kept in whole seconds where the server keeps times, on S3 as metadata.';

const mtime = (description = MTIME, options?: TSchemaOptions): TString =>
  text(description, { maxLength: 64, ...options });

const OVERWRITE = 'Whether a file of this name may be replaced. Without, it is 409 with `skipped: true`.';

export const CONTENT = 'Text, or base64 where `encoding` is `base64`.';

export const encoding = (options?: TSchemaOptions): TSchemaOf<'text' | 'base64'> =>
  oneOf(['text', 'base64'], 'How `content` is written.', options);

/** The longest path, in base64, and the signature. */
const MAX_CURSOR = 6_144;

const cursorParameter = (description: string): TString =>
  text(description, { minLength: 1, maxLength: MAX_CURSOR, examples: ['YS9iLnR4dA.5mJH0Lw7wGk9tTqk2N4nXA'] });

/** Entries per page of a list. */
const MAX_PAGE = 10_000;

export const listFields = {
  path: Type.Optional(
    remotePath("Remote folder; the connection's default path when absent.", { examples: ['/upload'] }),
  ),
  rawName: fileParameters.rawName,
  recursive: withDefault(flag('Also what lies in sub-folders, at most 100 levels deep.', { examples: [false] }), false),
  pattern: Type.Optional(
    text(
      'A glob on the path below the folder: `*.csv` for those in the folder itself, `**/*.csv` at any depth. A star matches a leading dot, too. Folders that cannot hold a match are not read.',
      { minLength: 1, maxLength: 1024, examples: ['**/*.csv'] },
    ),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'Entries of one page.', examples: [1000] }),
  ),
  cursor: Type.Optional(
    cursorParameter('The `nextCursor` of the page before; all else of the request stays as it was.'),
  ),
};

export const copyRequestFields = {
  source_connection_id: connectionId('Connection that the file is read from.'),
  source_path: remotePath('Path of the file there.'),
  source_raw_name: Type.Optional(rawName('The `rawName` of that file, where it has one. Needs `dest_path`.')),
  dest_connection_id: connectionId('Connection that the file is copied to.'),
  dest_path: Type.Optional(remotePath('Path of the copy; `source_path` when absent.')),
  filename_template: Type.Optional(filenameTemplate()),
  overwrite: withDefault(flag(OVERWRITE), true),
  mtime: Type.Optional(mtime(`${MTIME} Without, the copy keeps the time of the source.`)),
};

export const moveFields = {
  from: remotePath('Present path.'),
  rawName: Type.Optional(rawName()),
  to: remotePath('New path. Missing folders are created.'),
  overwrite: withDefault(flag('Whether a file at `to` may be replaced.'), false),
};

export const deleteFields = {
  path: remotePath(),
  rawName: Type.Optional(rawName()),
  recursive: withDefault(flag('Whether a folder goes with all below it.'), false),
};

export const folderFields = { path: remotePath('Full path of the folder. Missing parents are created.') };

export const contentFields = { path: remotePath(), encoding: withDefault(encoding(), 'text'), content: text(CONTENT) };
export const writeFields = { ...contentFields, mtime: Type.Optional(mtime()) };

export const fileName = text(FILE_NAME, { minLength: 1, maxLength: 255, examples: ['report.pdf'] });

/** The target of an upload. The fields of a body have no defaults: an absent field is taken from the query. */
export const namingFields = {
  path: Type.Optional(
    remotePath("Remote folder; the connection's default path when absent. Missing folders are created.", {
      examples: ['/upload'],
    }),
  ),
  filename: Type.Optional(fileName),
  overwrite: Type.Optional(flag(OVERWRITE, { examples: [false] })),
  filename_template: Type.Optional(filenameTemplate({ examples: ['{date}-{filename}'] })),
  mtime: Type.Optional(mtime(undefined, { examples: ['2026-01-31T12:00:00Z'] })),
};
export const uploadRequestFields = { ...namingFields, overwrite: withDefault(namingFields.overwrite, true) };
/** The query of an upload. */
export const uploadQueryFields = {
  ...uploadRequestFields,
  verify: Type.Optional(
    oneOf(
      ['size', 'readback'],
      'Whether the length of what was stored is compared, or all of it is read again before it takes its place; as the connection says when absent.',
      { examples: ['readback'] },
    ),
  ),
};
export const uploadUrlField = text('http or https; the gateway fetches it.', { minLength: 1, maxLength: 8192 });
