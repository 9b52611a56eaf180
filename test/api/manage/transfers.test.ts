/** The history page by page, exports, live progress, cancelling; the sums of the overview. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { monthOf } from '../../../src/attention/month.js';
import { type Browser } from '../../support/gateway.js';
import { expectError, field, type ManagedGateway, startManaged, withSql } from './support.js';
import { eventually } from '../../support/eventually.js';

interface Transfer {
  readonly id: string;
  readonly filename: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly fileSize: number;
  readonly live?: { readonly bytes: number; readonly totalBytes: number | null; readonly step: string };
}

interface Page {
  readonly transfers: readonly Transfer[];
  readonly nextCursor: string | null;
}

let gateway: ManagedGateway;
let ops: Browser;

before(async () => {
  gateway = await startManaged();
  ops = await gateway.browser();
});
after(() => gateway.stop());

const page = async (query: string): Promise<Page> => {
  const answer = await ops.get(`/manage/transfers?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as unknown as Page;
};

async function upload(filename: string, body = 'content'): Promise<void> {
  const target = `/api/upload/sandbox?filename=${encodeURIComponent(filename)}`;
  const answer = await ops.send(target, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/octet-stream' },
  });
  assert.equal(answer.status, 200, answer.text);
}

/** A raw upload of `size` bytes that continues when the test calls for it. */
function slowUpload(browser: Browser, filename: string, size: number) {
  const body = new PassThrough();
  const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': String(size) };
  const answered = browser.send(`/api/upload/sandbox?filename=${filename}`, { method: 'POST', body, headers });
  return { body, answered };
}

/** The events of a stream, as they arrive. */
async function watch(browser: Pick<Browser, 'open'>, query = '') {
  const response: IncomingMessage = await browser.open(`/manage/events${query}`);
  assert.equal(response.statusCode, 200);
  assert.match(response.headers['content-type'] ?? '', /^text\/event-stream/);
  const events: { name: string; data: Record<string, unknown> }[] = [];
  let name = '';
  createInterface(response).on('line', (line) => {
    if (line.startsWith('event: ')) name = line.slice(7);
    if (line.startsWith('data: ')) events.push({ name, data: JSON.parse(line.slice(6)) as Record<string, unknown> });
  });
  return { response, events };
}

test('pages continue exactly, even with new rows, and filters apply to all of them', async () => {
  for (let n = 0; n < 7; n++) await upload(`page-${n}.txt`);
  expectError(await ops.get('/api/download/sandbox?path=/absent.txt'), 404, 'not_found');
  const first = await page('limit=3&type=upload');
  assert.deepEqual(
    first.transfers.map(({ filename }) => filename),
    ['page-6.txt', 'page-5.txt', 'page-4.txt'],
  );
  await upload('meanwhile.txt');
  const second = await page(`limit=3&type=upload&cursor=${first.nextCursor}`);
  const third = await page(`limit=3&type=upload&cursor=${second.nextCursor}`);
  assert.deepEqual(
    [...second.transfers, ...third.transfers].map(({ filename }) => filename),
    ['page-3.txt', 'page-2.txt', 'page-1.txt', 'page-0.txt'],
  );
  assert.equal(third.nextCursor, null);
  const failed = await page('status=failed');
  assert.deepEqual(
    failed.transfers.map(({ errorCode }) => errorCode),
    ['not_found'],
  );
  assert.equal((await page('search=PAGE-3')).transfers.length, 1);
  assert.equal((await page('search=%25')).transfers.length, 0, 'signs of the pattern language are letters here');
  assert.equal((await page('direction=inbound&type=upload')).transfers.length, 0);
  const oldest = third.transfers.at(-1) as unknown as { createdAt: string };
  assert.equal((await page(`until=${oldest.createdAt}`)).transfers.length, 0);
  expectError(await ops.get('/manage/transfers?cursor=1'), 400, 'bad_request');
  const detail = await ops.get(`/manage/transfers/${first.transfers[0]?.id}`);
  assert.equal(field(detail, 'key'), null, 'made by a login session');
  assert.match(field<string>(detail, 'requestId'), /^[\w-]{36}$/);
});

