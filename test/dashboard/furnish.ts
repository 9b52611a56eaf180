/** Fills an account so that no screen is empty, and lists the screens. */
import type { Page } from 'playwright-core';
import { manage } from './browser.js';
import { eventually } from '../support/eventually.js';

/** No receiver listens there: messages end as dead letters. */
const UNREACHABLE = 'http://127.0.0.1:9/';

const seen = (text: string) => async (shown: Page) => {
  await shown.getByText(text).filter({ visible: true }).first().waitFor();
};

/** The screens of a new account. */
export const EMPTY_SCREENS: readonly Screen[] = [
  { name: 'first-steps', path: '/', ready: seen('Send the first file') },
  { name: 'no-connection', path: '/connections', ready: seen('No connection yet') },
  { name: 'no-files', path: '/files', ready: seen('No connection to browse') },
  { name: 'no-transfer', path: '/transfers', ready: seen('No transfer yet') },
  { name: 'no-job', path: '/jobs', ready: seen('No job yet') },
  { name: 'no-connection-for-a-job', path: '/jobs/new', ready: seen('No connection to work on') },
  { name: 'no-schedule', path: '/schedules', ready: seen('No schedule yet') },
  { name: 'no-watched-folder', path: '/watched', ready: seen('No folder is watched') },
  { name: 'no-webhook', path: '/webhooks', ready: seen('No webhook yet') },
  { name: 'no-link', path: '/links', ready: seen('No link yet') },
  { name: 'no-event', path: '/events', ready: seen('No event yet') },
  { name: 'no-key', path: '/keys', ready: seen('No key yet') },
  { name: 'no-health', path: '/health', ready: seen('No connection yet') },
  { name: 'no-session', path: '/pools', ready: seen('No session is open') },
  { name: 'no-usage', path: '/usage', ready: seen('Actions by day') },
];

export interface Screen {
  readonly name: string;
  readonly path: string;
  /** Resolves when the screen shows its data. */
  readonly ready: (page: Page) => Promise<void>;
}

