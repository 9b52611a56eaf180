/** The certificate that a server has presented on a connection. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ServerProof } from './remote.js';
import type { ServerCertificate } from './probe-result.js';

/** A closed socket no longer returns its certificate. */
const known = new WeakMap<Socket, ServerCertificate>();

export function certificateOf(socket: Socket): ServerCertificate | undefined {
  const recorded = known.get(socket);
  if (recorded !== undefined) return recorded;
  const shown = socket instanceof TLSSocket ? (socket.getPeerCertificate() as Shown | null) : undefined;
  if (shown?.fingerprint256 === undefined) return undefined;
  const certificate = {
    fingerprint: shown.fingerprint256.replaceAll(':', '').toLowerCase(),
    subject: nameOf(shown.subject),
    issuer: nameOf(shown.issuer),
    validTo: new Date(shown.valid_to ?? NaN),
  };
  known.set(socket, certificate);
  return certificate;
}

export function proofOf(socket: Socket): ServerProof {
  const certificate = certificateOf(socket);
  return certificate === undefined ? {} : { certificate: certificate.fingerprint };
}

type Entity = Readonly<Record<string, string | string[] | undefined>>;

interface Shown {
  readonly fingerprint256?: string;
  readonly subject?: Entity;
  readonly issuer?: Entity;
  readonly valid_to?: string;
}

function nameOf(entity: Entity | undefined): string {
  return [entity?.['CN'] ?? entity?.['O'] ?? ''].flat()[0] ?? '';
}
