/** The reply to FEAT (RFC 2389). */
import type { FtpConnection } from '../../../connections/connection.js';
import { isPositive, type Reply } from './replies.js';

/** The features that change what is sent. A server without FEAT has none of them. */
export interface Features {
  readonly utf8: boolean;
  /** MLST and MLSD, unless the connection fixes a format of LIST. Servers announce both as MLST (RFC 3659, 7.8). */
  readonly machineListings: boolean;
  /** MFMT, which sets a file's time (draft-somers-ftp-mfxx). */
  readonly setsTimes: boolean;
  /** The wanted MLST facts, if the server does not send them by default. */
  readonly factsToRequest: string | undefined;
  /** All announced ones. */
  readonly names: readonly string[];
}

const WANTED_FACTS = ['type', 'size', 'modify'];

export function parseFeatures(reply: Reply, listing: FtpConnection['listing']): Features {
  const lines = isPositive(reply) ? reply.text.split('\n').slice(1, -1) : [];
  const known = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', argument = ''] = /^\s*(\S+)\s*(.*)$/.exec(line.replace(/^\d{3}-/, '')) ?? [];
    known.set(name.toUpperCase(), argument);
  }
  const facts = listing === 'auto' ? known.get('MLST') : undefined;
  return {
    utf8: known.has('UTF8'),
    machineListings: listing === 'auto' && (facts !== undefined || known.has('MLSD')),
    setsTimes: known.has('MFMT'),
    names: [...known.keys()],
    factsToRequest: facts === undefined ? undefined : factsToRequest(facts),
  };
}

/** `Type*;Size*;Modify;`: a star marks facts that are sent unless OPTS MLST changes that (RFC 3659, 7.8). */
function factsToRequest(offered: string): string | undefined {
  const facts = offered.toLowerCase().split(';');
  const isSent = WANTED_FACTS.every((fact) => facts.includes(`${fact}*`) || !facts.includes(fact));
  if (isSent) return undefined;
  return WANTED_FACTS.filter((fact) => facts.includes(fact) || facts.includes(`${fact}*`))
    .map((fact) => `${fact};`)
    .join('');
}
