/** FileInfo in the form of the API. */
import { modeText } from '../../base/file-mode.js';
import { isoTime } from '../../base/iso-time.js';
import { fileFields } from '../../contract/file.js';
import { object } from '../../contract/schema.js';
import { shownFields } from '../../contract/thing.js';
import { baseName, rawNamesOf, withRawName } from '../../remotes/path.js';
import type { FileInfo } from '../../remotes/remote.js';

export const fileInfoSchema = object('FileInfo', shownFields(fileFields, 'key'));

/** A list may have a million of them. JSON omits undefined values. */
export function fileInfoOf(file: FileInfo): Readonly<Record<keyof typeof fileFields, unknown>> {
  const { name, path, size, isDirectory, modifiedAt, mode, owner, group, isLink } = file;
  const isExact = file.rawName === undefined || !baseName(path).isWellFormed();
  const exact = isExact ? path : withRawName(path, file.rawName, 'rawName');
  return {
    name: name.toWellFormed(),
    path: path.toWellFormed(),
    size,
    isDirectory,
    modifiedAt: isoTime(modifiedAt),
    mode: mode === undefined ? undefined : modeText(mode),
    owner,
    group,
    isLink,
    rawName: rawNamesOf(exact),
  };
}
