import type { Capabilities } from '../remote.js';
import type { HostKeyFamily } from './session/algorithms.js';

/** What was learned of one server. */
export interface HostMemory {
  /** SSH_FXP_RENAME onto an existing file. */
  moveOnto: Capabilities['moveOnto'];
  /** The server announced posix-rename@openssh.com but refused to do it. */
  refusesPosixRename: boolean;
  /** A file that is opened to be written further on keeps what stands in it; undefined until tried. */
  keepsWhatStands: boolean | undefined;
  /** Files have had the times that they were written with; undefined until one was. */
  keepsTimes: boolean | undefined;
  /** It broke with several requests under way: one at a time from now on. */
  oneRequestAtATime: boolean;
  /** Channels it admits on one connection, once it refused a further one. */
  maxChannels: number | undefined;
  /** What downloads under way may have asked for beyond their ordinary budget. */
  extraWindowBytes: number;
  /** The family of host keys that was trusted last. */
  hostKeyFamily: HostKeyFamily | undefined;
}

export const unknownServer = (): HostMemory => ({
  moveOnto: 'unknown',
  refusesPosixRename: false,
  keepsWhatStands: undefined,
  keepsTimes: undefined,
  oneRequestAtATime: false,
  maxChannels: undefined,
  extraWindowBytes: 0,
  hostKeyFamily: undefined,
});
