/** FileInfo as the API shows it. */
import { Type, type Static } from 'typebox';
import { base64, count, flag, object, text } from '../../contract/schema.js';
import { baseName, rawNamesOf, withRawName } from '../../remotes/path.js';
import type { FileInfo } from '../../remotes/remote.js';
import { answeredPath, RAW_NAME } from '../fields.js';

export const fileInfo = object('FileInfo', {
  name: text('Name of the file or folder.'),
  path: answeredPath(),
  size: count('Bytes.'),
  isDirectory: flag('Whether it is a folder.'),
  modifiedAt: text('Time of the last change, UTC.', { format: 'date-time' }),
  rawName: Type.Optional(base64(RAW_NAME)),
});

export const fileExample = {
  name: 'report.pdf',
  path: '/upload/report.pdf',
  size: 48213,
  isDirectory: false,
  modifiedAt: '2026-01-31T12:00:00.000Z',
};

/** JSON leaves out what is undefined. */
export function fileInfoOf(file: FileInfo): Static<typeof fileInfo> {
  const { name, path, size, isDirectory, modifiedAt } = file;
  const isExact = file.rawName === undefined || !baseName(path).isWellFormed();
  const exact = isExact ? path : withRawName(path, file.rawName, 'rawName');
  return {
    name: name.toWellFormed(),
    path: path.toWellFormed(),
    size,
    isDirectory,
    modifiedAt: modifiedAt.toISOString(),
    rawName: rawNamesOf(exact),
  };
}