export async function furnish(page: Page): Promise<readonly Screen[]> {
  await manage(page, 'POST', '/manage/connections/sandbox/duplicate', { name: 'Archive', id: 'archive' });
  await manage(page, 'PATCH', '/manage/connections/archive', { digests: 'always' });
  await manage(page, 'POST', '/manage/connections', {
    id: 'partner',
    name: 'Partner drop box',
    type: 'sftp',
    host: 'sftp.partner.invalid',
    username: 'acme',
    password: 'not-used',
  });
  for (const connection of ['sandbox', 'partner'])
    await manage(page, 'POST', `/manage/connections/${connection}/test`, { probe: connection === 'sandbox' });
  await manage(page, 'POST', '/manage/api-keys', {
    name: 'nightly export',
    connections: ['sandbox'],
    expiresAt: '2099-01-01T00:00:00Z',
  });
  const { apiKey } = await manage(page, 'POST', '/manage/api-keys', { name: 'old robot', scopes: ['read', 'exec'] });
  await manage(page, 'DELETE', `/manage/api-keys/${(apiKey as { id: string }).id}`);
  const files: readonly (readonly [string, string])[] = [
    ['/reports/2026/q1.csv', 'region,amount\nnorth,120\nsouth,80\n'],
    ['/reports/2026/q2.csv', 'region,amount\nnorth,140\nsouth,95\n'],
    ['/reports/readme.txt', 'Reports of the year.\n'],
    ['/orders.json', '{"orders":[{"id":1,"total":12.5},{"id":2,"total":8}]}'],
    ['/invoice 0815.txt', 'Invoice\n'.repeat(2_000)],
    [
      '/logo.svg',
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="4" fill="teal"/></svg>',
    ],
  ];
  for (const [path, content] of files) await manage(page, 'POST', '/api/write/sandbox', { path, content });
  const watched = await manage(page, 'POST', '/manage/watched-folders', {
    connectionId: 'sandbox',
    path: '/reports',
    name: 'Incoming reports',
    filePattern: '*.txt',
    excludePattern: 'draft-*',
    expectEveryMinutes: 1440,
    webhookUrl: UNREACHABLE,
  });
  const watch = `/manage/watched-folders/${String(watched['id'])}`;
  const hasBaseline = async () => (await manage(page, 'GET', watch))['baselineAt'] !== null;
  await eventually(hasBaseline, 'the baseline');
  await manage(page, 'POST', '/api/write/sandbox', { path: '/reports/late.txt', content: 'late' });
  await manage(page, 'POST', `${watch}/check`);
  await hasDeadLetters(page, 'watchedFolderId', String(watched['id']));
  await furnishLinks(page);
  const webhook = await furnishWebhook(page);
  const jobs = await furnishJobs(page);
  const schedule = await furnishSchedules(page);
  await hasDeadLetters(page, 'webhookId', webhook);
  const sent = await manage(page, 'GET', `/manage/deliveries?state=dead&webhookId=${webhook}`);
  const delivery = (sent['deliveries'] as { id: string }[])[0]?.id ?? '';
  const refused = manage(page, 'POST', '/api/delete/sandbox', { path: '/not-there.txt' });
  await refused.catch(() => undefined);
  const failed = await lastTransfer(page, 'status=failed');
  await manage(page, 'GET', '/api/read/archive?path=/orders.json');
  const proved = await lastTransfer(page, 'type=read');

  return [
    { name: 'overview', path: '/', ready: seen('Latest transfers') },
    { name: 'connections', path: '/connections', ready: seen('Partner drop box') },
    { name: 'connection', path: '/connections/archive', ready: seen('Save changes') },
    { name: 'connection-failing', path: '/connections/partner', ready: seen('The last test failed') },
    { name: 'connection-new', path: '/connections/new', ready: seen('Save the connection') },
    { name: 'watched-folders', path: '/watched', ready: seen('Deliveries fail') },
    { name: 'watched-folder', path: `/watched/${String(watched['id'])}`, ready: seen('Known files') },
    { name: 'webhooks', path: '/webhooks', ready: seen('Send again') },
    { name: 'webhook', path: `/webhooks/${webhook}`, ready: seen('Send again') },
    { name: 'deliveries', path: '/deliveries?state=dead', ready: seen('Send these again …') },
    { name: 'delivery', path: `/deliveries/${delivery}`, ready: seen('Request headers') },
    { name: 'events', path: '/events', ready: seen('Reports to the archive') },
    { name: 'links', path: '/links', ready: seen('/reports/readme.txt') },
    { name: 'keys', path: '/keys', ready: seen('nightly export') },
    { name: 'transfers', path: '/transfers', ready: seen('readme.txt') },
    { name: 'transfer-failed', path: `/transfers/${failed}`, ready: seen('What happened') },
    { name: 'transfer-receipt', path: `/transfers/${proved}`, ready: seen('Download the receipt') },
    { name: 'jobs', path: '/jobs', ready: seen('Reports to the archive') },
    { name: 'job', path: `/jobs/${jobs.done}`, ready: seen('readme.txt') },
    { name: 'job-failed', path: `/jobs/${jobs.failed}`, ready: seen('What failed, and why') },
    { name: 'job-new', path: `/jobs/new?like=${jobs.done}`, ready: seen('Start the job') },
    { name: 'schedules', path: '/schedules', ready: seen('Month of the partner') },
    { name: 'schedule', path: `/schedules/${schedule}`, ready: seen('4 files failed') },
    { name: 'schedule-new', path: `/schedules/new?like=${jobs.done}`, ready: seen('02:30') },
    { name: 'schedule-edit', path: `/schedules/${schedule}/edit`, ready: seen('02:30') },
    { name: 'files', path: '/files/sandbox?path=/', ready: seen('orders.json') },
    { name: 'usage', path: '/usage', ready: seen('Actions by day') },
    { name: 'pools', path: '/pools', ready: seen('Busy') },
    { name: 'health', path: '/health', ready: seen('Partner drop box') },
    { name: 'audit', path: '/audit', ready: seen('was created by') },
    { name: 'settings', path: '/settings', ready: seen('This session') },
  ];
}

