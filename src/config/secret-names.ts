/**
 * Names of secrets: those in the definitions of connections, and all names that are similar to the name of a secret.
 */
import type { Definition } from '../contract/connection/definition.js';

const EXACT = /^(keys?|pass|pwd|cookies?|setcookie|authorization|proxyauthorization|credentials?)$/;
const ENDING =
  /(password|passwd|passphrase|secret|secretkey|accesskey|token|apikeys?|privatekey|masterkey|webhooksignature)$/;

const plainOf = (name: string): string => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();

/** Recognizes secrets of connections by their exact names, all others by similarity. */
export function secretNameTest(definitions: readonly Definition[]): (name: string) => boolean {
  const known = new Set(definitions.flatMap(({ secrets }) => Object.keys(secrets).map(plainOf)));
  return (name) => {
    const plain = plainOf(name);
    return known.has(plain) || EXACT.test(plain) || ENDING.test(plain);
  };
}
