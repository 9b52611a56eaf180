import { GatewayError } from '../../../base/errors.js';
import { makeFolders } from '../../make-folders.js';
import type { RemotePath } from '../../path.js';
import type { FileInfo } from '../../remote.js';
import { find } from './lookup.js';
import type { Operation } from '../session/operation.js';
import { isPositive, refusal } from '../session/replies.js';

/**
 * Makes a folder and its missing parents; `created` is false when it stood there already, also when another maker was
 * faster. not_a_folder when a file stands in the way, permission_denied.
 */
export function makeFolder(operation: Operation, path: RemotePath): Promise<{ readonly created: boolean }> {
  return makeFolders(path, {
    tryToMake: (at) => tryToMake(operation, at),
    make: async (at) => {
      const reply = await operation.ask('MKD', at);
      if (isPositive(reply) || (await isFolderNow(operation, at))) return;
      throw refusal(reply, 'open', `making the folder ${at}`, 'permission_denied');
    },
  });
}

/** MKD first: one command where the parent is there. Its refusal means nothing by itself (550, 521, 553 …). */
async function tryToMake(operation: Operation, path: RemotePath): Promise<'made' | 'exists' | 'absent'> {
  if (isPositive(await operation.ask('MKD', path))) return 'made';
  const info = await find(operation, path);
  if (info === undefined) return 'absent';
  return expectFolder(info) ? 'exists' : 'absent';
}

async function isFolderNow(operation: Operation, path: RemotePath): Promise<boolean> {
  const info = await find(operation, path);
  return info !== undefined && expectFolder(info);
}

function expectFolder(info: FileInfo): true {
  if (info.isDirectory) return true;
  throw new GatewayError('not_a_folder', `${info.path} is a file; no folder can be made there`, { step: 'open' });
}
