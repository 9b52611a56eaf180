import { modeBits, modeText } from '../../../base/file-mode.js';
import { GatewayError } from '../../../base/errors.js';
import type { SftpConnection } from '../../../connections/connection.js';
import type { RemotePath } from '../../path.js';
import type { SftpChannel } from '../session/channel.js';
import { isStatus, STATUS } from '../wire/replies.js';
import { isDone, type ServerPath } from './confine.js';

/** The rights that a connection gives to what the gateway makes; undefined = as the server decides. */
export interface Modes {
  readonly file: number | undefined;
  readonly folder: number | undefined;
}

export function modesOf({ fileMode, folderMode }: Pick<SftpConnection, 'fileMode' | 'folderMode'>): Modes {
  const bits = (text: string | undefined): number | undefined => (text === undefined ? undefined : modeBits(text));
  return { file: bits(fileMode), folder: bits(folderMode) };
}

/**
 * Sets the rights of a file before it gets its name; some servers can do it only by the name that it has.
 * @throws GatewayError permission_denied, remote_failure
 */
export async function setFileMode(
  channel: SftpChannel,
  { handle, file, path }: { readonly handle?: Buffer; readonly file: ServerPath; readonly path: RemotePath },
  mode: number | undefined,
): Promise<void> {
  if (mode === undefined) return;
  try {
    if (handle !== undefined && (await isDone(channel.setMode(handle, mode)))) return;
    await channel.setModeAt(file.raw, mode);
  } catch (error) {
    throw refusedMode(error, path, 'fileMode', mode);
  }
}

/** Sets the rights of a folder that was just made; it is removed if the server refuses. @throws as setFileMode */
export async function setFolderMode(channel: SftpChannel, { raw, path }: ServerPath, mode: number): Promise<void> {
  try {
    await channel.setModeAt(raw, mode);
  } catch (error) {
    if (isStatus(error)) await channel.removeFolder(raw).catch(() => undefined);
    throw refusedMode(error, path, 'folderMode', mode);
  }
}

function refusedMode(error: unknown, path: RemotePath, setting: 'fileMode' | 'folderMode', mode: number): unknown {
  if (!isStatus(error)) return error;
  const code = isStatus(error, STATUS.PERMISSION_DENIED) ? 'permission_denied' : 'remote_failure';
  const words = `the server refuses to give ${path} the rights ${modeText(mode)} (${setting} of the connection)`;
  return new GatewayError(code, words, {
    step: 'verify',
    cause: error,
    remote: { code: error.status, text: error.text },
  });
}
