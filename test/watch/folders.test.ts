/** Settings and results of watched folders, as their owner sees them. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { FolderSettings } from '../../src/watch/settings.js';
import type { TestSshd } from '../servers/sshd.js';
import type { PostgresServer } from '../servers/postgres.js';
import { makeCheckDue, tellDue, withSql } from '../storage/databases.js';
import type { Bench } from './support/bench.js';
import type { Receiver } from './support/receiver.js';
import { WatchRig } from './support/rig.js';
import type { WatchedFolder } from '../../src/contract/watched-folder.js';

/** More files than one check of the other tests reports. */
const MOST_REPORTS = 10;

interface GoneEvent {
  readonly type: string;
  readonly data: {
    readonly watchedFolder: { readonly id: string };
    readonly files: readonly { readonly path: string }[];
  };
}

suite('watched folders', () => {
  let rig: WatchRig;
  let postgres: PostgresServer;
  let ssh: TestSshd;
  let receiver: Receiver;
  let bench: Bench;

  before(async () => {
    rig = await WatchRig.open({ watcher: { settleMs: 0 }, maxReports: MOST_REPORTS });
    ({ postgres, ssh, receiver, bench } = rig);
  });
  after(() => rig.close());

  const watched = (...about: Parameters<WatchRig['watched']>) => rig.watched(...about);
  const makeDue = (folder: WatchedFolder): Promise<void> =>
    withSql(postgres.url, (sql) => makeCheckDue(sql, folder.id));
  const fresh = (folder: WatchedFolder): Promise<WatchedFolder> => bench.service.get(bench.accountId, folder.id);

  /** The folder's task exists, and does not begin. */
  const holdTask = async (folder: WatchedFolder): Promise<void> => {
    const task = { key: folder.id, account: bench.accountId, group: 'held', data: {}, startAfter: 3_600_000 };
    const isSent = async (): Promise<boolean> =>
      (await bench.storage.watching.queue.send('watch-check', [task])).size > 0;
    await bench.until(isSent, 'the held task');
  };

  test('a folder can report the files that exist at the start', async () => {
    const { folder } = await watched({ initial: 'report' }, ['a.txt', 'b.txt']);
    const [first] = bench.checksOf(folder);
    assert.equal(first?.outcome.detections, 2);
  });

  test('files beyond the limit of a check are over_cap, and the next check, at once, reports the rest', async () => {
    const names = Array.from({ length: MOST_REPORTS + 3 }, (_, index) => `${index}.txt`);
    const { folder } = await watched({ initial: 'report' }, names);
    await bench.until(() => bench.checksOf(folder).length === 2, 'the check that goes on');
    const [first, second] = bench.checksOf(folder).map(({ outcome }) => outcome.check);
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(first.counts, { new: MOST_REPORTS, over_cap: 3 });
    assert.deepEqual(second.counts, { unchanged: MOST_REPORTS, new: 3 });
    const left = pathsOf(await bench.reasonsOf(folder, first), 'over_cap');
    assert.equal(left.length, 3);
    assert.deepEqual(pathsOf(await bench.reasonsOf(folder, second), 'new'), left);
  });

  test('a follow-up that is due while the task of the check before it still exists is not lost', async () => {
    const { folder } = await watched({});
    await holdTask(folder);
    await withSql(postgres.url, async (sql) => {
      const [due] = await sql<{ at: Date }[]>`
        update watched_folders set next_check_at = now(), is_follow_up = true where id = ${folder.id}
        returning next_check_at as at`;
      await tellDue(sql, 'folders');
      const isClaimed = async (): Promise<boolean> => {
        const [row] = await sql<{ at: Date }[]>`
          select next_check_at as at from watched_folders where id = ${folder.id}`;
        return row?.at.getTime() !== due?.at.getTime();
      };
      await bench.until(isClaimed, 'the claim of the due folder');
      await sql`delete from public_jobs.job where singleton_key = ${folder.id}`;
    });
    await bench.until(() => bench.checksOf(folder).some(({ kind }) => kind === 'follow_up'), 'the follow-up');
  });

  // Former defect: it was refused, although the check that ran may have listed the folder already.
  test('a check that is asked for while another one runs follows it', async () => {
    const { folder } = await watched({ scheduleMinutes: 1440 });
    const before = bench.checksOf(folder).length;
    await withSql(postgres.url, async (sql) => {
      await sql.begin(async (tx) => {
        await tx`lock table watched_files in access exclusive mode`;
        assert.deepEqual(await bench.service.checkNow(bench.accountId, folder.id), { queued: true });
        const isRunning = async (): Promise<boolean> =>
          (await tx`select from watched_folders where id = ${folder.id} and check_id is not null`).length > 0;
        await bench.until(isRunning, 'the check that runs');
        assert.deepEqual(await bench.service.checkNow(bench.accountId, folder.id), { queued: true });
      });
    });
    await bench.until(() => bench.checksOf(folder).length === before + 2, 'the check that follows');
    assert.deepEqual(
      bench
        .checksOf(folder)
        .slice(before)
        .map(({ kind }) => kind),
      ['manual', 'manual'],
    );
  });

  test('a check that is asked for while the task of the one before ends follows it', async () => {
    const { folder, put } = await watched({ scheduleMinutes: 1440 });
    await holdTask(folder);
    await withSql(postgres.url, async (sql) => {
      await sql`update public_jobs.job set state = 'active' where singleton_key = ${folder.id}`;
      put('late.txt');
      assert.deepEqual(await bench.service.checkNow(bench.accountId, folder.id), { queued: true });
      await sql`delete from public_jobs.job where singleton_key = ${folder.id}`;
    });
    await bench.until(() => bench.checksOf(folder).some(({ outcome }) => outcome.detections === 1), 'the report');
  });

  test('a file waits for its marker', async () => {
    const { put, look } = await watched({ doneFile: '{filename}.done' });
    put('a.csv');
    put('b.csv');
    put('b.csv.done');
    assert.deepEqual(await look(), { 'a.csv': 'waiting_for_marker', 'b.csv': 'new', 'b.csv.done': 'marker' });
    put('a.csv.done');
    assert.equal((await look())['a.csv'], 'new');
  });

  test('files that excludePattern names are left alone, with their own reason', async () => {
    const { put, look } = await watched({ filePattern: '*.csv', excludePattern: 'draft-*' });
    for (const name of ['a.csv', 'draft-a.csv', 'a.txt']) put(name);
    assert.deepEqual(await look(), { 'a.csv': 'new', 'draft-a.csv': 'excluded', 'a.txt': 'pattern' });
  });

  test('a file must be unchanged for minAgeSeconds', async () => {
    const { put, folder } = await watched({ minAgeSeconds: 1 });
    put('a.txt');
    const begin = Date.now();
    await bench.settle(folder);
    assert.ok(Date.now() - begin >= 1000);
    assert.equal(bench.checksOf(folder).at(-1)?.outcome.detections, 1);
  });

  test('without detectModified a change is noticed and not reported', async () => {
    const { put, look } = await watched({}, ['a.txt']);
    put('a.txt', 'more than before');
    assert.deepEqual(await look(), { 'a.txt': 'modification_ignored' });
    assert.deepEqual(await look(), { 'a.txt': 'unchanged' });
  });

  test('with detectDeleted, files that are gone are reported once, and beyond the limit by the next check', async () => {
    const names = Array.from({ length: MOST_REPORTS + 2 }, (_, index) => `${index}.txt`);
    const { folder, place, put, look } = await watched({ detectDeleted: true, filePattern: '*.txt' }, names);
    put('other.dat');
    await look();
    rmSync(join(place, 'other.dat'));
    rmSync(join(place, '3.txt'));
    assert.equal((await look())['3.txt'], 'gone');
    const goneFiles = async (): Promise<string[]> => {
      const { events } = await bench.storage.events.feeds.read(bench.accountId, {
        after: 0,
        limit: 1000,
        connections: undefined,
      });
      const bodies = events.map(({ body }) => JSON.parse(body) as GoneEvent);
      const own = bodies.filter(
        ({ type, data }) => type === 'watched_folder.files_deleted' && data.watchedFolder.id === folder.id,
      );
      return own.flatMap(({ data }) => data.files.map(({ path }) => path));
    };
    const reported = async (count: number): Promise<string[]> => {
      await bench.until(async () => (await goneFiles()).length >= count, `${count} files are reported`);
      return goneFiles();
    };
    assert.deepEqual(await reported(1), [`${folder.path}/3.txt`]);
    const checks = bench.checksOf(folder).length;
    for (const name of names) rmSync(join(place, name), { force: true });
    const counts = (await bench.check(folder)).counts;
    assert.deepEqual(counts, { gone: MOST_REPORTS, over_cap: 1 });
    await bench.until(() => bench.checksOf(folder).length >= checks + 2, 'the check that goes on');
    const all = await reported(names.length);
    assert.deepEqual([...all].sort(), names.map((name) => `${folder.path}/${name}`).sort());
  });

  test('files are deleted after their delivery, unless they have changed meanwhile', async () => {
    const { put, folder, place, look } = await watched({ webhookUrl: receiver.url, afterDelivery: 'delete' });
    receiver.respond = (_, response) => {
      put('changed.txt', 'changed while the receiver read of it');
      response.writeHead(200).end();
    };
    put('a.txt');
    put('changed.txt');
    await look();
    const done = async (): Promise<boolean> => (await rig.eventsOf(folder))[0]?.afterAction === 'done';
    await bench.until(done, 'what follows the delivery');
    receiver.respond = (_, response) => response.writeHead(200).end();
    assert.deepEqual(readdirSync(place), ['changed.txt']);
    const { transfers } = await bench.storage.history.list(bench.accountId, { type: 'delete', limit: 10, offset: 0 });
    assert.deepEqual(
      transfers.map(({ path, status }) => [path, status]),
      [[`${folder.path}/a.txt`, 'success']],
    );
    // A normal operation, but without a request: it counts no action.
    assert.deepEqual(
      bench.outcomes
        .filter(({ type }) => type === 'delete')
        .map(({ transferId, requestId, error }) => [transferId, requestId, error]),
      [[transfers[0]?.id, undefined, undefined]],
    );
    const rows = await withSql(postgres.url, (sql) => sql`select counts_action from transfers where type = 'delete'`);
    assert.deepEqual([...rows], [{ counts_action: false }]);
  });

  test('files are moved after their delivery, to a folder that is not watched', async () => {
    const { put, place, look } = await watched({ webhookUrl: receiver.url, afterDelivery: 'move', recursive: true });
    mkdirSync(join(place, 'sub'));
    put('a.txt');
    put('sub/b.txt');
    await look();
    await bench.until(() => existsSync(join(place, 'processed/sub/b.txt')), 'the move');
    await bench.until(() => existsSync(join(place, 'processed/a.txt')), 'the move');
    assert.deepEqual(await look(), { 'a.txt': 'gone', 'sub/b.txt': 'gone' });
    assert.deepEqual(await look(), {});
  });

  test('a file that cannot be moved after the delivery does not hold back the others of its event', async () => {
    const { put, place, folder, look } = await watched({ webhookUrl: receiver.url, afterDelivery: 'move' });
    mkdirSync(join(place, 'processed/a.txt'), { recursive: true });
    const others = ['b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt'];
    for (const name of ['a.txt', ...others]) put(name);
    await look();
    const moved = (): boolean => others.every((name) => existsSync(join(place, 'processed', name)));
    await bench.until(moved, 'the moves');
    assert.deepEqual(readdirSync(place).sort(), ['a.txt', 'processed']);
    assert.equal((await rig.eventsOf(folder))[0]?.afterAction, 'pending');
  });

  // Former defect: each try of a file that the server refuses added a failed item to the history, 1,440 in a day.
  test('a file that cannot be moved is tried each minute for a day, and an error is in the history once', async () => {
    const { put, place, folder, look } = await watched({ webhookUrl: receiver.url, afterDelivery: 'move' });
    mkdirSync(join(place, 'processed/a.txt'), { recursive: true });
    for (const name of ['a.txt', 'b.txt']) put(name);
    await look();
    const [event] = await rig.eventsOf(folder);
    assert.ok(event !== undefined);
    const failures = async (): Promise<number> => {
      const { transfers } = await bench.storage.history.list(bench.accountId, { type: 'move', limit: 100, offset: 0 });
      return transfers.filter(({ path, status }) => path === `${folder.path}/a.txt` && status === 'failed').length;
    };
    await withSql(postgres.url, async (sql) => {
      const waits = async (): Promise<boolean> => {
        const rows = await sql`
          select from public_jobs.job where name = 'after-delivery' and singleton_key = ${event.id}
            and state < 'active' and start_after > now() + interval '50 seconds'`;
        return rows.count === 1;
      };
      const makeDue = async (): Promise<void> => {
        await sql`
          update public_jobs.job set start_after = now() where name = 'after-delivery' and singleton_key = ${event.id}`;
        await tellDue(sql, 'after-delivery');
      };
      await bench.until(waits, 'the second try is in a minute');
      assert.equal(await failures(), 1);
      const [row] = await sql<{ files: { path: string }[] }[]>`select files from deliveries where id = ${event.id}`;
      assert.deepEqual(
        row?.files.map(({ path }) => path),
        [`${folder.path}/a.txt`],
      );
      await makeDue();
      await bench.until(waits, 'the third try is in a minute');
      assert.equal(await failures(), 1);
      await sql`update deliveries set delivered_at = now() - interval '24 hours' where id = ${event.id}`;
      await makeDue();
      await bench.until(async () => (await rig.eventsOf(folder))[0]?.afterAction === 'done', 'it is given up');
      assert.equal(await failures(), 2);
    });
  });

  test('another path is a new start: its baseline is taken, and the stored entries are forgotten', async () => {
    const { folder, look } = await watched({}, ['old.txt']);
    const other = await watched({}, ['there.txt']);
    await edit(folder, { locate: async () => other.folder.path as never });
    await bench.until(async () => (await fresh(folder)).baselineAt !== null, 'the new baseline');
    assert.deepEqual(await look(), { 'there.txt': 'unchanged' });
    other.put('new.txt');
    assert.deepEqual(await look(), { 'there.txt': 'unchanged', 'new.txt': 'new' });
  });

  test('other name rules keep the stored entries; existing files that only they let in are baseline', async () => {
    const { folder, put, look } = await watched({ filePattern: '*.csv' }, ['known.csv', 'old.txt']);
    await edit(folder, { isActive: false });
    put('new.csv');
    await edit(folder, { filePattern: '*.{csv,txt}' });
    assert.deepEqual(await look(), { 'known.csv': 'unchanged', 'new.csv': 'new', 'old.txt': 'baseline' });
    put('new.txt');
    const reasons = await look();
    assert.equal(reasons['new.txt'], 'new');
    assert.equal(reasons['old.txt'], 'unchanged');
  });

  test('a folder that keeps its files from now on leaves alone the files that it had yet to delete', async () => {
    const { folder, put, place, look } = await watched({ webhookUrl: receiver.url, afterDelivery: 'delete' });
    receiver.respond = (_, response) => {
      void edit(folder, { afterDelivery: 'keep' }).then(() => response.writeHead(200).end());
    };
    put('a.txt');
    await look();
    await bench.until(async () => (await rig.eventsOf(folder))[0]?.afterAction === 'done', 'what follows the delivery');
    receiver.respond = (_, response) => response.writeHead(200).end();
    assert.deepEqual(readdirSync(place), ['a.txt']);
  });

  const edit = (folder: WatchedFolder, changes: Parameters<Bench['service']['edit']>[2]): Promise<WatchedFolder> =>
    bench.service.edit(bench.accountId, folder.id, changes, {
      rights: 'move_and_delete',
      signal: new AbortController().signal,
    });

  test('an alarm of its own type reports that no files came', async () => {
    const { folder, look } = await watched({ webhookUrl: receiver.url, expectEveryMinutes: 30 });
    receiver.received.length = 0;
    await look();
    assert.equal(receiver.received.length, 0);
    await withSql(
      postgres.url,
      (sql) => sql`update watched_folders set created_at = now() - interval '31 minutes' where id = ${folder.id}`,
    );
    await look();
    await bench.until(() => receiver.received.length === 1, 'the alarm');
    assert.equal(receiver.received[0]?.body.type, 'watched_folder.files_missing');
    await look();
    assert.equal((await rig.eventsOf(folder)).length, 1);
  });

  test('a failing check is visible, backs off, and recovers by itself', async () => {
    const { folder, place, put } = await watched();
    // Its minute offset is random. While it is paused, only requested checks run, and no due time passes meanwhile.
    await bench.service.pause(bench.accountId, folder.id);
    const putOff = () =>
      withSql(
        postgres.url,
        (sql) => sql`
          update watched_folders set schedule_minutes = 1, next_check_at = now() + interval '1 day'
          where id = ${folder.id}`,
      );
    renameSync(place, `${place}-away`);
    for (const failures of [1, 2, 3]) {
      await putOff();
      const since = Date.now();
      const check = await bench.check(folder);
      assert.equal(check.outcome, 'failed');
      assert.equal(check.errorCode, 'not_found');
      const now = await fresh(folder);
      assert.equal(now.failures, failures);
      assert.match(now.errorMessage ?? '', /does not exist|No such file/);
      const minutesFrom = (at: number): number => (now.nextCheckAt.getTime() - at) / 60_000;
      const most = 2 ** (failures - 1);
      const [shortest, longest] = [minutesFrom(Date.now()), minutesFrom(since)];
      assert.ok(
        shortest <= most && longest > most - 1.1,
        `${shortest} to ${longest} minutes after ${failures} failures`,
      );
    }
    const failing = await fresh(folder);
    assert.notEqual(failing.failingSince, null);
    const { transfers } = await bench.storage.history.list(bench.accountId, {
      type: 'poll',
      status: 'failed',
      limit: 10,
      offset: 0,
    });
    assert.equal(transfers.filter(({ path }) => path === folder.path).length, 3);
    renameSync(`${place}-away`, place);
    put('a.txt');
    const check = await bench.check(folder);
    assert.deepEqual([check.outcome, check.counts], ['succeeded', { new: 1 }]);
    const well = await fresh(folder);
    assert.deepEqual([well.failingSince, well.failures, well.errorCode], [null, 0, null]);
  });

  test('a paused folder is not checked when it is due; resumed, it is due at once', async () => {
    const { folder, put } = await watched();
    await bench.service.pause(bench.accountId, folder.id);
    put('a.txt');
    await makeDue(folder);
    const other = await watched();
    await makeDue(other.folder);
    await bench.until(() => bench.checksOf(other.folder).length === 2, 'a folder due at the same time');
    assert.equal(bench.checksOf(folder).length, 1);
    await bench.service.resume(bench.accountId, folder.id);
    await bench.until(() => bench.checksOf(folder).length === 2, 'the check after the pause');
    assert.equal(bench.checksOf(folder)[1]?.outcome.detections, 1);
  });

  test('a dry run shows what would be reported and changes nothing', async () => {
    const { folder, put, look } = await watched({}, ['old.txt']);
    put('a.txt');
    const run = await bench.service.dryRun(bench.accountId, folder.id, new AbortController().signal);
    assert.deepEqual(run.counts, { new: 1, unchanged: 1 });
    assert.deepEqual(
      run.files.map(({ name, event }) => [name, event]),
      [['a.txt', 'new']],
    );
    assert.equal(await bench.service.explain(bench.accountId, folder.id, 'a.txt'), undefined);
    assert.equal((await look())['a.txt'], 'new');
  });

  test('known files can be listed and forgotten; a forgotten file is new again', async () => {
    const { folder, look } = await watched({ filePattern: '*.txt' }, ['a.txt', 'b.txt', 'c.txt', 'd.csv']);
    const first = await bench.service.knownFiles(bench.accountId, folder.id, { limit: 2 });
    assert.deepEqual([first.files.map(({ path }) => path), first.total], [['a.txt', 'b.txt'], 3]);
    const next = await bench.service.knownFiles(bench.accountId, folder.id, { after: 'b.txt', limit: 2 });
    assert.deepEqual(
      next.files.map(({ path }) => path),
      ['c.txt'],
    );
    assert.equal(await bench.service.explain(bench.accountId, folder.id, 'a.txt'), 'unchanged');
    assert.equal(await bench.service.explain(bench.accountId, folder.id, 'd.csv'), 'pattern');
    assert.deepEqual(await bench.service.forget(bench.accountId, folder.id, 'a.txt'), { forgotten: 1 });
    assert.deepEqual(await look(), { 'a.txt': 'new', 'b.txt': 'unchanged', 'c.txt': 'unchanged', 'd.csv': 'pattern' });
    assert.deepEqual(await bench.service.forget(bench.accountId, folder.id, undefined), { forgotten: 3 });
  });

  test('the last twenty checks of a folder are kept, each with its reasons', async () => {
    const { folder, look } = await watched({}, ['a.txt']);
    for (let check = 0; check < 22; check++) await look();
    const checks = await bench.service.checks(bench.accountId, folder.id);
    assert.equal(checks.length, 20);
    for (const check of checks) assert.deepEqual(await bench.reasonsOf(folder, check), { 'a.txt': 'unchanged' });
  });

  test('a check that is due while the one before still waits is skipped, and this is logged', async () => {
    const { folder } = await watched();
    const { queue } = bench.storage.watching;
    // The check is due and still waits, as if another node were slow.
    const later = new Date(Date.now() + 3_600_000);
    const waiting = { key: folder.id, account: 'a', group: 'x', data: { kind: 'regular' }, startAfter: later };
    // The task of the first check may be about to end.
    await bench.until(async () => (await queue.send('watch-check', [waiting])).size === 1, 'the job to be taken');
    await makeDue(folder);
    await bench.until(
      async () => (await bench.service.checks(bench.accountId, folder.id)).some(({ outcome }) => outcome === 'skipped'),
      'the note of the skipped check',
    );
    assert.ok((await fresh(folder)).nextCheckAt.getTime() > Date.now());
  });

  test('another account’s folders do not exist', async () => {
    const { folder } = await watched();
    const other = '01890000-0000-7000-8000-000000000000';
    for (const work of [
      () => bench.service.get(other, folder.id),
      () => bench.service.remove(other, folder.id),
      () => bench.service.pause(other, folder.id),
      () => bench.service.secret(other, folder.id),
      () => bench.service.checkNow(other, folder.id),
      () => bench.service.forget(other, folder.id, undefined),
      () => bench.service.get(bench.accountId, 'not-a-uuid'),
    ]) {
      await assert.rejects(work(), { code: 'unknown_watched_folder' });
    }
    assert.deepEqual(await bench.service.list(other), []);
  });

  test('a path that is no folder, or does not exist, is refused', async () => {
    writeFileSync(join(ssh.files, 'plain'), 'x');
    await assert.rejects(bench.watch('ssh', '/plain'), { code: 'not_a_folder' });
    await assert.rejects(bench.watch('ssh', '/nowhere'), { code: 'not_found' });
    rmSync(join(ssh.files, 'plain'));
  });

  test('options that make no sense are refused, and the field is named', async () => {
    mkdirSync(join(ssh.files, 'odd'));
    const refused = (input: FolderSettings, message: RegExp) =>
      assert.rejects(bench.watch('ssh', '/odd', input), { code: 'bad_request', message });
    await refused({ afterDelivery: 'delete' }, /afterDelivery.*webhookUrl/);
    await refused({ webhookUrl: receiver.url, afterDelivery: 'move', moveTo: '/odd' }, /moveTo/);
    await refused({ webhookUrl: receiver.url, afterDelivery: 'delete', detectDeleted: true }, /detectDeleted/);
    await refused({ filePattern: '{a' }, /filePattern/);
    await refused({ doneFile: 'x/y' }, /doneFile/);
  });
});

function pathsOf(reasons: Record<string, string>, wanted: string): string[] {
  return Object.keys(reasons)
    .filter((path) => reasons[path] === wanted)
    .toSorted();
}
