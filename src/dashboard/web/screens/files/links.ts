/** Addresses of files and folders: for downloads, and for sharing with people and programs. */
import { segment, withQuery } from '../../api/client.ts';
import type { FileInfo } from '../../api/types.ts';
import { downloadZip } from './bulk-download.ts';
import { nameOf, parentOf, rawNameAbove } from '../../ui/paths.ts';

export function downloadUrl(connectionId: string, { path, rawName, isDirectory }: FileInfo): string {
  const format = isDirectory ? 'zip' : undefined;
  return withQuery(`/api/download/${segment(connectionId)}`, { path, rawName, format });
}

/** Downloads one file directly, and a folder or several entries as an archive. */
export function download(connectionId: string, files: readonly FileInfo[]): void {
  const [only] = files;
  if (only === undefined) return;
  if (files.length > 1 || only.isDirectory) return downloadZip(connectionId, files);
  const link = document.createElement('a');
  link.href = downloadUrl(connectionId, only);
  link.download = only.name;
  link.click();
}

export function folderAddress(connectionId: string, path: string, rawName?: string): string {
  return withQuery(`/files/${segment(connectionId)}`, { path, rawName });
}

/** The form of a job whose source is this folder. */
export function newJobAddress(connectionId: string, { path, rawName }: FileInfo): string {
  return withQuery('/jobs/new', { source: connectionId, path, rawName });
}

/** A link to the folder, or to the file over its folder, for users who can log in. */
export function linkTo(connectionId: string, { path, rawName, isDirectory }: FileInfo): string {
  const above = parentOf(path);
  const address = isDirectory
    ? folderAddress(connectionId, path, rawName)
    : withQuery(`/files/${segment(connectionId)}`, {
        path: above,
        rawName: rawNameAbove(path, rawName, above),
        file: nameOf(path),
      });
  return `${location.origin}${address}`;
}

/** A command for a POSIX shell that downloads the file with a key. */
export function curlLine(connectionId: string, file: FileInfo): string {
  const output = `./${file.name === '' ? connectionId : file.name}${file.isDirectory ? '.zip' : ''}`;
  const url = `${location.origin}${downloadUrl(connectionId, file)}`;
  return `curl -fsS -H "Authorization: Bearer $FTG_KEY" -o ${quoted(output)} ${quoted(url)}`;
}

/** Quotes text for a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
