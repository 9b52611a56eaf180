/** Schedules over two nodes on one PostgreSQL: run once each, skipped, caught up, stopped, and after a kill. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import postgres from 'postgres';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { tellDue, TEST_KEY } from '../storage/databases.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { ended, type JobView } from './support.js';
import { startTogether } from '../support/together.js';
import { assertRecent } from '../support/recent.js';

/** Runs of this run of the tests are not older. */
const BEGUN = Date.now();

const NARROW_KEY = 'ftg_narrow-key-0123456789-abcdefgh';
const ADMIN_KEY = 'ftg_admin-key-0123456789-abcdefghi';
const SMALL_KEY = 'ftg_small-key-0123456789-abcdefgh';

interface ScheduleView {
  readonly id: string;
  readonly isActive: boolean;
  readonly job: Record<string, unknown>;
  readonly nextRuns: readonly string[];
  readonly lastRunAt: string | null;
  readonly lastJobId: string | null;
  readonly lastSkippedAt: string | null;
  readonly error: string | null;
  readonly errorCode: string | null;
}

const DAY_S = 86_400;

type ScheduledJob = JobView & { readonly scheduleId: string | null };

describe('schedules', { timeout: 900_000 }, () => {
  let server: PostgresServer;
  let source: TestServer;
  let target: TestServer;
  let sql: postgres.Sql;
  const nodes: TestGateway[] = [];

  const startNode = (): Promise<TestGateway> =>
    startGateway({
      env: { GATEWAY_MASTER_KEY: TEST_KEY },
      config: {
        database: { url: server.url },
        jobs: { schedulesPerAccount: 30, runningPerAccount: 8 },
        limits: { plans: { single: { connections: 1, monthlyActions: 0 } } },
        accounts: [
          {
            email: 'test@example.com',
            plan: 'pro',
            apiKeys: [
              { name: 'test', key: KEY },
              { name: 'narrow', key: NARROW_KEY, connections: ['from'] },
              { name: 'admin', key: ADMIN_KEY, scopes: ['admin'] },
            ],
            connections: [
              { id: 'from', name: 'From', ...source.connection },
              { id: 'to', name: 'To', ...target.connection },
            ],
          },
          { email: 'small@example.com', plan: 'single', apiKeys: [{ name: 'small', key: SMALL_KEY }] },
        ],
      },
    });

  before(async () => {
    const [sftp, ftp] = [SFTP_SERVERS[1], FTP_SERVERS[0]];
    assert.ok(sftp !== undefined && ftp !== undefined);
    [server, source, target] = await startTogether([startPostgres(), sftp.start(), ftp.start()]);
    for (const name of ['a', 'b']) await source.disk.write(`/tree/${name}`, Buffer.from(name));
    await source.disk.write('/slow/file', Buffer.alloc(400_000));
    sql = postgres(server.url, { max: 2 });
    nodes.push(await startNode());
    nodes.push(await startNode());
  });
  after(async () => {
    await sql?.end();
    for (const node of nodes) await node.stop();
    await Promise.all([source?.stop(), target?.stop()]);
    await server?.stop();
  });

  const api = (): TestGateway['api'] => (nodes[0] ?? assert.fail()).api;
  const copy = (path = '/tree', more: object = {}): object => ({
    type: 'copy',
    source: { connectionId: 'from', path: path === '/slow' ? path : '/tree' },
    destination: { connectionId: 'to', path },
    ...more,
  });
  const yearly = { cron: '30 2 1 1 *', timeZone: 'Europe/Berlin' };

  async function create(body: object, client = api()): Promise<ScheduleView> {
    const answer = await client.post('/api/schedules', body);
    assert.equal(answer.status, 201, answer.text);
    return answer.json['schedule'] as ScheduleView;
  }
  async function see(id: string): Promise<ScheduleView> {
    const answer = await api().get('/api/schedules');
    assert.equal(answer.status, 200, answer.text);
    return (answer.json['schedules'] as ScheduleView[]).find((one) => one.id === id) ?? assert.fail('it is gone');
  }
  async function jobsOf(id: string): Promise<ScheduledJob[]> {
    const answer = await api().get('/api/jobs', { query: { limit: '100' } });
    assert.equal(answer.status, 200, answer.text);
    return (answer.json['jobs'] as ScheduledJob[]).filter(({ scheduleId }) => scheduleId === id);
  }
  /** As if no gateway had run since then. */
  const miss = async (id: string): Promise<void> => {
    await sql`update schedules set next_run_at = now() - interval '800 days' where id = ${id}`;
    await tellDue(sql, 'schedules');
  };
  const fired = (id: string): Promise<void> =>
    eventually(async () => Date.parse((await see(id)).nextRuns[0] ?? '') > Date.now(), `schedule ${id} is fired`);
  async function remove(id: string): Promise<void> {
    const answer = await api().send(`/api/schedules/${id}`, { method: 'DELETE' });
    assert.equal(answer.status, 200, answer.text);
  }

  test('made, shown with its next five runs, changed, run manually and deleted', async () => {
    const made = await create({ name: 'yearly', ...yearly, job: copy('/made', { exclude: ['*.tmp'] }) });
    assert.deepEqual(
      made.nextRuns.map((time) => time.slice(4)),
      Array.from({ length: 5 }, () => '-01-01T01:30:00.000Z'),
    );
    assert.deepEqual(
      [made.isActive, made.lastRunAt, made.job['exclude'], made.job['onConflict'], made.error],
      [true, null, ['*.tmp'], 'replace', null],
    );
    const off = await api().send(`/api/schedules/${made.id}`, {
      method: 'PATCH',
      json: { isActive: false, cron: '0 4 * * *', timeZone: 'UTC' },
    });
    assert.equal(off.status, 200, off.text);
    assert.deepEqual((off.json['schedule'] as ScheduleView).nextRuns, []);
    const run = await api().post(`/api/schedules/${made.id}/run`, {});
    assert.equal(run.status, 202, run.text);
    const begun = run.json['job'] as ScheduledJob;
    assert.equal(run.headers['location'], `/api/jobs/${begun.id}`);
    assert.equal(begun.scheduleId, made.id);
    assert.equal((await ended(api(), begun.id)).state, 'succeeded');
    assert.deepEqual((await target.disk.files('/made')).sort(), ['/made/a', '/made/b']);
    assert.equal((await see(made.id)).lastJobId, begun.id);
    const on = await api().send(`/api/schedules/${made.id}`, { method: 'PATCH', json: { isActive: true } });
    assert.match((on.json['schedule'] as ScheduleView).nextRuns[0] ?? '', /T04:00:00\.000Z$/);
    await remove(made.id);
    for (const answer of [
      await api().send(`/api/schedules/${made.id}`, { method: 'DELETE' }),
      await api().send(`/api/schedules/${made.id}`, { method: 'PATCH', json: { name: 'x' } }),
      await api().post(`/api/schedules/${made.id}/run`, {}),
      await api().send('/api/schedules/x', { method: 'DELETE' }),
    ]) {
      assert.equal(answer.status, 404, answer.text);
    }
    const audit = await (nodes[0] as TestGateway)
      .client(ADMIN_KEY)
      .get('/manage/audit', { query: { action: 'schedule' } });
    const actions = (audit.json['entries'] as { action: string }[]).map(({ action }) => action);
    assert.deepEqual(actions.slice(0, 4), ['schedule.delete', 'schedule.update', 'schedule.update', 'schedule.create']);
  });

  test('invalid ones are refused', async () => {
    const good = { name: 'x', ...yearly, job: copy() };
    for (const wrong of [
      { cron: '0 0 31 2 *' },
      { cron: '* * * * * *' },
      { timeZone: 'Mars/Base' },
      { name: '' },
      { job: { type: 'copy', source: { connectionId: 'from', path: '/tree' } } },
      { job: copy('/x', { onConflict: 'maybe' }) },
    ]) {
      const answer = await api().post('/api/schedules', { ...good, ...wrong });
      assert.equal(answer.status, 400, JSON.stringify(wrong) + answer.text);
    }
    const narrow = (nodes[0] as TestGateway).client(NARROW_KEY);
    assert.equal((await narrow.post('/api/schedules', good)).status, 403);
    const small = (nodes[0] as TestGateway).client(SMALL_KEY);
    assert.equal((await small.post('/api/schedules', good)).status, 404);
    const { id } = await create(good);
    assert.deepEqual((await narrow.get('/api/schedules')).json['schedules'], []);
    assert.deepEqual((await small.get('/api/schedules')).json['schedules'], []);
    for (const other of [narrow, small]) {
      assert.equal(
        (await other.send(`/api/schedules/${id}`, { method: 'PATCH', json: { isActive: false } })).status,
        404,
      );
      assert.equal((await other.post(`/api/schedules/${id}/run`, {})).status, 404);
      assert.equal((await other.send(`/api/schedules/${id}`, { method: 'DELETE' })).status, 404);
    }
    const bad = await api().send(`/api/schedules/${id}`, { method: 'PATCH', json: { timeZone: 'Mars/Base' } });
    assert.equal(bad.status, 400, bad.text);
    await remove(id);
  });

  test('its next five runs are shown before it is made, in any zone; one that never runs is reported', async () => {
    const preview = (body: object) => (nodes[0] as TestGateway).client(NARROW_KEY).post('/api/schedules/preview', body);
    const seen = await preview(yearly);
    assert.equal(seen.status, 200, seen.text);
    const made = await create({ name: 'as previewed', ...yearly, job: copy() });
    assert.deepEqual(seen.json['nextRuns'], made.nextRuns);
    await remove(made.id);
    for (const [body, words] of [
      [{ cron: '0 0 31 2 *' }, /never comes/],
      [{ cron: '* * * * * *' }, /five fields/],
      [{ cron: '60 * * * *' }, /cron: /],
      [{ cron: '@daily', timeZone: 'Mars/Base' }, /timeZone must be a name/],
      [{ timeZone: 'UTC' }, /cron/],
    ] as const) {
      const { status, text } = await preview(body);
      assert.equal(status, 400, text);
      assert.match(text, words);
    }
  });

  const gauge = async (name: string): Promise<number> => {
    const { text } = await api().get('/metrics');
    return Number(new RegExp(`^ftg_schedules_${name}_seconds (\\S+)$`, 'm').exec(text)?.[1]);
  };

  test('missed runs are caught up once, and gauges show how late', async () => {
    const { id } = await create({ name: 'often', cron: '0 0 * * *', job: copy('/missed') });
    assert.deepEqual([await gauge('late'), await gauge('overdue')], [0, 0]);
    await sql.begin(async (held) => {
      // No node can begin a job meanwhile.
      await held`lock table jobs in share row exclusive mode`;
      await miss(id);
      await eventually(async () => (await gauge('overdue')) > 799 * DAY_S, 'the run is reported as overdue');
    });
    await fired(id);
    const isLate = async (): Promise<boolean> => (await gauge('late')) > 799 * DAY_S && (await gauge('overdue')) === 0;
    await eventually(isLate, 'the run is reported as late');
    const [job, ...others] = await jobsOf(id);
    assert.ok(job !== undefined && others.length === 0, JSON.stringify(others));
    assert.equal((await ended(api(), job.id)).state, 'succeeded');
    const seen = await see(id);
    assert.deepEqual([seen.lastJobId, seen.lastSkippedAt, seen.error], [job.id, null, null]);
    assertRecent(seen.lastRunAt ?? '', BEGUN);
    await remove(id);
  });

  test('its jobs show no schedule once it is deleted', async () => {
    const { id } = await create({ name: 'short-lived', ...yearly, job: copy('/short-lived') });
    const answer = await api().post(`/api/schedules/${id}/run`, {});
    assert.equal(answer.status, 202, answer.text);
    const job = answer.json['job'] as ScheduledJob;
    assert.equal(job.scheduleId, id);
    await remove(id);
    const seen = (await ended(api(), job.id)) as ScheduledJob;
    assert.deepEqual([seen.state, seen.scheduleId], ['succeeded', null]);
  });

  test('the clock of the database was ahead, and a node starts after it was set back', async () => {
    const { id, nextRuns } = await create({ name: 'daily', cron: '0 0 * * *', job: copy() });
    const { id: off } = await create({ name: 'off', cron: '0 0 * * *', isActive: false, job: copy() });
    await sql`update schedules set next_run_at = next_run_at + interval '400 days' where id = ${id}`;
    nodes.push(await startNode());
    await eventually(async () => (await see(id)).nextRuns[0] === nextRuns[0], 'it is due at its next time again');
    assert.deepEqual((await see(off)).nextRuns, []);
    const extra = nodes.pop();
    await extra?.stop();
    for (const one of [id, off]) await remove(one);
  });

  test('a run is skipped, and reported, while the former one is running or paused', async () => {
    const { id } = await create({ name: 'slow', ...yearly, job: copy('/slow', { bytesPerSecond: 1 }) });
    await miss(id);
    await fired(id);
    const [job] = await jobsOf(id);
    assert.ok(job !== undefined);
    assert.equal((await api().post(`/api/jobs/${job.id}/pause`, {})).status, 200);
    await miss(id);
    await fired(id);
    const seen = await see(id);
    assert.ok(seen.lastSkippedAt !== null);
    assert.match(seen.error ?? '', /the run before had not ended/);
    assert.equal(seen.errorCode, 'in_use');
    assert.equal((await jobsOf(id)).length, 1);
    const now = await api().post(`/api/schedules/${id}/run`, {});
    assert.equal(now.status, 409, now.text);
    assert.equal((await api().post(`/api/jobs/${job.id}/cancel`, {})).status, 200);
    await remove(id);
  });

  test('run once each by two nodes, one of which is killed half way', async () => {
    const ids: string[] = [];
    for (let number = 0; number < 20; number++) {
      ids.push((await create({ name: `once ${number}`, ...yearly, job: copy(`/once/${number}`) })).id);
    }
    await sql`update schedules set next_run_at = now() where id = any(${ids}::uuid[])`;
    await tellDue(sql, 'schedules');
    const victim = nodes.pop() ?? assert.fail();
    await eventually(async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from jobs where schedule_id = any(${ids}::uuid[])`;
      return (row?.count ?? 0) > 0;
    }, 'some are fired');
    await victim.kill();
    victim.api.close();
    for (const id of ids) await fired(id);
    const jobs = await sql<{ schedule_id: string; id: string }[]>`
      select schedule_id, id from jobs where schedule_id = any(${ids}::uuid[])`;
    assert.equal(jobs.length, 20);
    assert.equal(new Set(jobs.map((job) => job.schedule_id)).size, 20);
    for (const { id } of jobs) assert.equal((await ended(api(), id)).state, 'succeeded');
    assert.equal((await target.disk.files('/once')).length, 40);
    for (const id of ids) await remove(id);
  });

  test('a key that is revoked or narrowed stops its schedules, until another one takes them over', async () => {
    const admin = (nodes[0] as TestGateway).client(ADMIN_KEY);
    const made = await admin.post('/manage/api-keys', { name: 'spare', scopes: ['read', 'write'] });
    assert.equal(made.status, 201, made.text);
    const { id: keyId } = made.json['apiKey'] as { id: string };
    const key = made.json['key'] as string;
    const { id } = await create(
      { name: 'keyed', ...yearly, job: copy('/keyed') },
      (nodes[0] as TestGateway).client(key),
    );
    const rights = { name: 'spare', scopes: ['read', 'write'], connections: ['from'] };
    assert.equal((await admin.send(`/manage/api-keys/${keyId}`, { method: 'PATCH', json: rights })).status, 200);
    const stopped = async (reason: RegExp): Promise<void> => {
      await miss(id);
      await eventually(async () => !(await see(id)).isActive, 'it stops');
      const seen = await see(id);
      assert.match(seen.error ?? '', reason);
      assert.ok(seen.errorCode !== null, 'the reason has a code');
      assert.deepEqual(seen.nextRuns, []);
      assert.deepEqual(await jobsOf(id), []);
      const { attention } = (await admin.get('/manage/overview')).json as { attention: { kind: string }[] };
      const expected = {
        kind: 'schedule_stopped',
        severity: 'bad',
        text: `The schedule "keyed" has stopped: ${seen.error}`,
        name: 'keyed',
        error: seen.error,
        errorCode: seen.errorCode,
        count: null,
        limit: null,
        at: null,
        scheduleId: id,
      };
      assert.deepEqual(
        attention.filter(({ kind }) => kind === 'schedule_stopped'),
        [expected],
      );
      const isCounted = async (): Promise<boolean> =>
        /^ftg_schedules_stopped 1$/m.test((await api().get('/metrics')).text);
      await eventually(isCounted, 'the gauge counts it');
    };
    await stopped(/has lost the connections from and to/);
    const back = await admin.send(`/manage/api-keys/${keyId}`, {
      method: 'PATCH',
      json: { ...rights, connections: [] },
    });
    assert.equal(back.status, 200, back.text);
    const again = await (nodes[0] as TestGateway)
      .client(key)
      .send(`/api/schedules/${id}`, { method: 'PATCH', json: { isActive: true } });
    assert.equal(again.status, 200, again.text);
    assert.equal((again.json['schedule'] as ScheduleView).error, null);
    assert.equal((await admin.send(`/manage/api-keys/${keyId}`, { method: 'DELETE' })).status, 200);
    await stopped(/was revoked or has expired/);
    const next = await admin.post('/manage/api-keys', { name: 'rotated', scopes: ['read', 'write'] });
    const former = (next.json['apiKey'] as { id: string }).id;
    const mine = (nodes[0] as TestGateway).client(next.json['key'] as string);
    const { error } = await see(id);
    for (const json of [{ name: 'mine' }, { name: 'mine', isActive: false }]) {
      const renamed = await mine.send(`/api/schedules/${id}`, { method: 'PATCH', json });
      assert.equal(renamed.status, 200, renamed.text);
      assert.equal((renamed.json['schedule'] as ScheduleView).error, error, 'nothing is mended');
    }
    assert.equal((await admin.post(`/manage/api-keys/${former}/rotate`, {})).status, 201);
    const [row] = await sql<{ name: string; former: boolean }[]>`
      select k.name, k.id = ${former} as former from schedules s join api_keys k on k.id = s.key_id where s.id = ${id}`;
    assert.deepEqual([row?.name, row?.former], ['rotated', false]);
    const mended = await api().send(`/api/schedules/${id}`, { method: 'PATCH', json: { isActive: true } });
    assert.deepEqual([mended.status, (mended.json['schedule'] as ScheduleView).error], [200, null]);
    await miss(id);
    await fired(id);
    const [job] = await jobsOf(id);
    assert.equal((await ended(api(), job?.id ?? '')).state, 'succeeded');
    await remove(id);
  });

  test('an account has a limited number', async () => {
    const ids: string[] = [];
    const body = { name: 'one of many', ...yearly, isActive: false, job: copy() };
    for (let number = 0; number < 30; number++) ids.push((await create(body)).id);
    const answer = await api().post('/api/schedules', body);
    assert.equal(answer.status, 429, answer.text);
    for (const id of ids) await remove(id);
  });
});
