import type { Client, ParsedKey } from 'ssh2';
import { positiveInteger, sshString } from '../../../base/ssh-blob.js';
import type { SshCertificate } from '../../../connections/ssh-certificate.js';
import { sendPayload } from '../wire/send-payload.js';

const USERAUTH_REQUEST = 50;

interface Inside {
  readonly _protocol: { readonly _kex: { readonly sessionID: Buffer } };
}

/** How a key signs: the algorithm of the request, that of the signature, and the hash. */
interface Way {
  readonly request: string;
  readonly signature: string;
  readonly hash: string | undefined;
}

/** RFC 8332 for RSA; a certificate of another key has the name of its own type. */
function wayOf({ type }: SshCertificate): Way {
  const signature = type.replace('-cert-v01@openssh.com', '');
  if (signature === 'ssh-rsa') {
    return { request: 'rsa-sha2-512-cert-v01@openssh.com', signature: 'rsa-sha2-512', hash: 'sha512' };
  }
  const [, bits] = /nistp(\d+)$/.exec(signature) ?? [];
  const hash = bits === undefined ? undefined : ({ 256: 'sha256', 384: 'sha384' }[Number(bits)] ?? 'sha512');
  return { request: type, signature, hash };
}

/**
 * Sends a request of the method publickey with a certificate (RFC 4252, 7; OpenSSH's PROTOCOL.certkeys). ssh2 sends
 * only keys, and also gives the signature the algorithm of the request, which a server refuses. Another method must
 * have been tried before, since ssh2 takes the answer for the answer to that one.
 */
export function requestWithCertificate(
  client: Client,
  username: string,
  key: ParsedKey,
  certificate: SshCertificate,
): void {
  const { _protocol: protocol } = client as unknown as Inside;
  const { request, signature: algorithm, hash } = wayOf(certificate);
  const body = Buffer.concat([
    Buffer.from([USERAUTH_REQUEST]),
    ...[username, 'ssh-connection', 'publickey'].map(sshString),
    Buffer.from([1]),
    sshString(request),
    sshString(certificate.blob),
  ]);
  const signed = key.sign(Buffer.concat([sshString(protocol._kex.sessionID), body]), hash);
  if (signed instanceof Error) throw signed;
  const signature = algorithm.startsWith('ecdsa-') ? ecdsaSignature(signed) : signed;
  const payload = Buffer.concat([body, sshString(Buffer.concat([sshString(algorithm), sshString(signature)]))]);
  sendPayload(client, payload);
}

/** The two numbers of a DER signature as SSH's mpints (RFC 5656, 3.1.2). */
function ecdsaSignature(der: Buffer): Buffer {
  // SEQUENCE { INTEGER r, INTEGER s }; a sequence of 128 bytes or more has one more byte for its length.
  let at = (der[1] ?? 0) & 0x80 ? 3 : 2;
  const numbers: Buffer[] = [];
  while (numbers.length < 2) {
    const length = der.readUInt8(at + 1);
    numbers.push(der.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return Buffer.concat(numbers.map((number) => sshString(positiveInteger(number))));
}
