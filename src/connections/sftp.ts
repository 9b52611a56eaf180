/** SFTP connections. */
import { oneOf } from '../contract/schema.js';
import { everywhere, login, onServers, password } from './common.js';
import { connectionType, type FileMistake, secret, setting, type Values } from './definition.js';
import { excessOf } from './private-key-bounds.js';

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
  settings: {
    ...everywhere,
    ...login(22),
    ...onServers,
    algorithms: setting(oneOf(['default', 'legacy']), {
      default: 'default',
      title: 'Algorithms',
      words: '`legacy` also allows algorithms that old servers need: SHA-1 and CBC.',
      labels: { default: 'Current ones', legacy: 'Old ones too, for servers that have no others' },
      isAdvanced: true,
    }),
    hostKeyRotation: setting(oneOf(['ask', 'accept']), {
      default: 'ask',
      title: 'Announced host keys',
      words:
        'Keys that the server announces and proves on a session of a trusted one: `ask` = they wait to be accepted; `accept` = they are trusted at once, and those that it has not announced for a week no longer.',
      labels: { ask: 'Ask', accept: 'Accept them' },
      isHarmless: true,
      isAdvanced: true,
    }),
  },
  secrets: {
    password,
    privateKey: secret({
      fileKey: 'privateKeyFile',
      title: 'Private key',
      words: 'In PEM, OpenSSH or PuTTY form.',
      maxLength: 65_536,
      isLong: true,
      excess: excessOf,
    }),
    passphrase: secret({ title: 'Passphrase of the key', words: 'Of the private key.' }),
  },
  address: ['host', 'port'],
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
