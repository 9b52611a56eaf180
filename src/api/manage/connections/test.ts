/** The test of a connection, step by step. */
import { Type } from 'typebox';
import {
  count,
  dateTime,
  described,
  flag,
  listOf,
  object,
  oneOf,
  orNull,
  text,
  withDefault,
} from '../../../base/schema.js';
import type { Connection } from '../../../connections/connection.js';
import { draftRow, joinConnection, type ManagedConnection } from '../../../storage/storage.js';
import { draftOf, requireSecretsAgain, schemas, secretValues } from '../connection-input.js';
import type { TestReport } from '../connection-test.js';
import { CLOSED, FINGERPRINT, TIME } from '../fields.js';
import { connectionAt, openedConnection, ownerEndpoints, unknownConnection } from '../services.js';
import { card, sampleInput } from './view.js';

const endpoint = ownerEndpoints('Connections');

const probe = withDefault(flag('Also write, rename and delete a small file in the default path.'), false);

const sampleReport = {
  isOk: false,
  testedAt: TIME,
  durationMs: 412,
  steps: [
    { name: 'resolve', status: 'ok', durationMs: 3, detail: 'sftp.example.com is 192.0.2.7' },
    { name: 'connect', status: 'ok', durationMs: 21, detail: '192.0.2.7 port 22' },
    { name: 'host_key', status: 'ok', durationMs: 40, detail: `${FINGERPRINT} (pinned)` },
    {
      name: 'login',
      status: 'failed',
      durationMs: 348,
      error: 'the server refused the login',
      code: 'login_refused',
      advice: 'Check user name and password.',
    },
    { name: 'list', status: 'skipped' },
  ],
  hostKey: { fingerprint: FINGERPRINT, state: 'pinned' },
  certificate: null,
  card: null,
} as const;

const testReport = object('TestReport', {
  isOk: flag('Whether every step went through.'),
  testedAt: dateTime('When it was tested.'),
  durationMs: count('Milliseconds from the start of the operation to its end.'),
  steps: listOf(
    object('TestStep', {
      name: oneOf(
        ['resolve', 'connect', 'host_key', 'certificate', 'login', 'list', 'write', 'rename', 'delete'],
        'The step.',
      ),
      status: oneOf(['ok', 'failed', 'skipped'], 'State.'),
      durationMs: Type.Optional(count('Milliseconds from the start of the operation to its end.')),
      detail: Type.Optional(text('What was found.')),
      error: Type.Optional(text('What went wrong, at which step, field or path, and what would be right.')),
      code: Type.Optional(text('The code of the error.')),
      advice: Type.Optional(text('What to do about it.')),
    }),
    'In their order; after a failing one the others are skipped.',
  ),
  hostKey: orNull(
    Type.Object({
      fingerprint: text('SHA-256 fingerprint, as OpenSSH shows it.'),
      state: oneOf(['pinned', 'new', 'mismatch'], 'How it compares with the pinned ones.'),
    }),
    'The host key that the server showed; null where it did not come so far.',
  ),
  certificate: orNull(
    Type.Object({
      subject: text('Whose it is.'),
      issuer: text('Who signed it.'),
      validTo: dateTime('When it expires.'),
      fingerprint: text('SHA-256 fingerprint.'),
      protocol: text('Version of TLS.'),
    }),
    'The TLS certificate of the server; null where there is none.',
  ),
  card,
});

export const testConnection = endpoint('POST /manage/connections/:id/test', {
  operationId: 'testConnection',
  summary: 'Test a connection',
  description:
    'Step by step, with a login of its own. A failing step is a result, not an error, and says what to do. With `probe` a small file is written, renamed and deleted.',
  body: object('TestRequest', { probe }, CLOSED),
  bodyExamples: { body: { probe: true } },
  answer: { schema: testReport, example: sampleReport },
  errors: ['unknown_connection'],
}).handle(async (input, services) => {
  const { id } = await connectionAt(services, input);
  const connection = await openedConnection(services, input.caller, id);
  const report = await services.tester.test(connection, { probe: input.body.probe, signal: input.request.signal });
  await services.storage.management.connections.saveTest(id, resultOf(report));
  return report;
});

export const testDraft = endpoint('POST /manage/test-connection', {
  operationId: 'testDraft',
  summary: 'Test a connection before it is saved',
  description: 'Absent secrets come from the connection `basedOn`.',
  body: object(
    'TestDraftRequest',
    {
      connection: described(schemas.draft, 'The connection as it would be saved.'),
      basedOn: Type.Optional(text('Connection that absent secrets come from.', { minLength: 1, maxLength: 64 })),
      probe,
    },
    CLOSED,
  ),
  bodyExamples: { body: { connection: sampleInput, probe: false } },
  answer: { schema: testReport, example: sampleReport },
  errors: ['unknown_connection'],
}).handle(async (input, services) => {
  const { connection, basedOn, probe } = input.body;
  const draft = draftOf(connection);
  const { accountId } = input.caller;
  let stored: ManagedConnection | undefined;
  let base: Connection | undefined;
  if (basedOn !== undefined) {
    stored = await services.storage.management.connections.find(accountId, basedOn);
    if (stored === undefined || stored.type !== draft.type) throw unknownConnection(basedOn);
    requireSecretsAgain(stored, draft);
    base = await openedConnection(services, input.caller, basedOn);
  }
  let secrets = secretValues(draft, base);
  if (draft.keyPairId !== null) {
    const privateKey = await services.storage.management.keyPairs.privateKey(accountId, draft.keyPairId);
    if (privateKey !== undefined) secrets = { ...secrets, privateKey };
  }
  const hostKeys = draft.hostKeys ?? stored?.hostKeys ?? [];
  const row = draftRow(draft, accountId, hostKeys, await services.storage.accounts.allowsPrivate(accountId));
  const report = await services.tester.test(joinConnection(row, secrets), { probe, signal: input.request.signal });
  return report;
});

function resultOf(report: TestReport) {
  const failed = report.steps.find(({ status }) => status === 'failed');
  return {
    testedAt: report.testedAt,
    isOk: report.isOk,
    failedStep: failed?.name ?? null,
    error: failed?.error ?? null,
    card: report.card,
  };
}
