import { ROOT, type RemotePath } from '../../path.js';

/** Object key of the file at `path`: "/a/b" ↔ prefix + "a/b". */
export function fileKey(prefix: string, path: RemotePath): string {
  return prefix + path.slice(1);
}

/** Key prefix, and key of the marker object, of the folder at `path`: "/a/b" ↔ prefix + "a/b/"; the root's is the prefix. */
export function folderKey(prefix: string, path: RemotePath): string {
  return path === ROOT ? prefix : `${fileKey(prefix, path)}/`;
}

/** The value of x-amz-copy-source: bucket and key percent-encoded, except their slashes. */
export function copySource(bucket: string, key: string): string {
  return `${bucket}/${key}`.split('/').map(encodeURIComponent).join('/');
}

/**
 * Decodes a key of a listing that was requested with encoding-type=url. The encoding is that of forms (a space may be
 * "+"). Undefined if the bytes are not UTF-8.
 */
export function decodeListedKey(text: string, isEncoded: boolean): string | undefined {
  if (!isEncoded) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** An entity tag without its quotes; undefined if a store sends none or an empty one. */
export function bareEtag(etag: string | undefined): string | undefined {
  const bare = etag?.replace(/^W\//, '').replace(/^"|"$/g, '');
  return bare === '' ? undefined : bare;
}

/** S3 answers HEAD with whole seconds, and some stores send milliseconds in listings: whole seconds make them equal. */
export function wholeSeconds(time: Date | undefined): Date {
  return new Date(Math.floor((time?.getTime() ?? 0) / 1000) * 1000);
}
