/** What is said of a watched folder, and the settings that come of it. */
import { Type, type Static } from 'typebox';
import { NAME } from '../base/formats.js';
import { refusal } from '../base/errors.js';
import { flag, oneOf, text, textOrNull } from '../base/schema.js';
import type { Connection } from '../connections/connection.js';
import { baseName, parseRemotePath, type RemotePath } from '../remotes/path.js';
import { type WatchedFolder, type WatchSettings, withoutLogin } from '../storage/storage.js';

const DEFAULT_MINUTES = 5;
const DEFAULT_MOVE_TO = 'processed';

/** What its owner says of a watched folder, beside where it is. */
export const folderFields = {
  webhookUrl: textOrNull('URL that receives a POST when files are found.', {
    minLength: 1,
    maxLength: 2048,
    pattern: NAME,
  }),
  filePattern: glob('A glob on the file name, or on the path below the folder where it holds `/` or `**`.'),
  scheduleMinutes: Type.Integer({ minimum: 1, maximum: 1440, description: 'Minutes between two checks.' }),
  name: text("Shown in the dashboard; the folder's own name when absent.", {
    minLength: 1,
    maxLength: 200,
    pattern: NAME,
  }),
  detectModified: flag('Also report files whose size or date changed.'),
  excludePattern: glob('A glob of files that are not reported.'),
  doneFile: textOrNull('Name of a marker file: a file is reported only once its marker is there too.', {
    minLength: 1,
    maxLength: 255,
    pattern: NAME,
  }),
  initial: oneOf(['ignore', 'report'], 'Whether the files of the first check are reported, or are the baseline.'),
  recursive: flag('Whether sub-folders are watched too.'),
  minAgeSeconds: Type.Integer({
    minimum: 0,
    maximum: 604_800,
    description: 'Files younger than this are not reported yet.',
  }),
  afterDelivery: oneOf(
    ['keep', 'move', 'delete'],
    'What happens to a file once its event was delivered; `move` and `delete` need the scope `write`.',
  ),
  /** Relative to the folder or absolute. */
  moveTo: textOrNull('Folder for `afterDelivery: move`.', { minLength: 1, maxLength: 4096, pattern: NAME }),
  expectEveryMinutes: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 525_600,
    description: 'Raise an alarm when no file came for this long.',
  }),
};

function glob(description: string): ReturnType<typeof textOrNull> {
  return textOrNull(description, { minLength: 1, maxLength: 1024, pattern: NAME });
}

export const folderSettings = Type.Partial(Type.Object(folderFields));

/** Absent fields have their defaults, or stay as they are. */
export type FolderSettings = Readonly<Static<typeof folderSettings>>;

/** What a caller may have a folder do to files; it is asked when that is said, and the folder is the account's from then on. */
export type WatchRights = 'look' | 'move_and_delete';

/** A key that may not delete a file must not have it deleted either. */
export function checkRights(afterDelivery: WatchSettings['afterDelivery'], rights: WatchRights): void {
  if (afterDelivery === 'keep' || rights === 'move_and_delete') return;
  throw refusal('scope_missing', `afterDelivery "${afterDelivery}" needs an API key with the scope "write"`);
}

export function settingsOf(
  connection: Connection,
  path: RemotePath,
  input: FolderSettings,
  source: string,
): WatchSettings {
  const afterDelivery = input.afterDelivery ?? 'keep';
  const name = input.name?.trim() ?? '';
  const moveTo = afterDelivery === 'move' ? parseRemotePath(input.moveTo ?? DEFAULT_MOVE_TO, path, 'moveTo') : null;
  if (moveTo === path) {
    throw refusal('bad_request', 'moveTo must be another folder than the watched one');
  }
  return {
    connectionId: connection.id,
    name: name !== '' ? name : baseName(path) || connection.name,
    path,
    filePattern: input.filePattern ?? null,
    excludePattern: input.excludePattern ?? null,
    doneFile: input.doneFile ?? null,
    scheduleMinutes: input.scheduleMinutes ?? DEFAULT_MINUTES,
    webhookUrl: input.webhookUrl ?? null,
    source,
    detectModified: input.detectModified ?? false,
    recursive: input.recursive ?? false,
    initial: input.initial ?? 'ignore',
    minAgeSeconds: input.minAgeSeconds ?? 0,
    afterDelivery,
    moveTo,
    expectEveryMinutes: input.expectEveryMinutes ?? null,
  };
}

/** A login in the webhook's URL is a secret: it is kept as one, and shown to nobody. */
export function targetOf(webhookUrl: string | null | undefined): {
  readonly url: string | null | undefined;
  readonly login: string | undefined;
} {
  return typeof webhookUrl === 'string' ? withoutLogin(webhookUrl) : { url: webhookUrl, login: undefined };
}

/** As its owner would say it of another path: what lies below the folder goes with it. */
export function relativeMoveTo({ path, moveTo }: WatchedFolder): string | null {
  const below = path === '/' ? '/' : `${path}/`;
  return moveTo?.startsWith(below) === true ? moveTo.slice(below.length) : moveTo;
}
