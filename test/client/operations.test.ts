/**
 * The typed client has a method for each operation of the API document, which sends each parameter of its query: a new
 * operation or parameter fails here until the client has it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FILE_API } from '../../src/api/openapi/apis.js';
import { buildDocument, parametersOf } from '../../src/api/openapi/document.js';
import type { Parameter } from '../../src/api/openapi/types.js';
import { FileTransferGateway } from '../../src/client/index.js';
import type { components } from '../../src/client/api-types.js';
import { uploadRequestFields } from '../../src/contract/file-request.js';
import { describedRoutes } from '../../src/docs/route-table.js';
import { type Reply, startFaultServer } from './fault-server.js';

const DOCUMENT = buildDocument(FILE_API, describedRoutes(), { publicUrl: '' });

/** uploadResumable() does the uploads; links are used with plain `fetch`, as is what a sandbox or a node shows. */
const isCalled = (path: string): boolean =>
  /^\/(?:api|\.well-known)\//.test(path) && !/^\/api\/(?:uploads|sandbox)\//.test(path);

/** Another one than the default, where there are two. */
function valueOf({ schema, example }: Parameter): unknown {
  if (schema['type'] === 'boolean') return schema['default'] !== true;
  const [value = schema['type'] === 'integer' ? 1 : 'x'] = (schema['enum'] ?? [example]) as readonly unknown[];
  return value;
}

interface Method {
  readonly run: (ftg: FileTransferGateway, query: object) => Promise<unknown>;
  /** Parameters that the method sets by itself. */
  readonly own: readonly string[];
}

type Schemas = components['schemas'];

/** A call with each parameter of a query. */
function method<Q extends keyof Schemas>(
  run: (ftg: FileTransferGateway, query: Required<Schemas[Q]>) => Promise<unknown> | AsyncGenerator<unknown>,
  ...own: readonly string[]
): Method {
  const all = async (ftg: FileTransferGateway, query: object): Promise<void> => {
    // The query is made from the document, and so is the type.
    const result = run(ftg, query as Required<Schemas[Q]>);
    if (result instanceof Promise) await result;
    else for await (const _ of result) continue;
  };
  return { run: all, own };
}

const source = { url: 'https://example.com/x' };
const ends = { source_connection_id: 'c', source_path: '/x', dest_connection_id: 'd' };
const place = { connectionId: 'c', path: '/x' };
const job = { type: 'delete', source: place } as const;
const times = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' };
const hook = { url: 'https://example.com/x', events: ['job.finished'] } as const;

const METHODS: Readonly<Record<string, readonly Method[]>> = {
  uploadFile: [
    method<'UploadFileQuery'>((ftg, query) => ftg.upload('c', 'x', query)),
    method<'UploadFileQuery'>(
      (ftg, { verify }) => ftg.uploadFromUrl('c', source, { verify }),
      ...Object.keys(uploadRequestFields),
    ),
    method<'UploadFileQuery'>(
      (ftg, { verify }) => ftg.beginUploadFromUrl('c', source, { verify }),
      ...Object.keys(uploadRequestFields),
    ),
  ],
  downloadFile: [
    method<'FindFileQuery'>((ftg, { path, ...query }) => ftg.download('c', path, query), 'format'),
    method<'DownloadFileQuery'>((ftg, { path }) => ftg.downloadArchive('c', path), 'rawName', 'format'),
    method<'FindFileQuery'>((ftg, { path, ...query }) => ftg.downloadJson('c', path, query), 'format'),
  ],
  copyFile: [method((ftg) => ftg.copy(ends)), method((ftg) => ftg.beginCopy(ends))],
  readFile: [method<'ReadFileQuery'>((ftg, { path, ...query }) => ftg.read('c', path, query))],
  writeFile: [method((ftg) => ftg.write('c', '/x', 'x'))],
  deleteFile: [method((ftg) => ftg.delete('c', '/x'))],
  moveFile: [method((ftg) => ftg.move('c', '/x', '/y'))],
  makeFolder: [method((ftg) => ftg.mkdir('c', '/x'))],
  listFolder: [
    method<'ListFolderQuery'>((ftg, { path, ...query }) => ftg.list('c', path, query)),
    method<'ListFolderQuery'>((ftg, { path, ...query }) => ftg.listPages('c', path, query)),
    method<'ListFolderQuery'>(
      (ftg, { path, limit: _limit, cursor: _cursor, ...query }) => ftg.listStream('c', path, query),
      ...['limit', 'cursor'],
    ),
  ],
  findFile: [method<'FindFileQuery'>((ftg, { path, ...query }) => ftg.exists('c', path, query))],
  runCommand: [method((ftg) => ftg.exec('c', 'true'))],
  appendToFile: [method((ftg) => ftg.append('c', '/x', 'x'))],
  verifyKey: [method((ftg) => ftg.me())],
  getReceipt: [method((ftg) => ftg.receipt('i'))],
  listReceipts: [method<'ListReceiptsQuery'>((ftg, query) => ftg.receipts(query))],
  showReceiptKeys: [method((ftg) => ftg.receiptKeys())],
  listConnections: [method((ftg) => ftg.connections())],
  listTransfers: [
    method<'ListTransfersQuery'>((ftg, query) => ftg.transfers(query)),
    method<'ListTransfersQuery'>((ftg, query) => ftg.allTransfers(query)),
  ],
  getTransfer: [method((ftg) => ftg.transfer('i'))],
  repeatTransfer: [method((ftg) => ftg.repeatTransfer('i'))],
  listWatchedFolders: [method((ftg) => ftg.watchedFolders())],
  createWatchedFolder: [method((ftg) => ftg.createWatchedFolder(place))],
  getWatchedFolder: [method((ftg) => ftg.watchedFolder('i'))],
  changeWatchedFolder: [method((ftg) => ftg.changeWatchedFolder('i', {}))],
  deleteWatchedFolder: [method((ftg) => ftg.deleteWatchedFolder('i'))],
  createJob: [method((ftg) => ftg.jobs.create(job))],
  listJobs: [method<'ListJobsQuery'>((ftg, query) => ftg.jobs.list(query))],
  getJob: [method((ftg) => ftg.jobs.get('i'))],
  listJobFiles: [method<'ListJobFilesQuery'>((ftg, query) => ftg.jobs.files('i', query))],
  pauseJob: [method((ftg) => ftg.jobs.pause('i'))],
  resumeJob: [method((ftg) => ftg.jobs.resume('i'))],
  cancelJob: [method((ftg) => ftg.jobs.cancel('i'))],
  retryJob: [method((ftg) => ftg.jobs.retry('i'))],
  watchJob: [method((ftg) => ftg.jobs.events('i'))],
  listSchedules: [method((ftg) => ftg.schedules.list())],
  createSchedule: [method((ftg) => ftg.schedules.create({ name: 'x', ...times, job }))],
  getSchedule: [method((ftg) => ftg.schedules.get('i'))],
  changeSchedule: [method((ftg) => ftg.schedules.change('i', {}))],
  deleteSchedule: [method((ftg) => ftg.schedules.delete('i'))],
  previewSchedule: [method((ftg) => ftg.schedules.preview(times))],
  runSchedule: [method((ftg) => ftg.schedules.run('i'))],
  listEvents: [
    method<'ListEventsQuery'>((ftg, query) => ftg.eventsPage(query)),
    method<'ListEventsQuery'>((ftg, { after, limit }) => ftg.events({ after, limit, follow: false }), 'wait'),
  ],
  listWebhooks: [method((ftg) => ftg.webhooks.list())],
  createWebhook: [method((ftg) => ftg.webhooks.create(hook))],
  getWebhook: [method((ftg) => ftg.webhooks.get('i'))],
  changeWebhook: [method((ftg) => ftg.webhooks.change('i', {}))],
  deleteWebhook: [method((ftg) => ftg.webhooks.delete('i'))],
  rotateSecretOfWebhook: [method((ftg) => ftg.webhooks.rotateSecret('i'))],
  testWebhook: [method((ftg) => ftg.webhooks.test('i'))],
  createLink: [
    method((ftg) => ftg.links.create({ ...place, operation: 'download', expiresAt: '2030-01-01T00:00:00Z' })),
  ],
  listLinks: [method<'ListLinksQuery'>((ftg, query) => ftg.links.list(query))],
  getLink: [method((ftg) => ftg.links.get('i'))],
  revokeLink: [method((ftg) => ftg.links.revoke('i'))],
};

