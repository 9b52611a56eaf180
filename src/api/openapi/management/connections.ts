/** Connections, their host keys and their test. */
import * as schemas from '../../manage/answer-schemas.js';
import type { Description } from '../types.js';
import { answers, example, FINGERPRINT, LATER, TIME } from './answer.js';

const input = {
  id: 'warehouse',
  name: 'Warehouse',
  type: 'sftp',
  host: 'sftp.example.com',
  username: 'gw',
  password: 'secret',
  defaultPath: '/upload',
};
const card = { software: 'OpenSSH_9.2p1', home: '/home/gw', canExec: true, testedAt: TIME };
const connection = {
  id: 'warehouse',
  name: 'Warehouse',
  type: 'sftp',
  isActive: true,
  source: 'dashboard',
  host: 'sftp.example.com',
  port: 22,
  username: 'gw',
  algorithms: 'default',
  defaultPath: '/upload',
  rootPath: '/',
  atomicUploads: true,
  pool: { maxSessions: 4 },
  keyPairId: null,
  secrets: { password: true, privateKey: false, passphrase: false },
  hostKeys: [FINGERPRINT],
  hostKeysLearned: true,
  createdAt: TIME,
  updatedAt: TIME,
  lastTest: { testedAt: LATER, isOk: false, failedStep: 'login', error: 'the server refused the login' },
};
const report = {
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
};
const shown = answers(schemas.connection, connection);
const made = answers(schemas.connection, connection, { status: 201, description: 'Made.' });
const success = answers(schemas.successAnswer, { success: true });
const EDIT_ERRORS = ['unknown_connection', 'from_configuration'] as const;

export const connectionOperations: Readonly<Record<string, Description>> = {
  'GET /manage/connections': {
    operationId: 'listManagedConnections',
    tag: 'Connections',
    summary: 'List connections',
    description: 'All connections of the account; `secrets` says which are set. `limit` 0 is unlimited.',
    success: answers(schemas.managedConnectionsAnswer, { connections: [connection], limit: 0 }),
  },
  'POST /manage/connections': {
    operationId: 'createConnection',
    tag: 'Connections',
    summary: 'Register a connection',
    description: 'The fields depend on `type`. Secrets are kept encrypted and never shown again.',
    bodyExamples: example(input),
    success: made,
    errors: ['plan_required', 'already_exists', 'unknown_item'],
  },
  'GET /manage/connections/:id': {
    operationId: 'showConnection',
    tag: 'Connections',
    summary: 'Show a connection',
    description: 'With `card`: what the last good test learned of the server.',
    success: answers(schemas.connection, { ...connection, card }),
    errors: ['unknown_connection'],
  },
  'PATCH /manage/connections/:id': {
    operationId: 'editConnection',
    tag: 'Connections',
    summary: 'Edit a connection',
    description:
      'The fields that change. An absent secret stays, null takes it away; a change of `host` or `port` needs the password again.',
    bodyExamples: example({ name: 'Warehouse 2', pool: { maxSessions: 2 } }),
    success: shown,
    errors: [...EDIT_ERRORS, 'unknown_item'],
  },
  'DELETE /manage/connections/:id': {
    operationId: 'deleteConnection',
    tag: 'Connections',
    summary: 'Delete a connection',
    description:
      'Without `confirm` it is 409 when others depend on it. API keys that are for this connection alone are revoked; its watched folders end.',
    success,
    errors: [...EDIT_ERRORS, 'in_use'],
  },
  'POST /manage/connections/:id/activate': {
    operationId: 'activateConnection',
    tag: 'Connections',
    summary: 'Switch a connection on',
    description: 'Its operations are let through again.',
    success: shown,
    errors: EDIT_ERRORS,
  },
  'POST /manage/connections/:id/deactivate': {
    operationId: 'deactivateConnection',
    tag: 'Connections',
    summary: 'Switch a connection off',
    description: 'Its operations are refused with 403 `connection_inactive`.',
    success: answers(schemas.connection, { ...connection, isActive: false }),
    errors: EDIT_ERRORS,
  },
  'POST /manage/connections/:id/duplicate': {
    operationId: 'duplicateConnection',
    tag: 'Connections',
    summary: 'Duplicate a connection',
    description:
      'With its secrets. Also one of the configuration file, to have one that can be edited: that copy has no secrets but those given here.',
    bodyExamples: example({ name: 'Warehouse (copy)', id: 'warehouse-2' }),
    success: made,
    errors: ['unknown_connection', 'plan_required', 'already_exists'],
  },
  'GET /manage/connections/:id/dependents': {
    operationId: 'showDependents',
    tag: 'Connections',
    summary: 'What depends on a connection?',
    description: 'What its deletion would take along.',
    success: answers(schemas.dependents, {
      apiKeys: [{ id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001', name: 'ci', willBeRevoked: true }],
      watchedFolders: [],
      runningTransfers: 0,
    }),
    errors: ['unknown_connection'],
  },
  'POST /manage/connections/:id/test': {
    operationId: 'testConnection',
    tag: 'Connections',
    summary: 'Test a connection',
    description:
      'Step by step, with a login of its own. A failing step is a result, not an error, and says what to do. With `probe` a small file is written, renamed and deleted.',
    bodyExamples: example({ probe: true }),
    success: answers(schemas.testReport, report),
    errors: ['unknown_connection'],
  },
  'POST /manage/test-connection': {
    operationId: 'testDraft',
    tag: 'Connections',
    summary: 'Test a connection before it is saved',
    description: 'Absent secrets come from the connection `basedOn`.',
    bodyExamples: example({ connection: input, probe: false }),
    success: answers(schemas.testReport, report),
    errors: ['unknown_connection'],
  },
  'GET /manage/connections/:id/host-keys': {
    operationId: 'showHostKeys',
    tag: 'Connections',
    summary: 'Show the pinned host keys',
    description: '`learned` says that the first key seen was trusted. SFTP connections only.',
    success: answers(schemas.hostKeysAnswer, { hostKeys: [FINGERPRINT], learned: true }),
    errors: ['unknown_connection', 'unsupported_operation'],
  },
  'POST /manage/connections/:id/host-keys': {
    operationId: 'pinHostKey',
    tag: 'Connections',
    summary: 'Pin a host key',
    description: 'Beside the others, or with `replace` in their place.',
    bodyExamples: example({ fingerprint: FINGERPRINT, replace: true }),
    success: shown,
    errors: [...EDIT_ERRORS, 'unsupported_operation'],
  },
  'DELETE /manage/connections/:id/host-keys': {
    operationId: 'forgetHostKeys',
    tag: 'Connections',
    summary: 'Forget the host keys',
    description: 'The next one that the server shows is trusted and pinned.',
    success: answers(schemas.connection, { ...connection, hostKeys: [], hostKeysLearned: false }),
    errors: [...EDIT_ERRORS, 'unsupported_operation'],
  },
  'POST /manage/connections/:id/host-keys/scan': {
    operationId: 'scanHostKeys',
    tag: 'Connections',
    summary: 'Which host keys does the server show?',
    description: 'Asked of the server now, without a login.',
    success: answers(schemas.scannedKeysAnswer, { shown: [{ fingerprint: FINGERPRINT, isPinned: true }] }),
    isRemote: true,
    errors: ['unsupported_operation'],
  },
};
