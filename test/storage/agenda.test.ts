/**
 * Due work reaches the nodes that do it: at once by a notice, and without one at the next poll. A failure shows as work
 * that waits although nothing blocks it, or as a node that asks the database without end.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withDefaults } from '../../src/contract/thing.js';
import { watchedFolderFields } from '../../src/contract/watched-folder.js';
import type { Agenda, Storage } from '../../src/storage/storage.js';
import { startPgBouncer } from '../servers/pgbouncer.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { held } from '../support/reliability.js';
import { eventually } from '../support/eventually.js';
import { openTest, withSql } from './databases.js';
import { ACCOUNT, accountOf } from './provisioned.js';

type Topic = Parameters<Agenda['on']>[0];

const FOLDER = (more: string, values: string): string => `
  insert into watched_folders (id, account_id, connection_id, name, path, schedule_minutes, source, detect_modified, recursive,
    initial, min_age_seconds, after_delivery${more})
  select gen_random_uuid(), account_id, id, 'f', '/', 5, 'api', true, false, 'ignore', 0, 'keep'${values}
  from connections where id = 'warehouse'`;
const JOB = { account: 'a', group: 'g', data: {} };
/** False while a statement fails; the pool opens a new connection for each lost one. */
const isReady = (storage: Storage): Promise<boolean> =>
  storage.ready().then(
    () => true,
    () => false,
  );
/** Written as by a version that sends no notices. Each row makes work of its topic due. */
const UNTOLD: readonly (readonly [Topic, string])[] = [
  ['watch-check', `update public_jobs.job set start_after = now() where name = 'watch-check'`],
  ['folders', FOLDER('', '')],
  ['deleted-folders', FOLDER(', is_active, deleted_at', ', false, now()')],
  [
    'schedules',
    `insert into schedules (id, account_id, name, cron, time_zone, is_active, definition, next_run_at)
      select gen_random_uuid(), id, 's', '* * * * *', 'UTC', true, '{}', now() from accounts`,
  ],
  [
    'events',
    `insert into events (id, account_id, type, connection_ids, body, is_ready)
      select gen_random_uuid(), id, 'job.finished', '{}', '{}', true from accounts`,
  ],
  [
    'uploads',
    `insert into uploads (id, account_id, connection_id, path, hidden, metadata, overwrite, expires_at)
      select gen_random_uuid(), account_id, id, '/a', '/.a', '', true, now() from connections where id = 'warehouse'`,
  ],
  [
    'jobs',
    `insert into jobs (id, account_id, type, name, state, definition)
      select gen_random_uuid(), id, 'copy', 'j', 'queued', '{}' from accounts`,
  ],
  [
    'connection-check',
    `insert into connection_checks (connection_id, account_id, due_at)
      select id, account_id, now() from connections where id = 'warehouse'`,
  ],
  ['alarm-look', `insert into alarm_accounts (account_id, look_at) select id, now() from accounts`],
  [
    'alarm-mail',
    `with s as (
        insert into alarm_settings (account_id, is_on, kinds, language, urgent_breaks_quiet)
        select id, true, '{connection_failing}', 'en', false from accounts returning account_id),
      a as (
        insert into alarms (account_id, key, kind, is_urgent, item, since)
        select account_id, 'k', 'connection_failing', false, '{}', now() from s)
      insert into alarm_recipients (account_id, address, confirmed_at, not_before)
      select account_id, 'ops@example.com', now(), now() from s`,
  ],
];

