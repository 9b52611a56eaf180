import type { SshCertificate } from '../../connections/ssh-certificate.js';
import type { Capabilities } from '../remote.js';
import type { UsefulSessions } from '../useful-sessions.js';
import type { WritesOn } from './files/append-probe.js';
import type { HostKeyFamily } from './session/algorithms.js';

/** What was learned about one server. */
export interface SftpMemory {
  /** The effect of SSH_FXP_RENAME onto an existing file. */
  moveOnto: Capabilities['moveOnto'];
  /** The server announced posix-rename@openssh.com but refused to do it. */
  refusesPosixRename: boolean;
  /** Where it writes in a file that is opened to be continued; undefined until tried. */
  writesOn: WritesOn | undefined;
  /** Whether files keep the times that they were written with; undefined until one was tested. */
  keepsTimes: boolean | undefined;
  /** The server failed with several requests under way: it gets one at a time from now on. */
  oneRequestAtATime: boolean;
  /** Channels that it admits on one connection, once it refused a further one. */
  maxChannels: number | undefined;
  /** Bytes that running downloads may have requested beyond their ordinary budget. */
  extraWindowBytes: number;
  readonly usefulSessions: { up?: UsefulSessions; down?: UsefulSessions };
  /** The family of host keys that was trusted last. */
  hostKeyFamily: HostKeyFamily | undefined;
  /** The certificate of that key. Each connection checks it against its own authorities. */
  hostCertificate: SshCertificate | undefined;
}

export const unknownServer = (): SftpMemory => ({
  moveOnto: 'unknown',
  refusesPosixRename: false,
  writesOn: undefined,
  keepsTimes: undefined,
  oneRequestAtATime: false,
  maxChannels: undefined,
  extraWindowBytes: 0,
  usefulSessions: {},
  hostKeyFamily: undefined,
  hostCertificate: undefined,
});
