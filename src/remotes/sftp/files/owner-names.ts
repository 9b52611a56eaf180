/** The names of owners and groups. SFTP reports their numbers; the lines for people in a listing show their names. */
import { rightsIn } from '../../../base/file-mode.js';
import { ownerName } from '../../listing.js';
import type { Rights } from '../../remote.js';
import { type Attributes, longNameOf, type NameEntry } from '../wire/wire.js';

/** As `ls -l` writes them: kind and rights, number of links, owner, group, size. */
const LONG_NAME = /^[-a-zA-Z?][-rwxsStTlL]{9}[.+@]? +(?:\d+|\?) +(\S+) +(\S+) +\d+ /;
/** No usual server has more. */
const MOST = 1_000;

export class OwnerNames {
  readonly #owners = new Map<number, string>();
  readonly #groups = new Map<number, string>();

  /** Reads the line of an entry only if one of its numbers is new. */
  learn(entry: NameEntry): void {
    const { owner, group } = entry.attributes;
    if (owner === undefined || group === undefined) return;
    if (this.#owners.has(owner) && this.#groups.has(group)) return;
    if (this.#owners.size >= MOST || this.#groups.size >= MOST) return;
    const [, ownerText = '', groupText = ''] = LONG_NAME.exec(longNameOf(entry)) ?? [];
    this.#owners.set(owner, ownerName(ownerText) ?? String(owner));
    this.#groups.set(group, ownerName(groupText) ?? String(group));
  }

  rightsOf({ mode = 0, owner, group }: Attributes): Rights {
    return {
      mode: mode === 0 ? undefined : rightsIn(mode),
      owner: owner === undefined ? undefined : (this.#owners.get(owner) ?? String(owner)),
      group: group === undefined ? undefined : (this.#groups.get(group) ?? String(group)),
    };
  }
}

/** For single files, which no line for people comes with. */
export const NO_NAMES = new OwnerNames();
