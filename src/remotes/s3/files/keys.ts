import { ROOT, type RemotePath } from '../../path.js';

/** Object key of the file at `path`: "/a/b" ↔ prefix + "a/b". */
export function fileKey(prefix: string, path: RemotePath): string {
  return prefix + path.slice(1);
}

/** Key prefix, and key of the marker object, of the folder at `path`: "/a/b" ↔ prefix + "a/b/"; the root's is the prefix. */
export function folderKey(prefix: string, path: RemotePath): string {
  return path === ROOT ? prefix : `${fileKey(prefix, path)}/`;
}

/** Value of x-amz-copy-source: bucket and key percent-encoded, their slashes kept. */
export function copySource(bucket: string, key: string): string {
  return `${bucket}/${key}`.split('/').map(encodeURIComponent).join('/');
}

/**
 * A key out of a listing that was asked for with encoding-type=url. The encoding is that of forms (a space may come as
 * "+"). Undefined where the bytes are not UTF-8.
 */
export function decodeListedKey(text: string, isEncoded: boolean): string | undefined {
  if (!isEncoded) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** An entity tag without its quotes; undefined where a store gives none or an empty one. */
export function bareEtag(etag: string | undefined): string | undefined {
  const bare = etag?.replace(/^W\//, '').replace(/^"|"$/g, '');
  return bare === '' ? undefined : bare;
}

/** S3 answers HEAD with whole seconds and listings, at some stores, with milliseconds: whole seconds make them agree. */
export function wholeSeconds(time: Date | undefined): Date {
  return new Date(Math.floor((time?.getTime() ?? 0) / 1000) * 1000);
}
