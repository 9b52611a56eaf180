import { Type, type Static } from 'typebox';
import { flag, oneOf, text, textOrNull } from '../base/schema.js';
import { NAME } from '../base/formats.js';

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
