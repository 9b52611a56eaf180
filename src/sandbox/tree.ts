/** The tree that the sandbox's clients see: one folder of this machine, and the failing files below /fail. */
import { type FailingFiles, isBelowFail } from './fail.js';
import { type Files, Refusal, STATUS_CODE } from './files.js';

/** The failing folders are not in the listing of "/": a client that walks the whole tree does not enter them. */
export function withFailures(folder: Files, failing: FailingFiles): Files {
  const at = (path: string): Files => (isBelowFail(path) ? failing : folder);
  return {
    open: async (path, ...how) => at(path).open(path, ...how),
    openFolder: async (path) => at(path).openFolder(path),
    stat: async (path) => at(path).stat(path),
    lstat: async (path) => at(path).lstat(path),
    change: async (path, wanted) => at(path).change(path, wanted),
    realPath: async (path) => at(path).realPath(path),
    remove: async (path) => at(path).remove(path),
    makeFolder: async (path) => at(path).makeFolder(path),
    removeFolder: async (path) => at(path).removeFolder(path),
    rename: async (from, to) => {
      if (at(from) === at(to)) return at(from).rename(from, to);
      if (at(from) === failing) throw new Refusal(STATUS_CODE.FAILURE, 'Nothing moves out of /fail');
      await failing.takeIn(to);
      await folder.remove(from);
    },
  };
}
