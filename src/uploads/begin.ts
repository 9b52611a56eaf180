/** The beginning of an upload: its row, and then its hidden file or the upload of a store. */
import { hasCode } from '../base/errors.js';
import { temporaryName } from '../operations/names.js';
import { cannotResume, isAFolder } from '../remotes/obstacles.js';
import { baseName, joinPath, parentOf, type RemotePath } from '../remotes/path.js';
import type { Attempt } from '../remotes/registry.js';
import type { Remote } from '../remotes/remote.js';
import type { NewUpload, Upload } from '../contract/upload.js';
import type { UploadAddress } from '../storage/storage.js';
import { fileOf, piecesOf, type UploadRequest, type UploadServiceOptions } from './file.js';

interface Beginning {
  readonly remote: Remote;
  readonly attempt: Attempt;
  readonly writer: string;
  /** The file is read back before it is published. */
  readonly isChecked: boolean;
}

interface BegunUpload extends Omit<NewUpload, 'path' | 'hidden' | 'layout'> {
  readonly path: RemotePath;
  readonly isMultipart?: boolean;
}

/** Makes an upload that `writer` holds. Errors: resume_unsupported, share_exceeded, and those of the remote. */
export async function beginUpload(
  { store, limits }: UploadServiceOptions,
  { remote, attempt, writer, isChecked }: Beginning,
  { isMultipart = false, path, ...begun }: BegunUpload,
): Promise<Upload> {
  const pieces = piecesOf(remote);
  // A client must know if its file would be under a name that text cannot express.
  if (!path.isWellFormed()) throw cannotResume('the name of the folder is not UTF-8');
  const { id } = begun;
  const hidden = hiddenNameBeside(path);
  attempt.committed();
  const upload = await store.create({ ...begun, path, hidden, layout: isMultipart ? 'apart' : null }, writer, limits);
  let file = fileOf(store, upload, writer);
  try {
    const modifiedAt = begun.modifiedAt ?? undefined;
    const { storeId, layout } = await pieces.begin(file, { modifiedAt, isChecked, canBeApart: isMultipart });
    file = { ...file, storeId };
    return await store.note({ id, writer }, { storeId, ...(isMultipart ? { layout } : {}) });
  } catch (error) {
    // What cannot be removed now is removed when it has expired.
    await pieces.discard(file).then(
      () => store.remove(id, writer),
      () => store.release(id, writer, false),
    );
    throw error;
  }
}

/** A new hidden name in the folder of a file. */
export const hiddenNameBeside = (path: RemotePath): RemotePath =>
  joinPath(parentOf(path), temporaryName('up', baseName(path)));

export function uploadAddressOf(
  { caller, connection, link }: Pick<UploadRequest, 'caller' | 'connection' | 'link'>,
  id: string,
): Omit<UploadAddress, 'isMultipart'> {
  return { accountId: caller.accountId, connectionId: connection.id, id, linkId: link?.id ?? null };
}

export const keyIdOf = ({ caller: { keyId } }: UploadRequest): string | null => (keyId === '' ? null : keyId);

/** @throws GatewayError is_a_folder */
export async function refuseFolder(remote: Remote, path: RemotePath): Promise<void> {
  const found = await remote.stat(path).catch((error: unknown) => {
    // A login that may only write may not look.
    if (hasCode(error, 'not_found', 'permission_denied')) return undefined;
    throw error;
  });
  if (found?.isDirectory === true) throw isAFolder(path);
}
