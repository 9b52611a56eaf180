/** Outside of a connection's hours requests are refused, and jobs and watched folders wait. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PROTOCOLS, startServers } from '../faults/rig.js';
import { begin, ended, look, run } from '../jobs/support.js';
import { eventually } from '../support/eventually.js';
import { type Browser, startGateway, type TestGateway } from '../support/gateway.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const EMAIL = 'test@example.com';
const PASSWORD = 'a password for the owner';

/** Hours of one minute a week that are three to four days away. */
function closedHours(): { readonly hours: string; readonly beginsAt: number } {
  const beginsAt = (Math.floor((Date.now() + 3 * DAY_MS) / HOUR_MS) + 1) * HOUR_MS;
  const at = new Date(beginsAt);
  const day = ['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'][at.getUTCDay()];
  const hour = String(at.getUTCHours()).padStart(2, '0');
  return { hours: `${day} ${hour}:00-${hour}:01 UTC`, beginsAt };
}

const CLOSED = closedHours();
const OPEN = '00:00-24:00 UTC';

describe('the hours of a connection', () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let gateway: TestGateway;
  let owner: Browser;

  before(async () => {
    servers = await startServers();
    gateway = await startGateway({
      config: {
        watcher: { settleMs: 0 },
        accounts: [
          {
            email: EMAIL,
            plan: 'pro',
            password: PASSWORD,
            apiKeys: [{ name: 'test', key: 'ftg_test-key-0123456789-abcdefgh' }],
            connections: PROTOCOLS.flatMap((id) => [
              { id: `${id}-closed`, name: `${id}, closed`, ...servers[id].connection, hours: CLOSED.hours },
              { id: `${id}-open`, name: `${id}, open`, ...servers[id].connection, hours: OPEN },
            ]),
          },
        ],
      },
    });
    owner = await gateway.login(EMAIL, PASSWORD);
    const made = await owner.post('/manage/connections', { id: 'mine', name: 'Mine', ...servers.ftp.connection });
    assert.equal(made.status, 201, made.text);
    for (const id of PROTOCOLS) await servers[id].disk.write('/hours/a.txt', Buffer.from('a'));
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.stop()));
  });

  const edit = async (hours: string | null): Promise<void> => {
    const { status, text } = await owner.patch('/manage/connections/mine', { hours });
    assert.equal(status, 200, text);
  };

  for (const id of PROTOCOLS) {
    test(`${id}: a request is refused until the hours begin, and nothing is recorded`, async () => {
      const left = (): number => (CLOSED.beginsAt - Date.now()) / 1000;
      const most = Math.ceil(left());
      const answer = await gateway.api.get(`/api/download/${id}-closed`, { query: { path: '/hours/a.txt' } });
      const least = Math.floor(left());
      assert.equal(answer.status, 503, answer.text);
      assert.equal(answer.headers['x-error-code'], 'outside_hours');
      assert.ok(answer.text.includes(CLOSED.hours), answer.text);
      assert.ok(answer.text.includes(new Date(CLOSED.beginsAt).toISOString()), answer.text);
      const seconds = Number(answer.headers['retry-after']);
      assert.ok(least <= seconds && seconds <= most, `${least} <= ${seconds} <= ${most}`);
      const { json } = await gateway.api.get('/api/transfers', { query: { connection_id: `${id}-closed` } });
      assert.deepEqual(json['transfers'], []);
    });

    test(`${id}: within the hours it is served`, async () => {
      const { status, text } = await gateway.api.get(`/api/download/${id}-open`, { query: { path: '/hours/a.txt' } });
      assert.deepEqual([status, text], [200, 'a']);
    });
  }

  test('a copy is refused if either of its connections is closed', async () => {
    for (const [source, target] of [
      ['sftp-closed', 's3-open'],
      ['s3-open', 'sftp-closed'],
    ]) {
      const { status, headers } = await gateway.api.post('/api/copy', {
        source_connection_id: source,
        source_path: '/hours/a.txt',
        dest_connection_id: target,
        dest_path: '/hours/b.txt',
      });
      assert.deepEqual([status, headers['x-error-code']], [503, 'outside_hours']);
    }
  });

  test('a test of the connection is made at any time', async () => {
    const answer = await owner.post('/manage/connections/sftp-closed/test', {});
    assert.equal(answer.status, 200, answer.text);
    assert.doesNotMatch(answer.text, /outside_hours/);
  });

  test('a job waits, says until when, uses no try, and goes on once the hours allow it', async () => {
    await edit(CLOSED.hours);
    const order = {
      type: 'copy',
      source: { connectionId: 'mine', path: '/hours/a.txt' },
      destination: { connectionId: 's3-open', path: '/hours/copied.txt' },
    };
    const { id } = await begin(gateway.api, order);
    await eventually(async () => waitOf(await look(gateway.api, id)) === CLOSED.beginsAt, 'the job says that it waits');
    const waiting = await look(gateway.api, id);
    assert.equal(waiting.state, 'running');
    assert.equal(waiting.counts.failed, 0);
    const overview = await owner.get('/manage/overview');
    assert.match(JSON.stringify(overview.json['attention']), /"jobs_waiting".*1 job waits/);
    await edit(null);
    // It looks again within a minute.
    const done = await ended(gateway.api, id);
    assert.equal(done.state, 'succeeded', JSON.stringify(done));
    assert.equal(waitOf(done), undefined);
    assert.equal((await run(gateway.api, order)).state, 'succeeded');
  });

  test('work on two connections that are never open at once is refused', async () => {
    await edit(CLOSED.hours.replace(/:00-(\d\d):01/, ':02-$1:03'));
    const destination = { connectionId: 'sftp-closed', path: '/hours/b' };
    const job = { type: 'copy', source: { connectionId: 'mine', path: '/hours' }, destination };
    const refused = await gateway.api.post('/api/jobs', job);
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, /mine and sftp-closed may never be used at the same time: .* UTC, and .* UTC/);
    await edit(null);
    assert.equal((await begin(gateway.api, job)).state, 'running');
  });

  test('a watched folder is checked next when the hours begin, and does not count as failing', async () => {
    await edit(null);
    const made = await gateway.api.post('/api/watched-folders', {
      connectionId: 'mine',
      path: '/hours',
      webhookUrl: 'https://example.com/hook',
    });
    assert.equal(made.status, 201, made.text);
    const target = `/watched-folders/${String(made.json['id'])}`;
    const folder = async (): Promise<Record<string, unknown>> => (await owner.get(`/manage${target}`)).json;
    await eventually(async () => JSON.stringify(await folder()).includes('"lastSuccessAt":"'), 'the first check');
    await edit(CLOSED.hours);
    const { status, text } = await owner.post(`/manage${target}/check`);
    assert.ok(status < 300, text);
    const due = `"nextCheckAt":"${new Date(CLOSED.beginsAt).toISOString()}"`;
    await eventually(async () => JSON.stringify(await folder()).includes(due), 'the folder waits for the hours');
    assert.doesNotMatch(JSON.stringify(await folder()), /outside_hours/);
    const attention = async (): Promise<string> =>
      JSON.stringify((await owner.get('/manage/overview')).json['attention']);
    assert.match(await attention(), /"watched_folders_waiting".*1 watched folder waits for the hours/);
    const checkedAt = (await folder())['lastSuccessAt'];
    await edit(null);
    await eventually(async () => (await folder())['lastSuccessAt'] !== checkedAt, 'the folder follows its hours');
    assert.doesNotMatch(await attention(), /watched_folders_waiting/);
  });

  test('hours are validated where they are entered', async () => {
    for (const hours of ['Mo-Fr', 'Mo-Fr 20:00-06:00', 'Mo 08:00-08:00 UTC', 'always']) {
      const { status, text } = await owner.patch('/manage/connections/mine', { hours });
      assert.equal(status, 400, `${hours}: ${text}`);
      assert.match(text, /hours/);
    }
  });
});

function waitOf(job: object): number | undefined {
  const { waitsUntil } = job as { readonly waitsUntil?: string | null };
  return typeof waitsUntil === 'string' ? Date.parse(waitsUntil) : undefined;
}
