import type { Capabilities } from '../remote.js';
import { ListZone } from './names/list-zone.js';

/**
 * What was learned of one server: how it differs from its own FEAT and from RFC 959. Each field starts with the best
 * assumption and changes when the server proves otherwise.
 */
export interface HostMemory {
  /** PASV once EPSV was refused, or its port could not be reached while PASV's could. */
  passive: 'EPSV' | 'PASV';
  /** False once MLST or MLSD, though announced, was refused or came back unreadable. */
  machineListings: boolean;
  /** False once `LIST -a` was refused or taken for a file called "-a". */
  listsAll: boolean;
  /** Whether SIZE answers for folders as well, so that its success does not prove a file. */
  sizeAnswersForFolders: boolean | undefined;
  hasMdtm: boolean;
  /** MLSD leaves broken links out. */
  hidesBrokenLinks: boolean;
  /** Files have had the times that they were written with; undefined until one was. */
  keepsTimes: boolean | undefined;
  /** How a file that was begun is written on, by REST and STOR and by APPE; undefined until tried. */
  goesOnBy: { readonly restart: boolean; readonly append: boolean } | undefined;
  /** What a rename onto an existing file does. */
  moveOnto: Capabilities['moveOnto'];
  /** True once a STOR into a missing folder was refused before the transfer began; some servers only look in the middle of it. */
  refusesEarly: boolean;
  /** What LIST's times are ahead of UTC, as far as files' LIST and MDTM have been compared. */
  readonly zone: ListZone;
  /** Listings that were read twice, or whose files were asked about, and taught nothing of the zone; after a few it is left unknown. */
  fruitlessLooks: number;
}

export const unknownServer = (): HostMemory => ({
  passive: 'EPSV',
  machineListings: true,
  listsAll: true,
  sizeAnswersForFolders: undefined,
  hasMdtm: true,
  hidesBrokenLinks: false,
  keepsTimes: undefined,
  goesOnBy: undefined,
  moveOnto: 'replaces',
  refusesEarly: false,
  zone: new ListZone(),
  fruitlessLooks: 0,
});
