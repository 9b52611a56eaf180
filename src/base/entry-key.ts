/** The identity of a file in a tree: the exact bytes of its path below the tree's root, UTF-8 or not. */
import { isUtf8 } from 'node:buffer';

/** `folder`: the path of its folder below the root, "" for the root. */
export function entryKey(folder: string, file: { readonly name: string; readonly rawName?: string }): Buffer {
  const name = file.rawName === undefined ? Buffer.from(file.name) : Buffer.from(file.rawName, 'base64');
  return folder === '' ? name : Buffer.concat([Buffer.from(`${folder}/`), name]);
}

interface EntryName {
  /** Below the root; bytes that are not UTF-8 are shown as replacement characters. */
  readonly path: string;
  readonly name: string;
  /** The base64 bytes of a name that is not UTF-8. */
  readonly rawName: string | undefined;
}

export function nameOfKey(key: Buffer): EntryName {
  const slash = key.lastIndexOf(0x2f);
  const raw = key.subarray(slash + 1);
  const path = key.toString('utf8');
  return {
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    rawName: isUtf8(raw) ? undefined : raw.toString('base64'),
  };
}
