/** The test of a connection, step by step. */
import { Type } from 'typebox';
import { unknown } from '../../base/errors.js';
import { definitionOf } from '../../contract/connection/types.js';
import { described, flag, object, text, withDefault } from '../../contract/schema.js';
import type { Connection } from '../../connections/connection.js';
import { requireConnection } from '../../connections/require.js';
import { draftRow, joinConnection, type ManagedConnection } from '../../storage/storage.js';
import { draftOf, referencesLeft, requireSecretsAgain, schemas, secretValues } from './connection-input.js';
import { requireJump } from './jump.js';
import { CLOSED } from '../fields.js';
import { connectionAt, connectionOf } from '../services.js';
import { sampleReport, type TestReport, testReport } from './test-report.js';
import { sampleInput } from './view.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Connections');
export const testEndpoints = endpoint.all;

const probe = withDefault(flag('Also write, rename and delete a small file in the default path.'), false);

endpoint('POST /manage/connections/:id/test', {
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
  const connection = await connectionOf(services, input.caller, id);
  const report = await services.tester.test(connection, { probe: input.body.probe, signal: input.request.signal });
  await services.storage.management.connections.saveTest(id, resultOf(report));
  return report;
});

endpoint('POST /manage/test-connection', {
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
  const { accountId } = input.caller;
  let stored: ManagedConnection | undefined;
  if (basedOn !== undefined) {
    stored = await requireConnection(services.storage.management.connections, accountId, basedOn);
    if (stored.type !== connection.type) throw unknown('connection', basedOn);
  }
  const draft = draftOf(connection, definitionOf(connection), stored?.secrets);
  let base: Connection | undefined;
  if (stored !== undefined) {
    requireSecretsAgain(stored, draft);
    base = await connectionOf(services, input.caller, stored.id);
  }
  let secrets = secretValues(draft, base);
  if (draft.keyPairId !== null) {
    const privateKey = await services.storage.management.keyPairs.privateKey(accountId, draft.keyPairId);
    if (privateKey !== undefined) secrets = { ...secrets, privateKey };
  }
  const hostKeys = draft.hostKeys ?? stored?.hostKeys ?? [];
  const allowPrivate = await services.storage.accounts.allowsPrivate(accountId);
  const row = draftRow(draft, accountId, hostKeys, allowPrivate, referencesLeft(draft, base));
  const keepsVia = stored?.settings.via === draft.settings.via;
  const jump = keepsVia ? base?.jump : await requireJump(services, accountId, { ...draft, id: basedOn });
  const report = await services.tester.test(
    { ...joinConnection(row, secrets), jump },
    { probe, signal: input.request.signal },
  );
  return report;
});

function resultOf(report: TestReport) {
  const failed = report.steps.find(({ status }) => status === 'failed');
  return {
    testedAt: report.testedAt,
    isOk: report.isOk,
    failedStep: failed?.name ?? null,
    error: failed?.error ?? null,
    errorCode: failed?.code ?? null,
    card: report.card,
  };
}
