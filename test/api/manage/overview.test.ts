/** The overview: connections that need attention, figures over time, and the health of the last days. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { UNREACHED } from '../../../src/base/errors.js';
import { ERROR_CODES } from '../../../src/contract/errors.js';
import { uuidv7 } from '../../../src/base/uuid.js';
import type { Browser } from '../../support/gateway.js';
import { expectError, field, type ManagedGateway, startManaged, withSql } from './support.js';

interface Point {
  readonly from: string;
  readonly until: string;
  readonly transfers: number;
  readonly failed: number;
  readonly lookups: number;
  readonly bytesOut: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

interface Row {
  readonly type?: string;
  readonly code?: string;
  readonly stages?: string;
  readonly size?: number;
  readonly tookMs?: number;
  readonly keyId?: string;
  readonly requestId?: string;
}

let gateway: ManagedGateway;
let ops: Browser;

before(async () => {
  // The sandbox is not checked: only the results of its operations are known.
  gateway = await startManaged({ health: { everySeconds: 0 } });
  ops = await gateway.browser();
});
after(() => gateway.stop());

const forget = (): Promise<unknown> =>
  withSql(gateway.databaseUrl, async (sql) => {
    await sql`delete from transfers`;
    await sql`delete from connection_outages`;
  });

/** Rows of the sandbox, in that order; a row with a code has failed. */
async function record(...rows: readonly Row[]): Promise<readonly string[]> {
  return withSql(gateway.databaseUrl, async (sql) => {
    const ids: string[] = [];
    for (const { type = 'upload', code = null, stages = null, size = 10, tookMs = 5, keyId = null, ...row } of rows) {
      const id = uuidv7();
      ids.push(id);
      await sql`
        insert into transfers (id, account_id, connection_id, type, direction, status, filename, path, file_size,
          error_message, error_code, duration_ms, counts_action, created_at, stages, key_id, request_id)
        select ${id}, id, 'sandbox', ${type}, 'outbound', ${code === null ? 'success' : 'failed'}, 'a.txt', '/a.txt',
          ${size}, ${code === null ? null : `because of ${code}`}, ${code}, ${tookMs}, true, now(), ${stages}, ${keyId},
          ${row.requestId ?? null} from accounts where email = 'ops@example.com'`;
    }
    return ids;
  });
}

async function failing(): Promise<readonly string[]> {
  const attention = field<{ kind: string; severity: string; error: string }[]>(
    await ops.get('/manage/overview'),
    'attention',
  );
  return attention.filter(({ kind }) => kind === 'connection_failing').map(({ error }) => error);
}

test('a connection fails through errors of reaching its server and logging in there, and through no others', async () => {
  for (const code of ERROR_CODES) {
    await forget();
    await record({ code }, { code }, { code });
    assert.deepEqual(await failing(), UNREACHED.has(code) ? [`because of ${code}`] : [], code);
  }
});

test('the next success clears a connection that failed; name conflicts do not change its state', async () => {
  await forget();
  const code = 'login_refused';
  await record({ code }, { code });
  assert.deepEqual(await failing(), [], 'two may be chance');
  await record({ code }, { code: 'already_exists' }, { code: 'already_exists' });
  assert.deepEqual(await failing(), ['because of login_refused'], 'the server has not let anybody in since');
  await record({ type: 'list' });
  assert.deepEqual(await failing(), []);
  await record({ code: 'already_exists' }, { code: 'already_exists' }, { code: 'already_exists' });
  assert.deepEqual(await failing(), []);
});

test('an unreachable server of a url is not that of the connection', async () => {
  await forget();
  const fetched = { code: 'dns_failed', stages: '{"fetch":4.2}' };
  await record(fetched, fetched, fetched);
  assert.deepEqual(await failing(), []);
});

test('a connection that is known to be down needs a person until it is up again', async () => {
  await forget();
  await withSql(
    gateway.databaseUrl,
    (sql) => sql`
      insert into connection_outages (connection_id, account_id, since, error, error_code)
      select 'sandbox', id, now() - interval '1 hour', 'no route', 'unreachable' from accounts
      where email = 'ops@example.com'`,
  );
  assert.deepEqual(await failing(), ['no route']);
  await withSql(gateway.databaseUrl, (sql) => sql`update connection_outages set until = now()`);
  assert.deepEqual(await failing(), []);
});

