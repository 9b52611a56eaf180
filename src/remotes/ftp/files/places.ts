/** The calls on names of the server that publishing is made of. */
import { GatewayError, refusal } from '../../../base/errors.js';
import { makeFolders } from '../../make-folders.js';
import { folderExistsAt, notAFolder } from '../../obstacles.js';
import { hasLongName, joinPath, parentOf, type RemotePath } from '../../path.js';
import type { Place, Places } from '../../publish.js';
import type { FtpOperation } from '../session/operation.js';
import { isPositive, refusedBy, type Reply } from '../session/replies.js';
import { find, isSurelyFolder } from './lookup.js';

/** Time limit for everything after a lost connection: a new login and a few commands. */
const AFRESH_MS = 20_000;

/** The server took the bytes, but not the name. */
function storedElsewhere(path: RemotePath): GatewayError {
  const text = `${path}: the FTP server stored the file under another name than the one that was sent`;
  return new GatewayError('remote_failure', text, { step: 'verify' });
}

/** @throws GatewayError bad_path */
export function refuseAlteredName({ lease }: FtpOperation, path: RemotePath): void {
  if (!path.endsWith(' ') || !lease.control.isSoftware('pure-ftpd')) return;
  throw refusal('bad_path', `${path}: Pure-FTPd stores a name with a blank at its end under another name`);
}

/** The same operation on a new control connection, after the former one was lost. */
export async function reconnected(operation: FtpOperation): Promise<FtpOperation> {
  const patient = operation.under(AbortSignal.timeout(AFRESH_MS));
  await patient.lease.reconnect(patient.signal);
  return patient;
}

export function placesOn(operation: FtpOperation): Places<Place> {
  const { memory } = operation.lease;

  return {
    async lookUp({ path }) {
      const found = await find(operation, path);
      return found && { isFolder: found.isDirectory, size: found.size };
    },

    async makeFolder(path) {
      // Some servers report success for making a folder that exists.
      if (await operation.isFolder(path)) return { created: false };
      // Tries MKD first: a single command if the parent exists. Its refusal proves nothing (550, 521, 553 …).
      const make = async (at: RemotePath): Promise<'made' | 'exists' | Reply> => {
        refuseAlteredName(operation, at);
        const reply = await operation.ask('MKD', at);
        if (isPositive(reply)) return 'made';
        const existing = await find(operation, at);
        if (existing?.isDirectory === false) throw notAFolder(at);
        return existing === undefined ? reply : 'exists';
      };
      return makeFolders(path, {
        tryToMake: async (at) => {
          const outcome = await make(at);
          return typeof outcome === 'string' ? outcome : 'absent';
        },
        make: async (at) => {
          const outcome = await make(at);
          if (typeof outcome === 'string') return;
          throw refusedBy(outcome, 'open', `making the folder ${at}`, 'permission_denied');
        },
      });
    },

    async rename({ path: from }, { path: to }) {
      refuseAlteredName(operation, to);
      const [ready, renamed] = await operation.askAll([
        { verb: 'RNFR', path: from, success: [350] },
        { verb: 'RNTO', path: to, isSequel: true },
      ]);
      const reply = (ready?.code === 350 ? renamed : ready) as Reply;
      const unclear = hasLongName(to) ? 'bad_path' : undefined;
      if (!isPositive(reply)) throw refusedBy(reply, 'publish', `renaming to ${to}`, unclear);
      // Another server that changes blanks at the end of a name.
      if (to.endsWith(' ') && (await find(operation, to)) === undefined) throw storedElsewhere(to);
    },

    async refuseFolder({ path }) {
      if (await isSurelyFolder(operation, path)) throw folderExistsAt(path);
    },

    async remove({ path }) {
      const reply = await operation.ask('DELE', path);
      if (!isPositive(reply)) throw refusedBy(reply, 'publish', `deleting ${path}`);
    },

    beside: ({ path }, name) => ({ path: joinPath(parentOf(path), name) }),
    // A refusal in one folder says nothing about other folders.
    refusesToReplace: false,
    learnRefusal: () => void (memory.moveOnto = 'refuses'),

    async afresh(work) {
      return work(placesOn(await reconnected(operation)));
    },
  };
}
