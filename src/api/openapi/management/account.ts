/** The account at a glance, API keys, key pairs, the audit log. */
import * as schemas from '../../manage/answer-schemas.js';
import type { Description } from '../types.js';
import { answers, example, FINGERPRINT, ID, LATER, TIME } from './answer.js';

const success = answers(schemas.successAnswer, { success: true });

const apiKey = {
  id: ID,
  name: 'ci',
  hint: '7Qx2',
  scopes: ['read', 'write'],
  connections: ['warehouse'],
  allowedIps: ['192.0.2.0/24'],
  expiresAt: null,
  createdAt: TIME,
  lastUsedAt: LATER,
  revokedAt: null,
  state: 'active',
  source: 'dashboard',
};
const key = 'ftg_3yQ0Zr6VbX1w0yB6uQvTgqk2x5n3m8p1';

const keyPair = {
  id: ID,
  name: 'warehouse',
  type: 'ed25519',
  publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl warehouse',
  fingerprint: FINGERPRINT,
  createdAt: TIME,
  usedBy: ['warehouse'],
};

export const accountOperations: Readonly<Record<string, Description>> = {
  'GET /manage/account': {
    operationId: 'showAccount',
    tag: 'Account',
    summary: 'Show the account',
    description: 'The account, its plan and how it logs in. 0 in `limits` is unlimited.',
    success: answers(schemas.account, {
      id: ID,
      email: 'ops@example.com',
      plan: 'pro',
      createdAt: TIME,
      limits: { connections: 0, monthlyActions: 0 },
      connections: 3,
      transfers: 1729,
      hasPassword: true,
      totp: { isEnabled: true, recoveryCodesLeft: 9 },
    }),
    errors: ['unknown_item'],
  },
  'GET /manage/overview': {
    operationId: 'showOverview',
    tag: 'Account',
    summary: 'Show today',
    description: 'Sums of today (UTC), the last 24 hours, oldest first, and what needs a person.',
    success: answers(schemas.overview, {
      today: { transfers: 120, failed: 2, pending: 1, bytesIn: 1024, bytesOut: 4096 },
      hours: [{ from: TIME, transfers: 5, failed: 0, bytes: 1024 }],
      attention: [
        { kind: 'connection_failing', text: 'Connection "Warehouse" fails: login refused', connectionId: 'warehouse' },
      ],
    }),
  },
  'GET /manage/usage': {
    operationId: 'showUsage',
    tag: 'Account',
    summary: 'Show the month',
    description:
      'Actions of this month (UTC) against the plan, and where the month is heading. `limit` 0 is unlimited.',
    success: answers(schemas.usage, {
      plan: 'free',
      month: '2026-01',
      used: 640,
      limit: 1000,
      forecast: 1210,
      runsOutAt: LATER,
      days: [{ day: '2026-01-31', actions: 20, failed: 1 }],
      connections: { used: 1, limit: 1 },
    }),
  },
  'GET /manage/pools': {
    operationId: 'showPools',
    tag: 'Account',
    summary: 'Show the sessions that are open, and the use of what accounts share',
    description:
      "Sessions of this thread to the account's own servers, and what the account holds now of each budget of this " +
      'thread. Accounts get fair shares: what is refused to one is 429 `share_exceeded`, or 503 `overloaded` where the whole is in use.',
    success: answers(schemas.poolsAnswer, {
      pools: [
        {
          host: 'sftp.example.com:22',
          connectionIds: ['warehouse'],
          open: 2,
          leased: 1,
          waiting: 0,
          maxSessions: 8,
        },
      ],
      shares: [{ name: 'requests', used: 3, capacity: 2048, refused: 0 }],
    }),
  },
  'GET /manage/audit': {
    operationId: 'listAudit',
    tag: 'Account',
    summary: 'List what was changed',
    description: 'Every change and every login, refused ones too, newest first; no secrets.',
    success: answers(schemas.auditAnswer, {
      entries: [
        {
          id: ID,
          at: TIME,
          actor: { kind: 'session', id: ID, name: 'ops@example.com' },
          action: 'connection.update',
          target: { kind: 'connection', id: 'warehouse', name: 'Warehouse' },
          address: '192.0.2.10',
          requestId: 'order-4711',
          details: { fields: ['port'] },
        },
      ],
      nextCursor: null,
    }),
  },
  'GET /manage/api-keys': {
    operationId: 'listApiKeys',
    tag: 'API keys',
    summary: 'List API keys',
    description: 'Newest first; revoked ones stay for 30 days. The keys themselves are never shown again.',
    success: answers(schemas.apiKeysAnswer, { apiKeys: [apiKey] }),
  },
  'POST /manage/api-keys': {
    operationId: 'createApiKey',
    tag: 'API keys',
    summary: 'Issue an API key',
    description:
      '`key` is shown this once. Without `scopes` it may read, write and watch; `exec` and `admin` must be asked for.',
    bodyExamples: example({ name: 'ci', scopes: ['read', 'write'], connections: ['warehouse'] }),
    success: answers(schemas.newKeyAnswer, { apiKey, key }, { status: 201, description: 'Issued.' }),
    errors: ['already_exists'],
  },
  'PATCH /manage/api-keys/:id': {
    operationId: 'editApiKey',
    tag: 'API keys',
    summary: 'Edit an API key',
    description: 'The fields that change; the others stay.',
    bodyExamples: example({ allowedIps: ['192.0.2.0/24'] }),
    success: answers(schemas.apiKey, apiKey),
    errors: ['already_exists', 'unknown_item', 'from_configuration', 'not_running'],
  },
  'POST /manage/api-keys/:id/rotate': {
    operationId: 'rotateApiKey',
    tag: 'API keys',
    summary: 'Replace an API key',
    description: 'A new key with the same rights; the former one works until the overlap is over.',
    bodyExamples: example({ overlapMinutes: 60 }),
    success: answers(
      schemas.rotatedKeyAnswer,
      { apiKey, key, previous: { ...apiKey, expiresAt: LATER } },
      { status: 201, description: 'Issued.' },
    ),
    errors: ['unknown_item', 'from_configuration', 'not_running'],
  },
  'DELETE /manage/api-keys/:id': {
    operationId: 'revokeApiKey',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description:
      'On every node within a second. `comesBack` is true for one that the configuration file gives back at the next start.',
    success: answers(schemas.revokedKeyAnswer, {
      apiKey: { ...apiKey, revokedAt: LATER, state: 'revoked' },
      comesBack: false,
    }),
    errors: ['unknown_item'],
  },
  'GET /manage/key-pairs': {
    operationId: 'listKeyPairs',
    tag: 'Connections',
    summary: 'List key pairs',
    description: 'Key pairs for SFTP logins that the gateway made; private keys are never shown.',
    success: answers(schemas.keyPairsAnswer, { keyPairs: [keyPair] }),
  },
  'POST /manage/key-pairs': {
    operationId: 'createKeyPair',
    tag: 'Connections',
    summary: 'Make a key pair',
    description: 'The public key goes to the server; connections name the pair by `keyPairId`.',
    bodyExamples: example({ name: 'warehouse' }),
    success: answers(schemas.keyPair, { ...keyPair, usedBy: [] }, { status: 201, description: 'Made.' }),
  },
  'DELETE /manage/key-pairs/:id': {
    operationId: 'deleteKeyPair',
    tag: 'Connections',
    summary: 'Delete a key pair',
    description: 'Only one that no connection uses.',
    success,
    errors: ['unknown_item', 'in_use'],
  },
};
