/** An account as in the configuration, with a connection of each type. */
import { defaultSettings } from '../../src/contract/connection/definition.js';
import { ftp } from '../../src/contract/connection/ftp.js';
import { s3 } from '../../src/contract/connection/s3.js';
import { sftp } from '../../src/contract/connection/sftp.js';
import assert from 'node:assert/strict';
import type { AccountConfig } from '../../src/config/schema.js';
import type { ApiKeyRecord, Storage } from '../../src/storage/storage.js';

export const API_KEY = 'ftg_a-key-of-the-operator';

export const S3_PAIR = { accessKeyId: 'FTGAOPERATOR0001', secretAccessKey: 'secret-of-s3-access' };

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
      s3: S3_PAIR,
    },
  ],
  connections: [
    {
      ...defaultSettings(sftp),
      id: 'warehouse',
      name: 'Warehouse',
      type: 'sftp',
      isActive: true,
      host: 'sftp.example.com',
      username: 'gw',
      password: 'secret-of-warehouse',
      privateKey: 'secret-key-text',
      defaultPath: '/upload',
      pool: { maxSessions: 4 },
    },
    {
      ...defaultSettings(ftp),
      name: 'Legacy',
      type: 'ftp',
      isActive: true,
      host: 'ftp.example.com',
      username: 'u',
      password: 'secret-of-legacy',
      tlsCaFile: '',
    },
    {
      ...defaultSettings(s3),
      id: 'lake',
      name: 'Lake',
      type: 's3',
      isActive: false,
      endpoint: 'https://s3.example.com',
      bucket: 'b',
      accessKeyId: 'a',
      secretAccessKey: 'secret-of-lake',
      prefix: '/in/here',
      tlsCaFile: '',
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
  S3_PAIR.secretAccessKey,
];

/** The record of the account's key. */
export async function accountOf(storage: Storage, key = API_KEY): Promise<ApiKeyRecord> {
  const record = await storage.keys.findKey(key);
  assert.ok(record !== undefined, 'the key is unknown');
  return record;
}
