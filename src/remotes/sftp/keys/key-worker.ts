import { parentPort, workerData } from 'node:worker_threads';
import type { KeyResult, KeyTask } from './key-decryption.js';
import { KeyProblem } from './key-problem.js';
import { readPrivateKey } from './keys.js';

/** Thread: decrypts one private key and ends. */
const { text, passphrase } = workerData as KeyTask;
let result: KeyResult;
try {
  result = { pem: readPrivateKey(text, passphrase).getPrivatePEM() };
} catch (error) {
  if (!(error instanceof KeyProblem)) throw error;
  result = { problem: error.message };
}
parentPort?.postMessage(result);
