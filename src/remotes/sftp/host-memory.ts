import { LRUCache } from 'lru-cache';
import type { Capabilities } from '../remote.js';
import type { HostKeyFamily } from './session/algorithms.js';

/** What was learned about one server, for the operations that come after. Losing it costs round trips, never a file. */
export interface HostMemory {
  /** SSH_FXP_RENAME onto an existing file. */
  moveOnto: Capabilities['moveOnto'];
  /** The server announced posix-rename@openssh.com but refused to do it. */
  refusesPosixRename: boolean;
  /** A file that is opened to be written further on keeps what stands in it; undefined until tried. */
  keepsWhatStands: boolean | undefined;
  /** It broke with several requests under way: one at a time from now on. */
  oneRequestAtATime: boolean;
  /** Channels it admits on one connection, once it refused a further one. */
  maxChannels: number | undefined;
  /** What downloads under way may have asked for beyond their ordinary budget. */
  extraWindowBytes: number;
  /** The family of host keys that was trusted last. */
  hostKeyFamily: HostKeyFamily | undefined;
}

const MAX_HOSTS = 2000;
// Kept by the object that a gateway hands to all its sessions, so that two gateways in one process share nothing.
const memories = new WeakMap<object, LRUCache<string, HostMemory>>();

/** The memory of `host` ("name:port") that belongs to `owner`. */
export function hostMemory(owner: object, host: string): HostMemory {
  let hosts = memories.get(owner);
  if (hosts === undefined) {
    hosts = new LRUCache({ max: MAX_HOSTS });
    memories.set(owner, hosts);
  }
  let memory = hosts.get(host);
  if (memory === undefined) {
    memory = {
      moveOnto: 'unknown',
      refusesPosixRename: false,
      keepsWhatStands: undefined,
      oneRequestAtATime: false,
      maxChannels: undefined,
      extraWindowBytes: 0,
      hostKeyFamily: undefined,
    };
    hosts.set(host, memory);
  }
  return memory;
}