test('figures add up by the hour and by the day of a zone', async () => {
  const write = async (name: string): Promise<void> => {
    const answer = await ops.post('/api/write/sandbox', { path: `/figures/${name}`, content: 'x'.repeat(1000) });
    assert.equal(answer.status, 200, answer.text);
  };
  await withSql(gateway.databaseUrl, (sql) => sql`delete from transfer_hours`);
  await write('one.txt');
  await write('two.txt');
  expectError(await ops.get('/api/read/sandbox?path=/figures/absent.txt'), 404, 'not_found');
  const points = async (query: string): Promise<readonly Point[]> =>
    field<Point[]>(await ops.get(`/manage/figures?${query}`), 'points');
  const hours = await points('');
  assert.equal(hours.length, 24);
  const sum = (of: (point: Point) => number, among = hours): number => among.reduce((all, one) => all + of(one), 0);
  assert.deepEqual(
    [sum(({ transfers }) => transfers), sum(({ failed }) => failed), sum(({ bytesOut }) => bytesOut)],
    [3, 1, 2000],
  );
  const busy = hours.findLast(({ transfers }) => transfers > 1);
  assert.ok(busy !== undefined && busy.p50Ms !== null && busy.p95Ms !== null && busy.p50Ms <= busy.p95Ms);
  for (const timeZone of ['UTC', 'Europe/Berlin', 'Pacific/Auckland']) {
    const days = await points(`range=7d&timeZone=${timeZone}`);
    assert.equal(days.length, 7);
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
    assert.deepEqual(
      days.map(({ from }) => clock.format(new Date(from))),
      days.map(() => '00:00'),
    );
    assert.equal(
      sum(({ transfers }) => transfers, days),
      3,
    );
  }
  expectError(await ops.get('/manage/figures?timeZone=Mars/Olympus'), 400, 'bad_request');
  const today = field<{ transfers: number; from: string }>(
    await ops.get('/manage/overview?timeZone=Asia/Tokyo'),
    'today',
  );
  assert.equal(new Date(today.from).getUTCHours(), 15, 'midnight of Tokyo');
});

test('transfers come in the order asked for, page by page, each once', async () => {
  await forget();
  const sizes = [5, 3_000_000, 7, 2_000_000, 9_000_000, 1];
  const rows = sizes.map((size, index): Row => ({ size, tookMs: index === 2 ? 60_000 : index === 5 ? 2_000 : 3 }));
  const ids = await record(...rows, { type: 'list' });
  const all = async (query: string): Promise<readonly string[]> => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const answer = await ops.get(`/manage/transfers?lookups=false&limit=2&${query}${cursor}`);
      seen.push(...field<{ id: string }[]>(answer, 'transfers').map(({ id }) => id));
      const next = answer.json['nextCursor'] as string | null;
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    return seen;
  };
  const named = (...numbers: number[]): (string | undefined)[] => numbers.map((number) => ids[number]);
  assert.deepEqual(await all('order=newest'), named(5, 4, 3, 2, 1, 0));
  assert.deepEqual(await all('order=oldest'), named(0, 1, 2, 3, 4, 5));
  assert.deepEqual(await all('order=largest'), named(4, 1, 3, 5, 2, 0));
  assert.deepEqual(await all('order=longest'), named(2, 5, 4, 3, 1, 0));
  assert.deepEqual(await all('order=largest&minBytes=2500000'), named(4, 1));
  expectError(await ops.get(`/manage/transfers?order=largest&cursor=${ids[0]}`), 400, 'bad_request');
});

test('transfers are found by key, error code and request, and look-ups can be left out', async () => {
  await forget();
  const keyId = uuidv7();
  const ids = await record(
    { keyId, requestId: 'order-4711' },
    { code: 'no_space' },
    { type: 'list' },
    { type: 'poll', code: 'login_refused' },
  );
  const found = async (query: string): Promise<readonly number[]> =>
    field<{ id: string }[]>(await ops.get(`/manage/transfers?${query}`), 'transfers').map(({ id }) => ids.indexOf(id));
  assert.deepEqual(await found(`keyId=${keyId}`), [0]);
  assert.deepEqual(await found('requestId=order-4711'), [0]);
  assert.deepEqual(await found('errorCode=no_space'), [1]);
  assert.deepEqual(await found('errorCode=no_space&status=success'), []);
  assert.deepEqual(await found('lookups=false'), [1, 0]);
  assert.deepEqual(await found('lookups=false&type=list'), [2], 'who asks for lists gets them');
  assert.deepEqual(await found(''), [3, 2, 1, 0]);
  expectError(await ops.get('/manage/transfers?keyId=me'), 400, 'bad_request');
});

test('the health of the last days has the downtime of a server for each day', async () => {
  await withSql(gateway.databaseUrl, async (sql) => {
    await sql`delete from connection_outages`;
    await sql`
      insert into connection_checks (connection_id, account_id, due_at, watched_since, checked_at, reached_at)
      select 'sandbox', id, now() + interval '1 day', now() - interval '5 days', now(), now() from accounts
      where email = 'ops@example.com'
      on conflict (connection_id) do update set watched_since = excluded.watched_since, checked_at = now()`;
    await sql`
      insert into connection_outages (connection_id, account_id, since, until)
      select 'sandbox', id, date_trunc('day', now(), 'UTC') - interval '12 hours',
        date_trunc('day', now(), 'UTC') - interval '6 hours' from accounts where email = 'ops@example.com'`;
  });
  type Day = { readonly from: string; readonly availability: number | null; readonly downSeconds: number };
  const connections = async (query: string) =>
    field<{ id: string; days: Day[] }[]>(await ops.get(`/manage/health?${query}`), 'connections');
  const [sandbox] = await connections('days=90');
  assert.equal(sandbox?.days.length, 90);
  assert.deepEqual(
    sandbox?.days.slice(-8, -5).map(({ availability }) => availability),
    [null, null, sandbox?.days.at(-6)?.availability],
    'before anybody looked nothing is known',
  );
  assert.deepEqual(
    [sandbox?.days.at(-2)?.availability, sandbox?.days.at(-2)?.downSeconds, sandbox?.days.at(-1)?.availability],
    [0.75, 6 * 3600, 1],
  );
  assert.deepEqual((await connections(''))[0]?.days, []);
});