test('an export has every row, and a file name that looks like a formula stays a text', async () => {
  await upload('=1+1,"x".txt');
  const csv = await ops.get('/manage/transfers/export?format=csv&type=upload');
  assert.match(csv.headers['content-disposition'] ?? '', /attachment; filename="transfers-\d{4}-\d\d-\d\d\.csv"/);
  const lines = csv.text.trimEnd().split('\r\n');
  assert.match(lines[0] ?? '', /^id,createdAt,/);
  assert.equal(lines.length, 1 + 9);
  assert.ok(csv.text.includes(`"'=1+1,""x"".txt"`), lines[1]);
  const rows = (await ops.get('/manage/transfers/export?format=ndjson')).text.trimEnd().split('\n');
  const total = (await ops.get('/manage/account')).json['transfers'];
  assert.equal(rows.length, total);
  assert.equal((JSON.parse(rows[0] ?? '') as Transfer).filename, '=1+1,"x".txt');
});

test('a running transfer shows its progress, and its end, to its watchers', async () => {
  const { response, events } = await watch(ops);
  const uploader = await gateway.browser();
  const { body, answered } = slowUpload(uploader, 'watched.bin', 100_000);
  body.write(Buffer.alloc(40_000));
  const shown = (): Transfer | undefined =>
    events
      .filter(({ name }) => name === 'transfers')
      .flatMap(({ data }) => data['transfers'] as Transfer[])
      .findLast(({ filename }) => filename === 'watched.bin');
  await eventually(() => shown()?.live?.bytes === 40_000, 'the progress of the upload');
  assert.equal(shown()?.live?.totalBytes, 100_000);
  assert.equal(shown()?.live?.step, 'transfer');
  const listed = field<Transfer[]>(await ops.get('/manage/transfers/live'), 'transfers');
  assert.equal(listed[0]?.id, shown()?.id);
  body.end(Buffer.alloc(60_000));
  assert.equal((await answered).status, 200);
  const finished = (): Transfer | undefined =>
    events.find(({ name }) => name === 'finished')?.data as Transfer | undefined;
  await eventually(() => finished() !== undefined, 'the end of the upload');
  assert.deepEqual([finished()?.id, finished()?.status, finished()?.fileSize], [shown()?.id, 'success', 100_000]);
  assert.deepEqual(events.at(-2)?.data ?? events.at(-1)?.data, { transfers: [] });
  response.destroy();
});

test('with batch=true, all transfers that have ended within a second are one event', async () => {
  const { response, events } = await watch(ops, '?batch=true');
  const uploader = await gateway.browser();
  const uploads = Array.from({ length: 6 }, (_, n) => slowUpload(uploader, `batched-${n}.bin`, 10_000));
  for (const { body } of uploads) body.write(Buffer.alloc(1_000));
  const named = (wanted: string): string[] =>
    events
      .filter(({ name }) => name === wanted)
      .flatMap(({ data }) => data['transfers'] as Transfer[])
      .map(({ filename }) => filename);
  await eventually(() => new Set(named('transfers')).size >= uploads.length, 'all uploads are shown');
  for (const { body } of uploads) body.end(Buffer.alloc(9_000));
  for (const { answered } of uploads) assert.equal((await answered).status, 200);
  await eventually(() => named('ended').length === uploads.length, 'the end of all of them');
  assert.ok(events.filter(({ name }) => name === 'ended').length < uploads.length, 'fewer events than transfers');
  assert.ok(!events.some(({ name }) => name === 'finished'));
  response.destroy();
});

test('the transfers of another account cannot be seen or cancelled', async () => {
  const other = await gateway.browser('other@example.com');
  const { events, response } = await watch(other);
  const { body, answered } = slowUpload(await gateway.browser(), 'private.bin', 1000);
  body.write(Buffer.alloc(10));
  let id = '';
  await eventually(async () => {
    id = field<Transfer[]>(await ops.get('/manage/transfers/live'), 'transfers')[0]?.id ?? '';
    return id !== '';
  }, 'the upload runs');
  expectError(await other.post(`/manage/transfers/${id}/cancel`), 404, 'unknown_item');
  expectError(await other.get(`/manage/transfers/${id}`), 404, 'unknown_item');
  assert.deepEqual(field(await other.get('/manage/transfers/live'), 'transfers'), []);
  body.end(Buffer.alloc(990));
  assert.equal((await answered).status, 200);
  assert.ok(!JSON.stringify(events).includes('private.bin'));
  response.destroy();
});

