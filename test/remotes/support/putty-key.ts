import { createCipheriv, createHash, createHmac } from 'node:crypto';

const string = (bytes: Buffer | string): Buffer => {
  const content = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
};

export interface PuttyKeyParts {
  readonly version: 2 | 3;
  readonly algorithm: string;
  readonly publicBlob: Buffer;
  /** The fields of the private half, in PuTTY's order. */
  readonly privateFields: readonly Buffer[];
  /** Version 2 only: version 3 would need Argon2. */
  readonly passphrase?: string;
}

/** Writes a key file as PuTTYgen does (PuTTY manual, appendix C). */
export function puttyKeyFile({ version, algorithm, publicBlob, privateFields, passphrase }: PuttyKeyParts): string {
  const comment = 'made for a test';
  const encryption = passphrase === undefined ? 'none' : 'aes256-cbc';
  let secret = Buffer.concat(privateFields.map(string));
  if (passphrase !== undefined) {
    const filler = createHash('sha1').update(secret).digest();
    secret = Buffer.concat([secret, filler.subarray(0, -secret.length & 15)]);
  }
  const authenticated = Buffer.concat([algorithm, encryption, comment, publicBlob, secret].map(string));
  const mac =
    version === 2
      ? createHmac(
          'sha1',
          createHash('sha1')
            .update(`putty-private-key-file-mac-key${passphrase ?? ''}`)
            .digest(),
        )
      : createHmac('sha256', '');
  let stored = secret;
  if (passphrase !== undefined) {
    const part = (index: number): Buffer =>
      createHash('sha1')
        .update(Buffer.from([0, 0, 0, index]))
        .update(passphrase)
        .digest();
    const key = Buffer.concat([part(0), part(1)]).subarray(0, 32);
    const cipher = createCipheriv('aes-256-cbc', key, Buffer.alloc(16)).setAutoPadding(false);
    stored = Buffer.concat([cipher.update(secret), cipher.final()]);
  }
  const lines = (bytes: Buffer): string[] => bytes.toString('base64').match(/.{1,64}/g) ?? [];
  const [publicLines, privateLines] = [lines(publicBlob), lines(stored)];
  return [
    `PuTTY-User-Key-File-${version}: ${algorithm}`,
    `Encryption: ${encryption}`,
    `Comment: ${comment}`,
    `Public-Lines: ${publicLines.length}`,
    ...publicLines,
    `Private-Lines: ${privateLines.length}`,
    ...privateLines,
    `Private-MAC: ${mac.update(authenticated).digest('hex')}`,
    '',
  ].join('\r\n');
}
