/** Why a private key cannot be used, in words that are safe to show: never what stood in the key. */
export class KeyProblem extends Error {}

export const PASSPHRASE_MISSING = 'it is encrypted and no passphrase is given';
export const PASSPHRASE_WRONG = 'the passphrase does not fit';