for (const moment of ['as it begins', 'as bytes move']) {
  test(`the owner cancels a transfer ${moment}: it ends as failed, and leaves no file`, async () => {
    const { body, answered } = slowUpload(await gateway.browser(), 'cancelled.bin', 1_000_000);
    body.write(Buffer.alloc(100_000));
    let running: Transfer | undefined;
    await eventually(async () => {
      [running] = field<Transfer[]>(await ops.get('/manage/transfers/live'), 'transfers');
      return moment === 'as it begins' ? running !== undefined : (running?.live?.bytes ?? 0) > 0;
    }, 'the upload runs');
    const id = running?.id;
    assert.equal((await ops.post(`/manage/transfers/${id}/cancel`)).status, 202);
    expectError(await answered, 409, 'cancelled');
    body.destroy();
    const stored = await ops.get(`/manage/transfers/${id}`);
    assert.deepEqual([stored.json['status'], stored.json['errorCode']], ['failed', 'cancelled']);
    expectError(await ops.post(`/manage/transfers/${id}/cancel`), 409, 'not_running');
    // If the transfer's session was cut with it, another session deletes the hidden file a moment later.
    const isListed = async (): Promise<boolean> => (await ops.get('/api/list/sandbox')).text.includes('cancelled.bin');
    await eventually(async () => !(await isListed()), 'nothing is left of it');
    const audit = await ops.get('/manage/audit?action=transfer.cancel');
    assert.equal(field<{ target: { id: string } }[]>(audit, 'entries')[0]?.target.id, id);
  });
}

test('event streams are counted, and end with their session', async () => {
  const browser = await gateway.browser('small@example.com');
  const open = await Promise.all(Array.from({ length: 10 }, () => watch(browser)));
  expectError(await browser.get('/manage/events'), 429, 'rate_limited');
  const ended = Promise.all(open.map(({ response }) => new Promise((done) => response.once('close', done))));
  assert.equal((await browser.post('/manage/logout')).status, 200);
  await ended;
});

/** Former defect: a stream that a key had opened stayed open for ever, and showed all later events. */
for (const [what, end] of [
  ['is revoked', (at: string) => ops.delete(at)],
  ['loses its scope', (at: string) => ops.patch(at, { scopes: ['read'] })],
] as const) {
  test(`an event stream ends when its key ${what}, and shows nothing that begins later`, async () => {
    const made = await ops.post('/manage/api-keys', { name: `watcher that ${what}`, scopes: ['admin'] });
    const { id } = field<{ id: string }>(made, 'apiKey', 201);
    const client = gateway.client(field<string>(made, 'key', 201));
    const { response, events } = await watch(client);
    await eventually(() => events.length > 0, 'the stream shows what runs');
    const ended = new Promise((done) => response.once('close', done));
    assert.equal((await end(`/manage/api-keys/${id}`)).status, 200);
    const { body, answered } = slowUpload(await gateway.browser(), `late-${what.length}.bin`, 1000);
    body.write(Buffer.alloc(500));
    await ended;
    assert.ok(!JSON.stringify(events).includes(`late-${what.length}`));
    client.close();
    body.end(Buffer.alloc(500));
    await answered;
  });
}

test('HEAD of a download is recorded as a look-up, and takes no action of the month', async () => {
  await upload('head.txt');
  const actions = async (): Promise<number> => {
    const [row] = await withSql(
      gateway.databaseUrl,
      (sql) => sql<{ actions: number }[]>`select sum(actions_recorded)::int as actions from monthly_usage`,
    );
    return row?.actions ?? 0;
  };
  const before = await actions();
  const head = await ops.send('/api/download/sandbox?path=/head.txt', { method: 'HEAD' });
  assert.deepEqual([head.status, head.bytes.length], [200, 0]);
  let newest: Transfer | undefined;
  await eventually(async () => {
    [newest] = (await page('limit=1')).transfers;
    return newest?.filename === 'head.txt' && (newest as { type?: string }).type === 'exists';
  }, 'the history has it as exists');
  assert.equal(await actions(), before);
  assert.equal((await ops.get('/api/download/sandbox?path=/head.txt')).status, 200);
  assert.equal(await actions(), before + 1, 'a download is one');
});

