/** Databases as former versions leave them, with rows that the migrations of later ones move and count. */
import { copyFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Database } from '../../src/storage/postgres/database.js';
import { migrate } from '../../src/storage/postgres/migrate.js';
import { parseDatabaseUrl } from '../../src/storage/postgres/target.js';
import { makeTempFolder, testOptions, withSql } from './databases.js';

export const MIGRATIONS = fileURLToPath(new URL('../../../src/storage/migrations', import.meta.url));

export interface FormerVersion {
  readonly name: string;
  readonly lastMigration: number;
  readonly rows: string;
}

export const FORMER_ACCOUNT = '00000000-0000-7000-8000-000000000001';

const TRANSFERS = `
  insert into accounts (id, email, plan) values ('${FORMER_ACCOUNT}', 'old@example.com', 'pro');
  insert into transfers (id, account_id, connection_id, type, direction, status, filename, path, file_size, duration_ms,
      counts_action, created_at)
    select ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '${FORMER_ACCOUNT}', 'files',
      'upload', 'outbound', case when n % 3 = 0 then 'failed' else 'success' end, 'a', '/a', n, 1, true,
      now() - interval '2 hours'
    from generate_series(1, 300) n;`;

const idOf = (name: string): string => `01900000-0000-7000-8000-${name.padStart(12, '0')}`;
const event = (name: string): string => `"id":"${idOf(name)}",`;

/** Deliveries of version 1.1 by their ids; `event` has the same id if it is absent. */
export const DELIVERIES = {
  /** A dead letter, whose event the feed has deleted. */
  dead: { id: idOf('dead'), state: 'dead', body: `{"sequence":1,${event('dead')}"previousId":null,"data":"Zoë"}` },
  open: { id: idOf('1a'), state: 'pending', body: `{"sequence":2,${event('1a')}"previousId":"${idOf('dead')}"}` },
  /** That of a webhook. */
  subscribed: {
    id: idOf('1b'),
    state: 'pending',
    event: idOf('1a'),
    body: `{"sequence":2,${event('1a')}"previousId":"${idOf('dead')}"}`,
  },
  delivered: { id: idOf('1c'), state: 'delivered', body: `{"sequence":3,${event('1c')}"previousId":"${idOf('1a')}"}` },
  /** Its event waits for its number. */
  unnumbered: { id: idOf('1d'), state: 'pending', body: '{"data":4}' },
} as const;

export const FORMER_WEBHOOK = idOf('ebb');

function deliveries(): string {
  const rows = Object.values(DELIVERIES).map((one) => {
    const [webhook, of] = 'event' in one ? [`'${FORMER_WEBHOOK}'`, `'${one.event}'`] : ['null', 'null'];
    return `('${one.id}', gen_random_uuid(), 'https://example.com/', ${webhook}, ${of}, '${FORMER_ACCOUNT}', 'job.finished',
      '${one.body}', 0, '${one.state}', 2, now() + interval '1 hour', '{files}', now(), true)`;
  });
  const { open, delivered, unnumbered } = DELIVERIES;
  return `
    insert into webhooks (id, account_id, url, events, connection_ids)
      values ('${FORMER_WEBHOOK}', '${FORMER_ACCOUNT}', 'https://example.com/', '{job.finished}', '{}');
    insert into webhook_events (id, job_id, webhook_url, webhook_id, event_id, account_id, type, body, file_count, state,
      attempts, next_attempt_at, connection_ids, created_at, is_in_feed) values ${rows.join(', ')};
    insert into event_feeds (account_id, last_sequence, last_id, oldest_sequence)
      values ('${FORMER_ACCOUNT}', 3, '${delivered.id}', 2);
    insert into events (id, account_id, type, connection_ids, body, is_ready, sequence, numbered_at)
      select id, account_id, type, connection_ids, body, true, array_position('{${open.id},${delivered.id}}'::uuid[], id) + 1, now()
      from webhook_events where id in ('${open.id}', '${delivered.id}');
    insert into events (id, account_id, type, connection_ids, body, is_ready)
      select id, account_id, type, connection_ids, body, true from webhook_events where id = '${unnumbered.id}';`;
}

export const VERSION_1_0: FormerVersion = { name: '1.0', lastMigration: 21, rows: TRANSFERS };
export const VERSION_1_1: FormerVersion = { name: '1.1', lastMigration: 150, rows: TRANSFERS + deliveries() };

/** Fills an empty database. */
export async function makeFormer(url: string, { lastMigration, rows }: FormerVersion): Promise<void> {
  const folder = await makeTempFolder();
  for (const file of await readdir(MIGRATIONS)) {
    if (Number.parseInt(file, 10) <= lastMigration)
      await copyFile(path.join(MIGRATIONS, file), path.join(folder, file));
  }
  const database = new Database(await parseDatabaseUrl(url), testOptions(''));
  await database.connect();
  await migrate(database, folder);
  await database.close();
  await rm(folder, { recursive: true });
  await withSql(url, (sql) => sql.unsafe(rows));
}