/** The fields of all answers together. */
const ANSWER = {
  job: { id: 'i', state: 'succeeded' },
  jobs: [],
  files: [],
  nextCursor: null,
  transfer: {},
  transfers: [],
  total: 0,
  limit: 1,
  events: [],
  nextAfter: 0,
  last: 0,
  schedules: [],
  links: [],
  webhooks: [],
  nextRuns: [],
  connections: [],
  watchedFolders: [],
  sequence: 1,
};

/** As JSON, and as a line of it. */
const answer: Reply = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify(ANSWER)}\n`);
};

test('each operation has a method, which sends each parameter of its query', async (t) => {
  const server = await startFaultServer(t, [answer]);
  const ftg = new FileTransferGateway({ baseUrl: server.url, apiKey: 'ftg_x', retry: { attempts: 1 } });
  const checked = new Set<string>();
  for (const [path, item] of Object.entries(DOCUMENT.paths)) {
    if (!isCalled(path)) continue;
    for (const [verb, operation] of Object.entries(item)) {
      const { operationId } = operation;
      if (operationId.endsWith('Head')) continue;
      checked.add(operationId);
      const methods = METHODS[operationId];
      assert.ok(methods !== undefined, `the client has no method for ${operationId}`);
      const parameters = parametersOf(DOCUMENT, operation).filter((one) => one.in === 'query');
      const query = Object.fromEntries(parameters.map((one) => [one.name, valueOf(one)]));
      const address = new RegExp(`^${path.replaceAll(/\{[^}]*\}/g, '[^/]+').replaceAll('.', '\\.')}$`);
      const sent = new Set<string>();
      for (const { run, own } of methods) {
        const before = server.asked.length;
        await run(ftg, query);
        const asked = server.asked
          .slice(before)
          .map(({ method: asking, url }) => ({ asking, url: new URL(url, server.url) }));
        const found = asked.find(({ asking, url }) => asking === verb.toUpperCase() && address.test(url.pathname));
        assert.ok(found !== undefined, `${operationId} asked for ${asked.map(({ url }) => url.href).join(' ')}`);
        for (const name of found.url.searchParams.keys()) sent.add(name);
        for (const [name, value] of Object.entries(query)) {
          if (own.includes(name)) continue;
          assert.equal(found.url.searchParams.get(name), String(value), `${operationId}: ${name}`);
        }
      }
      assert.deepEqual(sent, new Set(Object.keys(query)), operationId);
    }
  }
  assert.deepEqual(new Set(Object.keys(METHODS)), checked);
});
