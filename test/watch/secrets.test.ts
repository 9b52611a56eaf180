import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeMasterKey, openStorage } from '../../src/storage/open.js';
import { startPostgres } from '../servers/postgres.js';
import { testOptions, withSql } from '../storage/databases.js';
import { ACCOUNT, API_KEY } from '../storage/provisioned.js';
import { withDefaults } from '../../src/contract/thing.js';
import { type WatchSettings, watchedFolderFields } from '../../src/contract/watched-folder.js';

test('signing secrets are sealed, and open again after a change of the master key', async () => {
  const postgres = await startPostgres();
  const options = testOptions(postgres.url);
  const before = await openStorage(options);
  await before.provision([ACCOUNT]);
  const account = await before.keys.findKey(API_KEY);
  const { folders, secrets } = before.watching;
  const settings = {
    ...withDefaults(watchedFolderFields, { name: 'In' }),
    connectionId: 'warehouse',
    path: '/in',
    source: 'test',
    copyTo: null,
  } satisfies WatchSettings;
  const later = (): Date => new Date(Date.now() + 3_600_000);
  const complete = async (...[tx, id]: Parameters<Parameters<typeof folders.create>[3]>): Promise<void> =>
    void (await secrets.add(tx, id));
  const { id } = await folders.create(account?.accountId ?? '', settings, later, complete);
  const [secret] = await secrets.current(id);
  assert.match(secret ?? '', /^whsec_[A-Za-z0-9+/]{43}=$/);
  const [row] = await withSql(
    postgres.url,
    (sql) => sql<{ ciphertext: Buffer }[]>`select ciphertext from watched_folder_secrets`,
  );
  assert.ok(!row?.ciphertext.toString('latin1').includes(secret ?? ''));
  await before.close();

  const nextKey = 'cd'.repeat(32);
  await changeMasterKey(options, nextKey);
  const after = await openStorage({ ...options, masterKey: nextKey });
  assert.deepEqual(await after.watching.secrets.current(id), [secret]);
  await after.close();
  await postgres.stop();
});
