/** SFTP connections. */
import { oneOf } from '../schema.js';
import { given, secret } from '../thing.js';
import { connectionType, type FileMistake, type Values } from './definition.js';
import { everywhere, login, onServers, password, proxyPassword, reached } from './fields.js';

const settings = {
  ...everywhere,
  ...reached,
  ...login(22),
  ...onServers,
  algorithms: given(
    oneOf(['default', 'legacy'], '`legacy` also allows algorithms that old servers need: SHA-1 and CBC.'),
    {
      texts: {
        label: 'Algorithms',
        hint: 'Old servers may need SHA-1 or CBC.',
        choices: { default: 'Modern only', legacy: 'Legacy ones too, for old servers' },
      },
      default: 'default',
      isAdvanced: true,
    },
  ),
  hostKeyRotation: given(
    oneOf(
      ['ask', 'accept'],
      'Keys that the server announces and proves on a session of a trusted one: `ask` = they wait to be accepted; `accept` = they are trusted at once, and those that it has not announced for a week no longer.',
    ),
    {
      texts: {
        label: 'Announced host keys',
        hint: 'What to do when a trusted server announces new keys.',
        choices: { ask: 'Ask', accept: 'Accept them' },
      },
      default: 'ask',
      isHarmless: true,
      isAdvanced: true,
    },
  ),
};

const secrets = {
  proxyPassword,
  password,
  privateKey: secret('In PEM, OpenSSH or PuTTY form.', {
    texts: { label: 'Private key', hint: 'PEM, OpenSSH or PuTTY format.' },
    file: { key: 'privateKeyFile' },
    maxLength: 65_536,
    input: 'long',
    check: 'privateKey',
  }),
  passphrase: secret('The passphrase of the private key.', { texts: { label: 'Key passphrase' } }),
};

export const sftp = connectionType('sftp', {
  title: 'SFTP',
  example: {
    id: 'warehouse',
    name: 'Warehouse',
    host: 'sftp.example.com',
    username: 'gw',
    password: '${WAREHOUSE_PASSWORD}',
    passphrase: '${WAREHOUSE_PASSPHRASE:-}',
    hostKey: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    defaultPath: '/upload',
    pool: { maxSessions: 4 },
  },
  settings,
  secrets,
  address: ['host', 'port', 'proxy'],
  can: { exec: true, append: true, hostKeys: true, rawNames: true, isObjectStore: false },
  hasCertificate: () => false,
  mistakes: ({ password = '', privateKey = '', privateKeyFile = '', passphrase = '' }: Values): FileMistake[] => {
    const hasKey = privateKey !== '' || privateKeyFile !== '';
    return [
      ...(password === '' && !hasKey
        ? [{ key: 'password', found: 'no login', allowed: 'a password, a privateKeyFile or a privateKey' }]
        : []),
      ...(privateKey !== '' && privateKeyFile !== ''
        ? [{ key: 'privateKey', found: 'a privateKeyFile too', allowed: 'one of the two' }]
        : []),
      ...(passphrase !== '' && !hasKey
        ? [{ key: 'passphrase', found: 'no private key', allowed: 'a passphrase only beside a private key' }]
        : []),
    ];
  },
});