test('the overview adds up the day, usage the month', async () => {
  const overview = await ops.get('/manage/overview');
  const today = field<Record<string, number>>(overview, 'today');
  const [row] = await withSql(
    gateway.databaseUrl,
    (sql) => sql`
      select count(*)::int as transfers, count(*) filter (where status = 'failed')::int as failed,
             sum(file_size) filter (where direction = 'outbound')::int as "bytesOut" from transfers`,
  );
  // Around midnight (UTC), only the test's own rows count for yesterday.
  if (new Date().getUTCHours() > 0) {
    assert.deepEqual(
      [today['transfers'], today['failed'], today['bytesOut']],
      [row?.['transfers'], row?.['failed'], row?.['bytesOut']],
    );
  }
  assert.equal((overview.json['hours'] as object[]).length, 24);
  const usage = await ops.get('/manage/usage');
  assert.equal(field(usage, 'limit'), 0);
  assert.ok(field<number>(usage, 'used') > 0 && field<number>(usage, 'forecast') >= field<number>(usage, 'used'));
  const pools = field<{ open: number; connectionIds: string[] }[]>(await ops.get('/manage/pools'), 'pools');
  assert.deepEqual(pools[0]?.connectionIds, ['sandbox']);
  const shares = field<{ name: string; used: number; capacity: number }[]>(await ops.get('/manage/pools'), 'shares');
  const share = (name: string): object | undefined => shares.find((one) => one.name === name);
  // The row of this request.
  assert.deepEqual(share('requests'), { name: 'requests', used: 1, capacity: 2_048, refused: 0 });
  assert.deepEqual(share('memoryBytes'), { name: 'memoryBytes', used: 0, capacity: 128 * 1024 * 1024, refused: 0 });
  const others = await gateway.browser('other@example.com');
  assert.deepEqual(field(await others.get('/manage/pools'), 'pools'), []);
});

test('the forecast continues the last seven days', async () => {
  const days = Array.from({ length: 10 }, (_, index) => ({
    day: `2026-11-${String(index + 1).padStart(2, '0')}`,
    actions: index < 3 ? 1000 : 10,
    failed: 0,
  }));
  const now = new Date('2026-11-11T00:00:00Z');
  const forecast = async (used: number, limit: number, known: typeof days): Promise<unknown[]> => {
    const storage = { quota: { used: async () => used }, management: { figures: { days: async () => known } } };
    const month = await monthOf(storage, 'an account', limit, now);
    return [month.forecast, month.runsOutAt];
  };
  // Six whole days of 10 before it, 20 days of 10 after it.
  assert.deepEqual(await forecast(3070, 4000, days), [3270, null]);
  assert.deepEqual(await forecast(3070, 3100, days), [3270, new Date('2026-11-14T00:00:00Z')]);
  assert.deepEqual(await forecast(0, 0, []), [0, null]);
});

test('a transfer has its digest and its receipt, and is found by its content', async () => {
  const made = await ops.post('/manage/connections/sandbox/duplicate', { id: 'proved' });
  assert.equal(made.status, 201, made.text);
  assert.equal((await ops.patch('/manage/connections/proved', { digests: 'always' })).status, 200);
  const write = (path: string, content: string) => ops.post('/api/write/proved', { path, content });
  for (const path of ['/one.txt', '/two.txt']) assert.equal((await write(path, 'hello world')).status, 200);
  assert.equal((await write('/other.txt', 'hello')).status, 200);
  const digest = 'sha-256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';
  const found = await page(`digest=${digest}&limit=1`);
  const rest = await page(`digest=${digest.replace('b94d', 'B94D')}&limit=2&cursor=${found.nextCursor}`);
  assert.deepEqual(
    [...found.transfers, ...rest.transfers].map(({ filename }) => filename),
    ['two.txt', 'one.txt'],
  );
  assert.equal(rest.nextCursor, null);
  assert.deepEqual((await page(`digest=${digest}&status=failed`)).transfers, []);
  expectError(await ops.get('/manage/transfers?digest=b94d'), 400, 'bad_request');
  const rows = (await ops.get(`/manage/transfers/export?format=ndjson&digest=${digest}`)).text.trimEnd().split('\n');
  assert.equal(rows.length, 2);

  const id = found.transfers[0]?.id ?? '';
  const detail = await ops.get(`/manage/transfers/${id}`);
  assert.equal(field(detail, 'digest'), digest);
  assert.equal(field(detail, 'noDigest'), null);
  const { keys } = (await ops.get('/.well-known/jwks.json')).json as { keys: { kid: string }[] };
  assert.deepEqual(field(detail, 'receipt'), { sequence: 2, keyId: keys[0]?.kid });
  assert.equal((await ops.get(`/api/transfers/${id}/receipt`)).status, 200);
  const plain = await ops.get(`/manage/transfers/${(await page('search=page-3')).transfers[0]?.id}`);
  assert.deepEqual(
    ['digest', 'noDigest', 'receipt'].map((name) => field(plain, name)),
    [null, null, null],
  );
  const other = await gateway.browser('other@example.com');
  expectError(await other.get(`/manage/transfers/${id}`), 404, 'unknown_item');
  assert.deepEqual((await other.get(`/manage/transfers?digest=${digest}`)).json['transfers'], []);
});
