/** An account as the configuration gives it, with a connection of each type. */
import assert from 'node:assert/strict';
import type { AccountConfig } from '../../src/config/schema.js';
import type { ApiKeyRecord, Storage } from '../../src/storage/storage.js';

export const API_KEY = 'ftg_a-key-of-the-operator';

export const ACCOUNT: AccountConfig = {
  email: 'ops@example.com',
  plan: 'pro',
  apiKeys: [
    {
      name: 'ci',
      key: API_KEY,
      scopes: ['read', 'write'],
      connections: [],
      allowedIps: ['10.0.0.0/8'],
      expiresAt: null,
    },
  ],
  connections: [
    {
      id: 'warehouse',
      name: 'Warehouse',
      type: 'sftp',
      isActive: true,
      host: 'sftp.example.com',
      port: 22,
      username: 'gw',
      password: 'secret-of-warehouse',
      privateKey: 'secret-key-text',
      algorithms: 'default',
      hostKeyRotation: 'ask',
      defaultPath: '/upload',
      rootPath: '/',
      atomicUploads: true,
      pool: { maxSessions: 4 },
      digests: 'asked',
      verify: 'size',
    },
    {
      name: 'Legacy',
      type: 'ftp',
      isActive: true,
      host: 'ftp.example.com',
      port: 21,
      username: 'u',
      password: 'secret-of-legacy',
      tls: 'none',
      tlsCaFile: '',
      tlsVerify: true,
      rootPath: '/',
      atomicUploads: true,
      pool: {},
      digests: 'asked',
      verify: 'size',
    },
    {
      id: 'lake',
      name: 'Lake',
      type: 's3',
      isActive: false,
      endpoint: 'https://s3.example.com',
      region: 'us-east-1',
      bucket: 'b',
      accessKeyId: 'a',
      secretAccessKey: 'secret-of-lake',
      forcePathStyle: true,
      uploader: 'streamed',
      prefix: '/in/here',
      tlsCaFile: '',
      tlsVerify: true,
      rootPath: '/',
      atomicUploads: true,
      pool: {},
      digests: 'asked',
      verify: 'size',
    },
  ],
};

export const SECRETS = [
  API_KEY,
  'dashboard-password',
  'secret-of-warehouse',
  'secret-key-text',
  'secret-of-legacy',
  'secret-of-lake',
];

/** The record of the account's key. */
export async function accountOf(storage: Storage, key = API_KEY): Promise<ApiKeyRecord> {
  const record = await storage.keys.findKey(key);
  assert.ok(record !== undefined, 'the key is unknown');
  return record;
}
