import { randomBytes } from 'node:crypto';
import { sshString } from '../../../base/ssh-blob.js';

/**
 * Builds an unencrypted key in OpenSSH's own format (PROTOCOL.key) from the strings of its public and its private half.
 */
export function opensshPrivateKey(publicFields: readonly Buffer[], privateFields: readonly Buffer[]): string {
  const check = randomBytes(4);
  const body = Buffer.concat([check, check, ...privateFields.map(sshString), sshString('')]);
  const padding = Buffer.from(Array.from({ length: -body.length & 7 }, (_, index) => index + 1));
  const one = Buffer.from([0, 0, 0, 1]);
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    sshString('none'),
    sshString('none'),
    sshString(''),
    one,
    sshString(Buffer.concat(publicFields.map(sshString))),
    sshString(Buffer.concat([body, padding])),
  ]);
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----'].join('\n');
}
