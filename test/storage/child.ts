/** Programs that the storage tests run in processes of their own: node child.js <program> <options as JSON> [args]. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { openStorage } from '../../src/storage/open.js';
import type { Storage, StorageOptions } from '../../src/storage/storage.js';
import { SUCCESS, TEST_TIMING, testOptions, upload } from './databases.js';

const CALLERS = 16;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const programs: Readonly<Record<string, (storage: Storage, args: readonly string[]) => Promise<void>>> = {
  /** Prints that it is open, closes when its standard input ends. */
  async hold(storage) {
    say(`open ${storage.leftovers.tag}`);
    process.stdin.resume();
    await once(process.stdin, 'end');
  },

  /**
   * Begins transfers without end, prints each acknowledged one; leaves one pending, and prints when its row is there.
   * The test kills it.
   */
  async write(storage, [accountId = '']) {
    const { id } = storage.history.begin(upload(accountId, { filename: 'long.bin' }));
    say(`pending ${id}`);
    void untilStored(storage, accountId, id).then(() => say(`stored ${id}`));
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (;;) {
          const transfer = storage.history.begin(upload(accountId));
          await transfer.finish(SUCCESS);
          say(`done ${transfer.id}`);
        }
      }),
    );
  },

  /** Writes this number of items and ends. */
  async batch(storage, [accountId = '', count = '0']) {
    let left = Number(count);
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (left-- > 0) await storage.history.begin(upload(accountId)).finish(SUCCESS);
      }),
    );
  },

  /** Takes all actions of a month, records three of them, then waits to be killed. */
  async quota(storage, [accountId = '', limit = '0']) {
    for (let taken = 0; taken < Number(limit); taken++) await storage.quota.take(accountId, Number(limit));
    for (let item = 0; item < 3; item++) await storage.history.begin(upload(accountId)).finish(SUCCESS);
    say('taken');
    process.stdin.resume();
    await once(process.stdin, 'end');
  },

  /** Claims an idempotency key, records a folder and a multipart upload, then waits to be killed. */
  async claim(storage, [accountId = '', connectionId = '']) {
    const claim = await storage.idempotency.claim(accountId, 'key-of-the-dead', 'print');
    await storage.leftovers.expectFolder(connectionId, '/upload');
    await storage.leftovers.expectMultipart(connectionId, '/big.bin', 'upload-1');
    say(`${claim.state} ${storage.leftovers.tag}`);
    process.stdin.resume();
    await once(process.stdin, 'end');
  },
};

async function untilStored(storage: Storage, accountId: string, id: string): Promise<void> {
  const filter = { limit: 100, offset: 0, status: 'pending' } as const;
  while (!(await storage.history.list(accountId, filter)).transfers.some((item) => item.id === id)) await delay(20);
}

const [name = '', optionsText = '{}', ...args] = process.argv.slice(2);
const options = JSON.parse(optionsText) as Partial<StorageOptions>;
const program = programs[name];
try {
  if (program === undefined) throw new Error(`no program called "${name}"`);
  const storage = await openStorage(testOptions(options.url ?? '', options), TEST_TIMING);
  await program(storage, args);
  await storage.close();
} catch (error) {
  say(`error ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`);
  process.exitCode = 1;
}
