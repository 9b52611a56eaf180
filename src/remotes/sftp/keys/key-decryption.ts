import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import type { ParsedKey } from 'ssh2';
import { waitFor } from '../../../base/deadline.js';
import { GatewayError } from '../../../base/errors.js';
import { excessOf, excessText } from '../../../connections/private-key-bounds.js';
import { KeyProblem } from './key-problem.js';
import { parsePrivateKey, unusableKey } from './keys.js';

/** The worker's input and output: the key without its passphrase, or why it cannot be used. */
export interface KeyTask {
  readonly text: string;
  readonly passphrase: string;
}
export type KeyResult = { readonly pem: string } | { readonly problem: string };

const MAX_KEYS = 500;
/** Each takes a processor for about a second; more at once would take them from the event loops. */
const MAX_AT_ONCE = 2;

interface Decryption {
  /** By key and passphrase; includes those that can never be used. */
  readonly keys: LRUCache<string, Promise<ParsedKey | KeyProblem>>;
  readonly queue: PQueue;
}
// Stored by the object that a gateway shares with all its sessions, for as long as that lives.
const decryptions = new WeakMap<object, Decryption>();

/**
 * Returns a private key ready for use. Passphrases are made slow to try: OpenSSH's takes a fifth of a second, and the
 * number of rounds is in the file, which anyone may have written (private-key-bounds.ts). So it is done once per key,
 * on its own thread, and for at most `timeoutMs`. Errors: login_refused.
 */
export async function usableKey(
  owner: object,
  text: string,
  passphrase: string | undefined,
  timeoutMs: number,
): Promise<ParsedKey> {
  if (passphrase === undefined) return parsePrivateKey(text, undefined);
  const excess = excessOf(text);
  if (excess !== undefined) throw unusableKey(excessText(excess));
  let decryption = decryptions.get(owner);
  if (decryption === undefined) {
    decryption = { keys: new LRUCache({ max: MAX_KEYS }), queue: new PQueue({ concurrency: MAX_AT_ONCE }) };
    decryptions.set(owner, decryption);
  }
  const { keys, queue } = decryption;
  const name = createHash('sha256')
    .update(JSON.stringify([text, passphrase]))
    .digest('base64');
  let found = keys.get(name);
  if (found === undefined) {
    found = decrypt({ text, passphrase }, queue, timeoutMs);
    keys.set(name, found);
    found.catch(() => keys.delete(name));
  }
  const key = await found;
  if (key instanceof KeyProblem) throw unusableKey(key.message);
  return key;
}

function decrypt(task: KeyTask, queue: PQueue, timeoutMs: number): Promise<ParsedKey | KeyProblem> {
  const late = (): GatewayError => unusableKey(`its passphrase takes longer than ${timeoutMs} ms to check`);
  return waitFor({ ms: timeoutMs, late }, (done, fail) => {
    let worker: Worker | undefined;
    let isOver = false;
    const broken = (error: unknown): void => {
      fail(new GatewayError('internal', 'the private key could not be decrypted', { step: 'login', cause: error }));
    };
    const work = async (): Promise<void> => {
      if (isOver) return;
      const started = new Worker(new URL('./key-worker.js', import.meta.url), { workerData: task });
      worker = started;
      started.once('message', (result: KeyResult) => {
        try {
          done('pem' in result ? parsePrivateKey(result.pem, undefined) : new KeyProblem(result.problem));
        } catch (error) {
          broken(error);
        }
      });
      started.once('error', broken);
      await new Promise((exited) => started.once('exit', exited));
    };
    void queue.add(work);
    return () => {
      isOver = true;
      void worker?.terminate();
    };
  });
}
