/** Sends large files in a way that lets an interrupted `ftg put` continue when it runs again. */
import { createReadStream, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { FtgError, type Transfer, type UploadOptions } from '../client/index.js';
import type { Session } from './command.js';
import { RESUMABLE_BYTES } from '../contract/tus.js';
import { keptAs } from './kept.js';

/** What both forms of an upload take. */
type PutOptions = Omit<UploadOptions, 'verify'>;

/** Uploads a local file, which can be read again for another try. */
export async function uploadFile(
  session: Session,
  file: string,
  connectionId: string,
  options: PutOptions,
): Promise<Transfer> {
  const isLarge = (options.size ?? 0) >= RESUMABLE_BYTES;
  const transfer = isLarge ? await putResumable(session, file, connectionId, options) : undefined;
  return transfer ?? session.gateway.files.upload(connectionId, () => createReadStream(file), options);
}

/** undefined if the server cannot continue files. */
async function putResumable(
  { gateway }: Session,
  file: string,
  connectionId: string,
  options: PutOptions,
): Promise<Transfer | undefined> {
  const { size, mtimeMs } = statSync(file);
  const { path, filename, overwrite, filename_template } = options;
  const same = [gateway.url, connectionId, path, filename, overwrite, filename_template, resolve(file), size, mtimeMs];
  const kept = keptAs('uploads', same);
  const begun = kept.read();
  try {
    const item = await gateway.files.uploadResumable(
      connectionId,
      { size, from: (start) => createReadStream(file, { start }) },
      {
        ...options,
        url: begun?.startsWith('/api/uploads/') === true ? begun : undefined,
        onUrl: (url) => kept.write(url),
      },
    );
    kept.forget();
    const connections = await gateway.files.connections();
    const { id, durationMs } = item;
    const connection = connections.find((one) => one.id === connectionId);
    return {
      id,
      filename: item.filename,
      path: item.path,
      size: item.fileSize,
      durationMs,
      connection: { id: connectionId, name: connection?.name ?? connectionId, type: connection?.type ?? 'sftp' },
    };
  } catch (error) {
    if (error instanceof FtgError && error.code === 'resume_unsupported') return undefined;
    throw error;
  }
}
