/** SFTP connections. */
import { oneOf, textOrNull, texts, type TSchemaOf, wordOrMapping, wordOrObject } from '../schema.js';
import { given, secret } from '../thing.js';
import { connectionType, type FileMistake, type Values } from './definition.js';
import { everywhere, login, onServers, password, proxyPassword, reached } from './fields.js';
import { type AlgorithmKind, type AlgorithmLists, knownAlgorithms } from './ssh-algorithms.js';

const ALGORITHMS =
  '`legacy` also allows algorithms that old servers need: SHA-1 and CBC. An object has lists of its own, most wanted first; without a list, its kind has the modern ones.';

const listOf = (kind: AlgorithmKind): TSchemaOf<readonly string[]> => {
  const names = knownAlgorithms(kind);
  const bounds = { minItems: 1, maxItems: names.length, uniqueItems: true };
  return texts(`One or more of ${names.join(', ')}.`, bounds, { enum: names });
};
const LISTS = { kex: listOf('kex'), ciphers: listOf('ciphers'), macs: listOf('macs'), hostKeys: listOf('hostKeys') };

const settings = {
  ...everywhere,
  ...reached,
  ...login(22),
  ...onServers,
  algorithms: given(wordOrObject<['default', 'legacy'], AlgorithmLists>(['default', 'legacy'], LISTS, ALGORITHMS), {
    texts: {
      label: 'Algorithms',
      hint: 'Old servers may need SHA-1 or CBC.',
      choices: { default: 'Modern only', legacy: 'Legacy ones too, for old servers' },
      parts: {
        kex: { label: 'Key exchanges', hint: 'Only these, in this order. Empty: the modern ones.' },
        ciphers: { label: 'Ciphers', hint: 'Only these, in this order. Empty: the modern ones.' },
        macs: { label: 'MACs', hint: 'Only these, in this order. Empty: the modern ones.' },
        hostKeys: { label: 'Host key algorithms', hint: 'Only these, in this order. Empty: the modern ones.' },
      },
    },
    file: { schema: wordOrMapping(['default', 'legacy'], LISTS) },
    default: 'default',
    isAdvanced: true,
  }),
  certificate: given(
    textOrNull('The OpenSSH user certificate of the private key: the line in its file …-cert.pub; null = none.', {
      maxLength: 32_768,
    }),
    {
      texts: {
        label: 'Certificate of the private key',
        hint: 'The content of the file …-cert.pub that a certificate authority made. Empty: none.',
      },
      file: {
        key: 'certificateFile',
        allowed: 'the path of a file …-cert.pub that can be read, or "" for none',
        isChecked: true,
      },
      input: 'long',
      check: 'sshCertificate',
      default: null,
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  hostCa: given(
    texts(
      'Public keys of authorities, each the line in a file ….pub: a server whose host key one of them certifies for its name is trusted. With one, no first key is learned.',
      { maxItems: 16, uniqueItems: true },
      { minLength: 1, maxLength: 8_192 },
    ),
    {
      texts: {
        label: 'Authorities of host keys',
        hint: 'The line in the file ….pub of an authority that certifies host keys. Empty: host keys are pinned.',
      },
      file: { schema: texts('a list, each item the line in the file ….pub of an authority', { maxItems: 16 }) },
      check: 'sshPublicKey',
      default: [],
      isAdvanced: true,
    },
  ),
  fileMode: given(
    textOrNull(
      'Rights of the files that the gateway makes, as octal text such as `0640`; null = as the server decides. A file that is written again is made again.',
      { maxLength: 4 },
    ),
    {
      texts: {
        label: 'Rights of new files',
        hint: 'Octal, such as 0640. The owner must be allowed to read and write. Empty: the server decides.',
      },
      file: {
        allowed:
          '3 or 4 octal digits in quotes, such as "0640", with which the owner may read and write (6 or 7); or ""',
        format: 'file-mode-or-empty',
      },
      check: 'fileMode',
      default: null,
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  folderMode: given(
    textOrNull(
      'Rights of the folders that the gateway makes, as octal text such as `0750`; null = as the server decides.',
      { maxLength: 4 },
    ),
    {
      texts: {
        label: 'Rights of new folders',
        hint: 'Octal, such as 0750. The owner must be allowed to read, write and enter. Empty: the server decides.',
      },
      file: {
        allowed:
          '3 or 4 octal digits in quotes, such as "0750", with which the owner may read, write and enter (7); or ""',
        format: 'folder-mode-or-empty',
      },
      check: 'folderMode',
      default: null,
      isHarmless: true,
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
  address: ['host', 'port', 'proxy', 'via'],
  can: { exec: true, append: true, hostKeys: true, rawNames: true, isObjectStore: false },
  hasCertificate: () => false,
  mistakes: (entry: Values): FileMistake[] => {
    const { password = '', privateKey = '', privateKeyFile = '', passphrase = '' } = entry;
    const certificate = ['certificate', 'certificateFile'].find((key) => (entry[key] ?? '') !== '');
    const hasKey = privateKey !== '' || privateKeyFile !== '';
    return [
      ...(password === '' && !hasKey
        ? [{ key: 'password', found: 'no login', allowed: 'a password, a privateKeyFile or a privateKey' }]
        : []),
      ...(passphrase !== '' && !hasKey
        ? [{ key: 'passphrase', found: 'no private key', allowed: 'a passphrase only beside a private key' }]
        : []),
      ...(certificate !== undefined && !hasKey
        ? [{ key: certificate, found: 'no private key', allowed: 'a certificate only beside its private key' }]
        : []),
    ];
  },
});
