/** Keys, and certificates of an authority, made with ssh-keygen. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** The arguments of `key` for each type that OpenSSH certifies. */
export const KEY_TYPES = [
  ['ed25519'],
  ['ecdsa', '-b', '256'],
  ['ecdsa', '-b', '384'],
  ['ecdsa', '-b', '521'],
  ['rsa', '-b', '3072'],
] as const;

export const titleOf = ([type, , bits = '']: readonly string[]): string => `${type} ${bits}`.trim();

/** The files are removed after the tests of the file. */
export class KeyMaker {
  readonly folder = mkdtempSync(join(tmpdir(), 'ftg-keys-'));
  #made = 0;

  constructor() {
    after(() => rmSync(this.folder, { recursive: true }));
  }

  /** Another path in the folder. */
  fresh(): string {
    return join(this.folder, `file${(this.#made += 1)}`);
  }

  /** The file of a new key. */
  key(type = 'ed25519', ...bits: readonly string[]): string {
    const file = this.fresh();
    execFileSync('ssh-keygen', ['-q', '-t', type, ...bits, '-N', '', '-f', file]);
    return file;
  }

  /** The file with the certificate that the authority makes for the key; -h = of a host, -n names it, -V the time. */
  certify(authority: string, key: string, ...options: readonly string[]): string {
    execFileSync('ssh-keygen', ['-q', '-s', authority, '-I', 'gateway', ...options, `${key}.pub`]);
    return `${key}-cert.pub`;
  }
}

/** The public half of a key. */
export const lineOf = (key: string): string => readFileSync(`${key}.pub`, 'utf8');
