import type { Capabilities } from '../remote.js';
import { ListZone } from './names/list-zone.js';

/**
 * What was learned about one server: how it differs from its own FEAT and from RFC 959. Each field starts with the best
 * assumption and changes when the server proves otherwise.
 */
export interface FtpMemory {
  /** PASV after EPSV was refused, or after EPSV's port could not be reached while PASV's could. */
  passive: 'EPSV' | 'PASV';
  /** False after MLST or MLSD, though announced, was refused or unreadable. */
  machineListings: boolean;
  /** False after `LIST -a` was refused or taken for a file called "-a". */
  listsAll: boolean;
  /** Whether SIZE answers for folders as well, so that its success does not prove a file. */
  sizeAnswersForFolders: boolean | undefined;
  hasMdtm: boolean;
  /** MLSD omits broken links. */
  hidesBrokenLinks: boolean;
  /** Whether files keep the times that they were written with; undefined until one was tested. */
  keepsTimes: boolean | undefined;
  /** How a file can be continued: by REST and STOR, and by APPE; undefined until tried. */
  goesOnBy: { readonly restart: boolean; readonly append: boolean } | undefined;
  /** Whether RETR begins where REST said; undefined until tried. */
  restartsReads: boolean | undefined;
  /** What a rename onto an existing file does. */
  moveOnto: Capabilities['moveOnto'];
  /**
   * True once a STOR into a missing folder was refused before the transfer began; some servers check it only in the
   * middle.
   */
  refusesEarly: boolean;
  /** The difference between LIST's times and UTC, as far as LIST and MDTM of files have been compared. */
  readonly zone: ListZone;
  /**
   * Listings that were read twice, or whose files were queried, without learning the zone; after a few of them it stays
   * unknown.
   */
  fruitlessListings: number;
}

export const unknownServer = (): FtpMemory => ({
  passive: 'EPSV',
  machineListings: true,
  listsAll: true,
  sizeAnswersForFolders: undefined,
  hasMdtm: true,
  hidesBrokenLinks: false,
  keepsTimes: undefined,
  goesOnBy: undefined,
  restartsReads: undefined,
  moveOnto: 'replaces',
  refusesEarly: false,
  zone: new ListZone(),
  fruitlessListings: 0,
});
