/** The events of the watcher match the document's webhooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { deletedEvents, detectedEvents, lateEvent, testEvent } from '../../../src/watch/event-bodies.js';
import { finishedEvent } from '../../../src/jobs/view.js';
import type { Job } from '../../../src/storage/storage.js';
import { failureOf } from '../../../src/storage/tables/transfer-events.js';
import { pendingRow } from '../../../src/storage/tables/history-statements.js';
import { closed } from './answer-checker.js';
import { fileApi } from './route-table.js';
import { JOB_OPTIONS } from '../../support/job-options.js';

const { document } = fileApi();
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(closed(document) as object, 'openapi');

const at = new Date('2026-01-31T12:00:00Z');
const source = {
  folder: { id: 'f', name: 'incoming', path: '/incoming', connectionId: 'c' },
  connection: { id: 'c', name: 'C', type: 'sftp' },
  at,
};
const file = { name: 'a', path: '/incoming/a', size: 1, modifiedMs: at.getTime(), event: 'new' as const };
const files = [
  { ...file, rawName: undefined },
  { ...file, rawName: 'YQ==' },
];
const job: Job = {
  id: 'j',
  accountId: 'a',
  keyId: null,
  scheduleId: null,
  type: 'delete',
  name: null,
  state: 'failed',
  phase: 1,
  definition: {
    type: 'delete',
    source: { connectionId: 'c', path: '/incoming' },
    destination: null,
    ...JOB_OPTIONS,
  },
  found: 1,
  done: 0,
  skipped: 0,
  failed: 1,
  deleted: 0,
  bytes: 0,
  bytesTotal: 0,
  waitsUntil: null,
  errorCode: 'not_found',
  errorMessage: 'gone',
  createdAt: at,
  startedAt: null,
  finishedAt: at,
  activeMs: 1,
  isListed: true,
  moving: { bytes: 0, grown: 0 },
  sample: null,
};
const transfer = {
  accountId: 'a',
  connectionId: 'c',
  keyId: undefined,
  requestId: 'r',
  type: 'upload',
  direction: 'outbound',
  filename: 'a',
  path: '/a',
  countsAction: true,
} as const;
const bodies = {
  FilesDetectedEvent: detectedEvents(source, files, { filesPerEvent: 100, bytesPerEvent: 20_000 }).map(
    ({ body }) => body,
  ),
  FilesMissingEvent: [at, undefined].map((last) => lateEvent('watched_folder.files_missing', source, 60, last)),
  FolderLateEvent: [lateEvent('watched_folder.late', source, 60, at)],
  TestEvent: [testEvent(source)],
  FilesDeletedEvent: deletedEvents(source, [{ name: 'a', path: '/in/a' }], {
    filesPerEvent: 100,
    bytesPerEvent: 20_000,
  }).map(({ body }) => body),
  TransferFailedEvent: [failureOf({ ...pendingRow('t', at, transfer), errorCode: 'unreachable' }).body],
  JobFinishedEvent: [finishedEvent(job, at).body],
};

for (const [name, texts] of Object.entries(bodies)) {
  test(name, () => {
    assert.ok(texts.length > 0);
    const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
    for (const text of texts) {
      const body = JSON.parse(text) as { readonly type: string };
      assert.ok(validate(body), ajv.errorsText(validate.errors));
      assert.ok(document.webhooks[body.type] !== undefined, body.type);
    }
  });
}
