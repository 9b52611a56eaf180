/** Why a private key cannot be used, in words that are safe to show: never the key's content. */
export class KeyProblem extends Error {}

export const PASSPHRASE_MISSING = 'it is encrypted and no passphrase is given';
export const PASSPHRASE_WRONG = 'the passphrase does not fit';