/** The id of the newest item. */
async function lastTransfer(page: Page, filter: string): Promise<string> {
  const answer = await manage(page, 'GET', `/manage/transfers?limit=1&${filter}`);
  return (answer['transfers'] as { id: string }[])[0]?.id ?? '';
}

/** Waits for a dead letter of this watched folder or webhook. */
async function hasDeadLetters(page: Page, of: 'watchedFolderId' | 'webhookId', id: string): Promise<void> {
  const dead = async () => (await manage(page, 'GET', `/manage/deliveries?state=dead&${of}=${id}`))['deliveries'];
  await eventually(async () => ((await dead()) as unknown[]).length > 0, 'a dead letter');
}

/** A receiver of the jobs that are created later. Resolves with its id. */
async function furnishWebhook(page: Page): Promise<string> {
  const events = ['job.finished', 'transfer.failed', 'connection.down'];
  const made = await manage(page, 'POST', '/api/webhooks', { url: UNREACHABLE, events, connections: ['sandbox'] });
  return (made['webhook'] as { id: string }).id;
}

/** A link for uploads, and one for a download that has ended. */
async function furnishLinks(page: Page): Promise<void> {
  const life = { connectionId: 'sandbox', expiresAt: new Date(Date.now() + 86_400_000).toISOString() };
  const upload = { operation: 'upload', path: '/incoming', maxUses: 10, maxBytes: 50_000_000 };
  await manage(page, 'POST', '/api/links', { ...life, ...upload });
  const download = { operation: 'download', path: '/reports/readme.txt', maxUses: 1 };
  const made = await manage(page, 'POST', '/api/links', { ...life, ...download });
  await manage(page, 'DELETE', `/api/links/${(made['link'] as { id: string }).id}`);
}

/** A job that succeeds, and one whose files conflict with each other. */
async function furnishJobs(page: Page): Promise<{ readonly done: string; readonly failed: string }> {
  const source = { connectionId: 'sandbox', path: '/reports' };
  const destination = { connectionId: 'sandbox', path: '/archive' };
  const done = await runJob(page, { type: 'copy', name: 'Reports to the archive', source, destination });
  const failed = await runJob(page, { type: 'copy', source, destination, onConflict: 'fail' });
  return { done, failed };
}

/** A schedule that has run, and one that is switched off. Resolves with the id of the first. */
async function furnishSchedules(page: Page): Promise<string> {
  const job = {
    type: 'copy',
    onConflict: 'fail',
    maxSize: 1024,
    source: { connectionId: 'sandbox', path: '/reports' },
    destination: { connectionId: 'sandbox', path: '/archive' },
  };
  const times = { cron: '30 2 * * 1-5', timeZone: 'Europe/Berlin' };
  const made = await manage(page, 'POST', '/api/schedules', { name: 'Nightly reports', ...times, job });
  const { id } = made['schedule'] as { id: string };
  const rare = { name: 'Month of the partner', cron: '0 4 1 */2 5#2', isActive: false };
  await manage(page, 'POST', '/api/schedules', { ...rare, job: { ...job, type: 'sync', onConflict: 'replace' } });
  const { job: begun } = (await manage(page, 'POST', `/api/schedules/${id}/run`)) as { job: { id: string } };
  await jobEnds(page, begun.id);
  return id;
}

/** Resolves with its id, once it has ended. */
export async function runJob(page: Page, body: object): Promise<string> {
  const { job } = (await manage(page, 'POST', '/api/jobs', body)) as { job: { id: string } };
  await jobEnds(page, job.id);
  return job.id;
}

async function jobEnds(page: Page, id: string): Promise<void> {
  const hasEnded = async () => (await manage(page, 'GET', `/manage/jobs/${id}`))['finishedAt'] !== null;
  await eventually(hasEnded, 'the job ends');
}
