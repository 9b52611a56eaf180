/** A file or folder on a remote server. */
import { TIME } from './examples.js';
import { Type } from 'typebox';
import { base64, count, dateTime, flag, text } from './schema.js';
import { derived, type ExampleOf, kept } from './thing.js';
import { RAW_NAME, ROOT_PATH } from './words.js';

export const fileFields = {
  name: kept(text('Name of the file or folder.')),
  path: kept(text(ROOT_PATH)),
  size: kept(count('Bytes.')),
  isDirectory: kept(flag('Whether it is a folder.')),
  modifiedAt: kept(dateTime('Time of the last change, UTC.')),
  mode: derived(
    Type.Optional(
      text('Rights as four octal digits, such as `0644`. Absent where the server does not report them, and on S3.'),
    ),
  ),
  owner: derived(
    Type.Optional(
      text(
        'Name of the owner, or its number where the server reports no name, as SFTP does for a single file. Absent like `mode`.',
      ),
    ),
  ),
  group: derived(Type.Optional(text('Name of the group, or its number. Absent like `mode`.'))),
  isLink: derived(
    Type.Optional(flag('In a list, true for a symbolic link; all other fields are of its target. Otherwise absent.')),
  ),
  rawName: derived(Type.Optional(base64(RAW_NAME))),
};

export const fileExample = {
  name: 'report.pdf',
  path: '/upload/report.pdf',
  size: 48213,
  isDirectory: false,
  modifiedAt: TIME,
  mode: '0644',
  owner: 'upload',
  group: 'partners',
} as const satisfies ExampleOf<typeof fileFields>;
