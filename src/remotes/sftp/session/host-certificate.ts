/**
 * The certificate of a server's host key. ssh2 knows no certificates: it would refuse one. But a certificate is public,
 * and only says that a key is the host's. So a connection of its own asks for it and ends before the keys are exchanged;
 * that the server has the key, ssh2 proves on the connection that logs in.
 */
import ssh2, { type Client } from 'ssh2';
import kex, { type KexInit } from 'ssh2/lib/protocol/kex.js';
import { waitFor, withDeadline } from '../../../base/deadline.js';
import { GatewayError } from '../../../base/errors.js';
import { allSshStrings } from '../../../base/ssh-blob.js';
import type { SftpConnection } from '../../../connections/connection.js';
import {
  CERTIFICATE_TYPES,
  certifies,
  hostCertificateIn,
  objectionToHost,
  type SshCertificate,
} from '../../../connections/ssh-certificate.js';
import { readPublicKey } from '../../../connections/ssh-public-key.js';
import { onBehalfOf } from '../../dial/dial.js';
import type { ProtocolDeps } from '../../protocol.js';
import type { Certified } from '../../trust.js';
import type { SftpMemory } from '../memory.js';
import { algorithmOffer, familyOf, hostKeyFamily, type HostKeyFamily } from './algorithms.js';
import { onFirstPayloads } from './first-payloads.js';

/** RFC 8332 for RSA: its certificates are asked for by the names of their signatures, that with SHA-1 not at all. */
const ASKED = CERTIFICATE_TYPES.flatMap((type) =>
  type.startsWith('ssh-rsa') ? ['rsa-sha2-512-cert-v01@openssh.com', 'rsa-sha2-256-cert-v01@openssh.com'] : [type],
);
/** Replies of key exchanges that begin with the host key (RFC 4253, 8; RFC 5656, 4; RFC 4419, 3). */
const REPLIES: readonly (number | undefined)[] = [31, 33];

/** Far more than a greeting and two packets: ssh2 would read lines before the identification for ever. */
const MAX_BYTES = 131_072;

interface Inside {
  readonly _protocol: { _offer: KexInit };
}

interface Asking {
  readonly deps: ProtocolDeps;
  readonly memory: SftpMemory;
  readonly signal: AbortSignal;
  /** As of performance.now(). */
  readonly deadline: number;
}

/**
 * Whether an authority of the connection certifies this host key. A certificate that the server showed before is enough.
 * Errors: those of the dialer, connect_timeout.
 */
export async function lookForCertificate(
  connection: SftpConnection,
  hostKey: Buffer,
  asking: Asking,
): Promise<Certified> {
  const authorities = connection.hostCa.map(readPublicKey);
  const check = async (certificate: SshCertificate | undefined): Promise<Certified> => {
    if (certificate === undefined) return { objection: 'the server has no certificate for it' };
    if (!certifies(certificate, hostKey)) return { objection: 'the server shows the certificate of another key' };
    const objection = await objectionToHost(certificate, connection.host, authorities);
    return objection === undefined ? { certificate } : { objection: `its certificate: ${objection}` };
  };
  const { memory } = asking;
  const known = await check(memory.hostCertificate);
  if ('certificate' in known) return known;
  const family = hostKeyFamily(hostKey);
  const shown = await check(family === undefined ? undefined : await ask(connection, family, asking));
  if ('certificate' in shown) memory.hostCertificate = shown.certificate;
  return shown;
}

/** Undefined if the server has no certificate for its key of this family. */
function ask(
  connection: SftpConnection,
  family: HostKeyFamily,
  { deps, signal, deadline }: Asking,
): Promise<SshCertificate | undefined> {
  const timeoutMs = Math.max(1, Math.ceil(deadline - performance.now()));
  const { host, port, algorithms } = connection;
  const late = (): GatewayError =>
    new GatewayError('connect_timeout', `${host}:${port} did not show its host certificate within ${timeoutMs} ms`, {
      step: 'connect',
    });
  return withDeadline({ signal, ms: timeoutMs, late }, async (limit) => {
    const way = { ...onBehalfOf(connection, deps), signal: limit, timeoutMs };
    const socket = await deps.dialer.connect(host, port, way);
    const client = new ssh2.Client();
    try {
      return await waitFor<SshCertificate | undefined>({ signal: limit }, (done) => {
        client.on('error', () => done(undefined)).once('close', () => done(undefined));
        const offer = algorithmOffer(algorithms, [family]);
        client.connect({ sock: socket, username: '', readyTimeout: 0, hostVerifier: () => false, algorithms: offer });
        askForCertificates(client, family);
        let received = 0;
        socket.on('data', ({ length }: Buffer) => (received += length) > MAX_BYTES && done(undefined));
        onFirstPayloads(client, (payload) => {
          if (!REPLIES.includes(payload[0])) return;
          // ssh2 owns the packet.
          const [shown] = allSshStrings(Buffer.from(payload.subarray(1))) ?? [];
          const certificate = shown === undefined ? undefined : hostCertificateIn(shown);
          if (certificate !== undefined) done(certificate);
        });
      });
    } finally {
      client.destroy();
      socket.destroy();
    }
  });
}

/** ssh2 refuses their names among its options. */
function askForCertificates(client: Client, family: HostKeyFamily): void {
  const { _protocol: protocol } = client as unknown as Inside;
  const { kex: exchanges, cs, sc } = protocol._offer.lists;
  protocol._offer = new kex.KexInit({
    kex: exchanges.array,
    serverHostKey: ASKED.filter((name) => familyOf(name) === family),
    cs: namesIn(cs),
    sc: namesIn(sc),
  });
}

function namesIn(lists: KexInit['lists']['cs']): Record<keyof typeof lists, readonly string[]> {
  const { cipher, mac, compress, lang } = lists;
  return { cipher: cipher.array, mac: mac.array, compress: compress.array, lang: lang.array };
}
