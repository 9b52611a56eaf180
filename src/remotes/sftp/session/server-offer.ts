import type { Client } from 'ssh2';
import { sshStrings } from '../../../base/ssh-blob.js';
import {
  ALGORITHM_KINDS,
  type AlgorithmChoice,
  type AlgorithmKind,
  knownAlgorithms,
} from '../../../contract/connection/ssh-algorithms.js';
import { offeredFor } from './algorithms.js';
import { onFirstPayloads } from './first-payloads.js';

const KEXINIT = 20;
/** The kinds of the lists in a KEXINIT, in their order (RFC 4253, 7.1). */
const LISTS = ['kex', 'hostKeys', 'ciphers', 'ciphers', 'macs', 'macs'] as const satisfies readonly AlgorithmKind[];
const COOKIE_END = 17;
const MAX_SHOWN = 300;

const TITLES: Readonly<Record<AlgorithmKind, string>> = {
  kex: 'key exchange',
  ciphers: 'cipher',
  macs: 'MAC',
  hostKeys: 'host key algorithm',
};

/** The algorithms that a server offers in its first handshake. */
export class ServerOffer {
  #lists: readonly (readonly string[])[] | undefined;

  /** Call before the first byte arrives. */
  constructor(client: Client) {
    onFirstPayloads(client, (payload) => {
      if (payload[0] === KEXINIT) this.#lists ??= listsIn(payload);
    });
  }

  /** Why nothing was agreed, with both lists and the setting that helps; undefined if a list is not known. */
  mismatch(choice: AlgorithmChoice): string | undefined {
    for (const [index, kind] of LISTS.entries()) {
      const theirs = this.#lists?.[index];
      if (theirs === undefined) return undefined;
      const ours = offeredFor(choice, kind);
      if (ours.some((name) => theirs.includes(name))) continue;
      return `no ${TITLES[kind]} in common: the server has ${shown(theirs)}; the gateway offers ${shown(ours)}; ${remedy(choice, kind, theirs)}`;
    }
    return undefined;
  }
}

function listsIn(payload: Buffer): readonly (readonly string[])[] {
  try {
    const lists = sshStrings(payload.subarray(COOKIE_END), LISTS.length);
    return lists.map((list) => list.toString('latin1').split(',').filter(isName));
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** A name of RFC 4251, 6; anything else does not belong into an error text. */
const isName = (name: string): boolean => /^[!-+\--~]{1,64}$/.test(name);

function shown(names: readonly string[]): string {
  const text = names.join(', ');
  if (text === '') return 'none';
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, text.lastIndexOf(',', MAX_SHOWN))}, …`;
}

function remedy(choice: AlgorithmChoice, kind: AlgorithmKind, theirs: readonly string[]): string {
  const usable = offeredFor('legacy', kind).filter((name) => theirs.includes(name));
  if (usable.length === 0) return `no setting helps: the gateway knows only ${shown(knownAlgorithms(kind))}`;
  if (typeof choice !== 'string' && choice[kind] !== undefined)
    return `add ${usable.join(' or ')} to algorithms.${kind}`;
  return 'old servers need "algorithms: legacy"';
}

/** The kinds of which a choice leaves nothing that this build of the gateway supports. */
export function emptyKinds(choice: AlgorithmChoice): readonly AlgorithmKind[] {
  return ALGORITHM_KINDS.filter((kind) => offeredFor(choice, kind).length === 0);
}
