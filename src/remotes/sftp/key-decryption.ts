import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { ParsedKey } from 'ssh2';
import { GatewayError } from '../../errors.js';
import { parsePrivateKey, unusableKey } from './keys.js';

/** What the worker is given, and what it gives back: the key without its passphrase, or why it cannot be used. */
export interface KeyTask {
  readonly text: string;
  readonly passphrase: string;
}
export type KeyResult = { readonly pem: string } | { readonly problem: string };

const MAX_KEYS = 500;
// Kept by the object that a gateway hands to all its sessions, as long as that lives.
const caches = new WeakMap<object, LRUCache<string, Promise<ParsedKey>>>();

/**
 * A private key ready for use. Passphrases are made slow to try: OpenSSH's costs a fifth of a second, and the number of
 * rounds stands in the file, which anybody may have written. So it is done once per key, on a thread of its own, and no
 * longer than `timeoutMs`. Errors: login_refused.
 */
export function usableKey(
  owner: object,
  text: string,
  passphrase: string | undefined,
  timeoutMs: number,
): Promise<ParsedKey> {
  if (passphrase === undefined) return parseAtOnce(text);
  let keys = caches.get(owner);
  if (keys === undefined) {
    keys = new LRUCache({ max: MAX_KEYS });
    caches.set(owner, keys);
  }
  const name = createHash('sha256')
    .update(JSON.stringify([text, passphrase]))
    .digest('base64');
  const known = keys.get(name);
  if (known !== undefined) return known;
  const key = decrypt({ text, passphrase }, timeoutMs);
  keys.set(name, key);
  key.catch(() => keys.delete(name));
  return key;
}

async function parseAtOnce(text: string): Promise<ParsedKey> {
  return parsePrivateKey(text, undefined);
}

function decrypt(task: KeyTask, timeoutMs: number): Promise<ParsedKey> {
  return new Promise((done, fail) => {
    const worker = new Worker(new URL('./key-worker.js', import.meta.url), { workerData: task });
    const timer = setTimeout(() => {
      fail(unusableKey(`its passphrase takes longer than ${timeoutMs} ms to check`));
      void worker.terminate();
    }, timeoutMs);
    worker.once('message', (result: KeyResult) => {
      if ('pem' in result) done(parsePrivateKey(result.pem, undefined));
      else fail(unusableKey(result.problem));
    });
    worker.once('error', (error) => {
      fail(new GatewayError('internal', 'the private key could not be decrypted', { step: 'login', cause: error }));
    });
    worker.once('exit', () => clearTimeout(timer));
  });
}
