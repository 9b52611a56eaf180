import { GatewayError } from '../base/errors.js';
import type { RemotePath } from './path.js';

/** Why what stands at `to` keeps a move from its place: only a file takes the place of a file, and only when told to. */
export function moveObstacle(
  { isFolder, replace }: { readonly isFolder: boolean; readonly replace: boolean },
  to: RemotePath,
  standing: 'file' | 'folder' | undefined,
): GatewayError | undefined {
  const step = 'publish';
  if (standing === 'folder') return new GatewayError('is_a_folder', `a folder stands at ${to}`, { step });
  if (standing === 'file' && isFolder) return new GatewayError('not_a_folder', `a file stands at ${to}`, { step });
  if (standing === 'file' && !replace) return new GatewayError('already_exists', `${to} exists already`, { step });
  return undefined;
}
