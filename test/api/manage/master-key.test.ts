/** After a change of the master key, the secrets of accounts are still readable. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeMasterKey, openStorage } from '../../../src/storage/open.js';
import { TEST_KEY, TEST_TIMING, testOptions, withSql } from '../../storage/databases.js';
import { startDatabase } from './support.js';
import { JOB_OPTIONS } from '../../support/job-options.js';

test('the secrets of accounts open after a change of the master key, with the new key alone', async () => {
  const database = await startDatabase();
  const url = await database.createDatabase();
  const next = 'cd'.repeat(32);
  const open = (masterKey: string) => openStorage(testOptions(url, { masterKey }), TEST_TIMING);
  try {
    const before = await open(TEST_KEY);
    await before.provision([{ email: 'a@example.com', plan: 'pro', apiKeys: [], connections: [] }]);
    const accountId = (await before.accounts.findByEmail('a@example.com'))?.id ?? '';
    const actor = { accountId, kind: 'session', id: null, email: '', address: '', requestId: '' } as const;
    await before.accounts.beginTotp(actor, 'SECRETSECRET');
    const pair = { name: 'k', publicKey: 'ssh-ed25519 A k', fingerprint: 'SHA256:x', privateKey: 'private half' };
    const { id } = await before.management.keyPairs.add(actor, pair);
    const place = { connectionId: 'c', path: '/' };
    const upload = { now: new Date().toISOString(), uuid: id };
    const definition = {
      type: 'upload',
      source: place,
      destination: place,
      ...JOB_OPTIONS,
      upload,
    } as const;
    const job = await before.jobs.rows.create(
      { accountId, keyId: null, scheduleId: null, name: null, definition, url: 'https://example.com/?signature' },
      { running: 1, waiting: 1 },
    );
    await before.close();

    assert.equal(await changeMasterKey(testOptions(url), next), 4);
    const after = await open(next);
    assert.equal(await after.accounts.totpSecret(accountId), 'SECRETSECRET');
    assert.equal(await after.management.keyPairs.privateKey(accountId, id), 'private half');
    assert.equal(await after.jobs.rows.urlOf(job.id), 'https://example.com/?signature');
    await after.close();
    const [left] = await withSql(
      url,
      (sql) => sql`
        select count(*)::int as count
        from (select key_id from account_secrets union all select key_id from job_secrets) s join master_keys m on m.key_id = s.key_id
        where not m.active`,
    );
    assert.equal(left?.['count'], 0);
  } finally {
    await database.stop();
  }
});