describe('due work', { timeout: 900_000 }, () => {
  let server: PostgresServer;
  let one: Storage;
  let two: Storage;
  let accountId: string;
  before(async () => {
    server = await startPostgres();
    [one, two] = [await openTest(server.url), await openTest(server.url)];
    await one.provision([ACCOUNT]);
    ({ accountId } = await accountOf(one));
  });
  after(async () => {
    await Promise.all([one?.close(), two?.close()]);
    await server?.stop();
  });

  const run = (statement: string): Promise<unknown> => withSql(server.url, (sql) => sql.unsafe(statement));
  /** Counts how often `storage` is woken for the topic, from now on. */
  const wakesOf = (storage: Storage, topic: Topic): { count: number; stop: () => void } => {
    const wakes = { count: 0, stop: (): void => undefined };
    wakes.stop = storage.agenda.on(topic, () => (wakes.count += 1));
    return wakes;
  };

  it('a poll that fails wakes all topics, since all of them may be due', async () => {
    await run('alter table alarm_accounts rename to alarm_accounts_away');
    try {
      const wakes = [wakesOf(two, 'alarm-look'), wakesOf(two, 'folders')];
      await eventually(() => wakes.every(({ count }) => count > 0), 'both are woken');
      for (const each of wakes) each.stop();
    } finally {
      await run('alter table alarm_accounts_away rename to alarm_accounts');
    }
  });

  it('without a notice all due work is found at the next poll', async () => {
    const inAnHour = 3_600_000;
    await one.jobs.queue.send('watch-check', [{ ...JOB, key: 'later', startAfter: inAnHour }]);
    const wakes = UNTOLD.map(([topic]) => wakesOf(two, topic));
    let looks = 0;
    const stop = two.agenda.onClock(() => (looks += 1));
    await eventually(() => looks > 0, 'the first look');
    assert.deepEqual(
      wakes.map(({ count }) => count),
      UNTOLD.map(() => 0),
      'nothing is due yet',
    );
    for (const [, statement] of UNTOLD) await run(statement);
    const before = looks;
    await eventually(() => looks > before + 1, 'a look that began after all of it was written');
    for (const [index, [topic]] of UNTOLD.entries()) assert.ok((wakes[index]?.count ?? 0) > 0, topic);
    stop();
    for (const each of wakes) each.stop();
    for (const table of ['events', 'schedules', 'jobs', 'uploads', 'watched_folders', 'alarms', 'connection_checks']) {
      await run(`delete from ${table}`);
    }
    held({
      area: 'Faults',
      what: 'a node misses that something is due',
      done: 'folders, schedules, events, jobs, uploads, checks and mails written without a notice, as by an older version',
      held: 'each is found at the next poll, within 5 s',
      tries: UNTOLD.length,
    });
  });

  // Only a notice wakes this topic.
  const change = (name: string): Promise<string> =>
    one.management.connections.create(
      { accountId, kind: 'anonymous', id: null, email: 'x', address: '', requestId: 'r' },
      {
        id: name,
        name,
        type: 'sftp',
        isActive: true,
        settings: { host: 'h', port: 22 } as never,
        hostKeys: undefined,
        keyPairId: null,
        secrets: {},
      },
      0,
    );

  it('a notice wakes every node, and only with the commit of its change', async () => {
    const { folders } = one.watching;
    const settings = {
      ...withDefaults(watchedFolderFields, { name: 'n', scheduleMinutes: 60, detectModified: true }),
      connectionId: 'warehouse',
      path: '/a',
      source: 'api',
      copyTo: null,
    };
    const inAnHour = (): Date => new Date(Date.now() + 3_600_000);
    const { id } = await folders.create(accountId, settings, inAnHour, () => Promise.resolve());
    const edit = (path: string, complete: () => Promise<void>): Promise<unknown> =>
      folders.edit(
        accountId,
        id,
        () => ({ settings: { ...settings, path }, isActive: true, nextCheckAt: inAnHour }),
        complete,
      );
    const wakes = wakesOf(two, 'folders');
    const connections = [wakesOf(one, 'connections'), wakesOf(two, 'connections')];
    await assert.rejects(
      edit('/b', () => Promise.reject(new Error('undone'))),
      /undone/,
    );
    // Notices come in the order of their commits.
    await change('committed');
    await eventually(() => connections.every(({ count }) => count === 1), 'both are woken');
    assert.equal(wakes.count, 0, 'what was undone wakes no one');
    await edit('/c', () => Promise.resolve());
    await eventually(() => wakes.count > 0, 'the folder is due');
    for (const each of [...connections, wakes]) each.stop();
    await run('delete from watched_folders');
  });

  it('after a lost connection notices arrive again, and missed work is looked up at once', async () => {
    let looks = 0;
    const wakes = wakesOf(two, 'connections');
    const stop = two.agenda.onClock(() => (looks += 1));
    await eventually(() => looks > 0, 'a look');
    const before = looks;
    // Waits until each connection is gone: one that ends later would make the database unavailable again.
    await run(`select pg_terminate_backend(pid, 60000) from pg_stat_activity
      where application_name = 'file-transfer-gateway' and pid <> pg_backend_pid()`);
    await eventually(() => looks > before, 'a look after it');
    for (const storage of [one, two]) await eventually(() => isReady(storage), 'its node finds the database again');
    let tries = 0;
    await eventually(async () => {
      await change(`again-${++tries}`).catch(() => undefined);
      return wakes.count > 0;
    }, 'a notice is heard');
    stop();
    wakes.stop();
  });

  it('a busy node sends few notices, and wakes itself for all work that it makes due', async () => {
    const queue = 'after-delivery';
    const [own, wakes] = [wakesOf(one, queue), wakesOf(two, queue)];
    const many = 200;
    // At once: one after the other they take so long on a busy machine that many notices are due.
    const keys = Array.from({ length: many }, (_, index) => `k${index}`);
    await Promise.all(keys.map((key) => one.jobs.queue.send(queue, [{ ...JOB, key }])));
    await eventually(() => wakes.count > 0, 'it is woken');
    assert.ok(wakes.count < many / 4, `${wakes.count} notices of ${many} jobs`);
    await eventually(() => own.count >= many, 'the node itself hears of each');
    for (const each of [own, wakes]) each.stop();
  });

  it('a job that is postponed wakes its node at its time', async () => {
    const queue = 'webhook-delivery';
    const wakes = wakesOf(two, queue);
    await two.jobs.queue.send(queue, [{ ...JOB, key: 'again' }]);
    const [job] = await two.jobs.queue.fetch(queue, 1, { accounts: [], groups: [] });
    assert.ok(job);
    await eventually(() => wakes.count > 0, 'it is woken for the new job');
    const before = wakes.count;
    await two.jobs.queue.postpone(queue, job, 300);
    await eventually(() => wakes.count > before, 'it is woken again');
    let again: typeof job | undefined;
    // A notice that is due to the first one may wake it too early.
    await eventually(async () => {
      [again] = await two.jobs.queue.fetch(queue, 1, { accounts: [], groups: [] });
      return again !== undefined;
    }, 'it is there again');
    assert.equal(again?.key, 'again');
    wakes.stop();
  });

  it('notices come through PgBouncer with session pooling', async () => {
    const pooler = await startPgBouncer(server.url, { mode: 'session' });
    const third = await openTest(pooler.url);
    const wakes = wakesOf(third, 'connections');
    await third.ready();
    await change('pooled');
    await eventually(() => wakes.count > 0, 'it is woken');
    wakes.stop();
    await third.close();
    await pooler.stop();
  });
});
