/** Connections to object stores that speak S3. */
import { type TProperties, Type } from 'typebox';
import { AES_KEY, LINE_OR_EMPTY, NAME, NAME_OR_EMPTY, REGION, STS_URL } from '../patterns.js';
import { fixed, flag, oneOf, text, textOrNull, type TSchemaOf, withDefault } from '../schema.js';
import { given, needed, secret } from '../thing.js';
import { connectionType, type FileMistake, type Values } from './definition.js';
import { certificates, everywhere, line, onServers, proxyPassword, reached } from './fields.js';
import { orReference, referenceIn } from './reference.js';

const NAME_IN_FILE = { schema: text('text of at least one character', { pattern: NAME }) };
const STORAGE_CLASS = '[A-Za-z0-9_-]{1,64}';
/** Amazon S3, "Canned ACL". */
const ACLS = [
  'none',
  'private',
  'public-read',
  'public-read-write',
  'authenticated-read',
  'aws-exec-read',
  'bucket-owner-read',
  'bucket-owner-full-control',
] as const;

/** Whose keys sign the requests. */
const CREDENTIALS = ['static', 'environment', 'instance', 'webIdentity'] as const;
const CREDENTIALS_WORDS =
  'Whose keys sign the requests: `static` = the access key of the connection; only in the configuration file: `environment` = AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the gateway, `instance` = the role of the machine or container that it runs on (EC2, ECS, EKS), `webIdentity` = the role AWS_ROLE_ARN, by the token in AWS_WEB_IDENTITY_TOKEN_FILE.';

const always = { isFixed: true, isHarmless: true } as const;

const ENCRYPTIONS = ['none', 'aes256', 'kms', 'customer'] as const;
const ENCRYPTION =
  'How the store encrypts new objects. `type`: `aes256` = with keys of its own; `kms` = with the key `keyId` of its key management; `customer` = with `key`, which every request carries; `none` = nothing is asked.';
const ENCRYPTION_KEY =
  'The key for `customer`: 32 bytes in base64. Written, never shown. It must be given again if the endpoint, the proxy or the jump host changes.';

type StoredEncryption = Readonly<{ type: (typeof ENCRYPTIONS)[number]; keyId?: string }>;

const encryptionObject = (description: string, more: TProperties): TSchemaOf<StoredEncryption> =>
  Type.Unsafe({
    type: 'object',
    required: ['type'],
    properties: {
      type: oneOf(
        ENCRYPTIONS,
        '`aes256` = keys of the store; `kms` = the key `keyId`; `customer` = the key `key`; `none` = as the bucket says.',
      ),
      ...more,
    },
    additionalProperties: false,
    description,
  });
const keyId = line('Id or ARN of the key in the key management of the store, for `kms`.');

const encryption = given(
  encryptionObject(ENCRYPTION, {
    keyId,
    key: text(ENCRYPTION_KEY, { pattern: AES_KEY, writeOnly: true }),
  }),
  {
    texts: {
      label: 'Encryption',
      parts: {
        type: {
          label: 'Encryption',
          hint: 'How the store encrypts new objects.',
          choices: {
            none: 'As the bucket says',
            aes256: 'With keys of the store (SSE-S3)',
            kms: 'With a key of its key management (SSE-KMS)',
            customer: 'With your own key (SSE-C)',
          },
        },
        keyId: { label: 'Id of the KMS key', hint: 'Only for SSE-KMS.' },
        key: {
          label: 'Encryption key',
          hint: 'Only for SSE-C: 32 bytes in base64. Without it, no one can read the objects.',
        },
      },
    },
    file: {
      schema: encryptionObject('the keys type, keyId and key', {
        keyId,
        key: orReference(text('32 bytes in base64', { pattern: AES_KEY })),
      }),
    },
    shown: encryptionObject(ENCRYPTION, { keyId: text('Id or ARN of the key.') }),
    partsFor: { keyId: 'kms', key: 'customer' },
    keep: ({ type, keyId: id }) => ({ type, ...(id === undefined ? {} : { keyId: id }) }),
    default: { type: 'none' },
    isHarmless: true,
    isAdvanced: true,
  },
);

const ROLE =
  'A role whose keys sign the requests, in place of the access key, which only asks for them (STS AssumeRole); null = none.';

type StoredRole = Readonly<{ arn: string; externalId?: string; sessionName?: string; endpoint?: string }>;

const roleObject = (description: string): TSchemaOf<StoredRole | null> =>
  Type.Unsafe({
    type: ['object', 'null'],
    required: ['arn'],
    properties: {
      arn: text('ARN of the role.', { pattern: '^[!-~]+$', minLength: 1, maxLength: 2048 }),
      externalId: text('The external id that the trust policy of the role asks for.', {
        pattern: '^[A-Za-z0-9_+=,.@:/-]{2,1224}$',
      }),
      sessionName: text('Name of the session, as logs of the store show it; absent = file-transfer-gateway.', {
        pattern: '^[A-Za-z0-9_+=,.@-]{2,64}$',
      }),
      endpoint: text('URL of the security token service; absent = that of AWS in the region, or the store itself.', {
        pattern: STS_URL,
        maxLength: 2048,
      }),
    },
    additionalProperties: false,
    description,
  });

const role = given(roleObject(ROLE), {
  texts: {
    label: 'Role',
    parts: {
      arn: { label: 'Role (ARN)', hint: 'Its keys sign the requests. Empty: the access key does.' },
      externalId: { label: 'External id', hint: 'If the trust policy of the role asks for one.' },
      sessionName: { label: 'Name of the session', hint: 'Shown in the logs of the store.' },
      endpoint: { label: 'URL of STS', hint: 'Empty: that of AWS in the region, or the store itself.' },
    },
  },
  file: { schema: roleObject('the keys arn, externalId, sessionName and endpoint, or null') },
  default: null,
  isAdvanced: true,
});

const settings = {
  ...everywhere,
  ...reached,
  endpoint: given(textOrNull('URL of the store; null = AWS.', { maxLength: 2048 }), {
    texts: {
      label: 'Endpoint',
      hint: 'URL of the S3 service. Empty: AWS. A URL with a bucket fills both fields.',
    },
    file: { allowed: 'an http or https URL without login and query', format: 'http-url-or-empty' },
    check: 'endpoint',
    default: null,
  }),
  region: given(text('Region of the store.', { pattern: REGION }), {
    texts: { label: 'Region' },
    file: { allowed: 'a region, of letters, digits, - and _' },
    default: 'us-east-1',
  }),
  bucket: needed(line('Name of the bucket, which must exist.'), {
    texts: { label: 'Bucket', hint: 'Must exist already.' },
    file: NAME_IN_FILE,
  }),
  prefix: given(
    text('The prefix of every key; the root of the connection.', { pattern: LINE_OR_EMPTY, maxLength: 1024 }),
    {
      texts: { label: 'Prefix', hint: 'Comes before every key. It is the root of the connection.' },
      file: { allowed: 'a key prefix' },
      default: '',
      keep: folderPrefix,
    },
  ),
  accessKeyId: needed(line('Id of the access key.'), {
    texts: { label: 'Access key id' },
    file: { schema: withDefault(text('the id of an access key', { pattern: NAME_OR_EMPTY }), '') },
  }),
  credentials: given(oneOf(CREDENTIALS, CREDENTIALS_WORDS), {
    texts: {
      label: 'Credentials',
      choices: {
        static: 'The access key of the connection',
        environment: 'The access key in the environment of the gateway',
        instance: 'The role of its machine or container',
        webIdentity: 'A role by web identity',
      },
    },
    default: 'static',
    isFileOnly: true,
    isAdvanced: true,
  }),
  forcePathStyle: given(flag('The bucket is in the path, not in the host name.'), {
    texts: { label: 'Path-style addresses', hint: 'Puts the bucket in the path instead of the host name.' },
    default: true,
  }),
  uploader: given(
    oneOf(
      ['streamed', 'sdk'],
      '`sdk` = the uploader of AWS, which gathers parts in memory, for a store that does not take streamed ones.',
    ),
    {
      texts: {
        label: 'Uploader',
        hint: 'Change this if the service rejects streamed parts.',
        choices: { streamed: 'Stream the parts', sdk: 'AWS SDK (buffers each part in memory)' },
      },
      default: 'streamed',
      isAdvanced: true,
    },
  ),
  storageClass: given(
    textOrNull('Storage class of new objects, such as STANDARD_IA; null = the store chooses.', {
      pattern: `^${STORAGE_CLASS}$`,
    }),
    {
      texts: { label: 'Storage class', hint: 'Of new objects. Empty: the class that the store chooses.' },
      file: { schema: text('a storage class, of letters, digits, - and _', { pattern: `^(?:${STORAGE_CLASS})?$` }) },
      default: null,
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  acl: given(oneOf(ACLS, 'Access list of new objects, one of those that S3 defines; `none` = none is sent.'), {
    texts: {
      label: 'Access list (ACL)',
      hint: 'Of new objects. Many buckets accept none.',
      choices: {
        none: 'Send none',
        private: 'Private',
        'public-read': 'Everybody may read',
        'public-read-write': 'Everybody may read and write',
        'authenticated-read': 'Every AWS account may read',
        'aws-exec-read': 'Amazon EC2 may read',
        'bucket-owner-read': 'The owner of the bucket may read',
        'bucket-owner-full-control': 'Full control for the owner of the bucket',
      },
    },
    default: 'none',
    isHarmless: true,
    isAdvanced: true,
  }),
  role,
  encryption,
  requesterPays: given(flag('The account of the access key pays for requests and transfers.'), {
    texts: { label: 'Requester pays', hint: 'For buckets whose owner lets others pay for requests.' },
    default: false,
    isHarmless: true,
    isAdvanced: true,
  }),
  checksums: given(
    oneOf(
      ['auto', 'always', 'never'],
      'Checksums of stored bytes: `auto` = where the bucket requires them, as with Object Lock, and of short bodies; `always` = of every body; `never` = of none.',
    ),
    {
      texts: {
        label: 'Checksums',
        hint: 'A bucket with Object Lock requires them.',
        choices: { auto: 'Where the bucket requires them', always: 'With every body', never: 'Never' },
      },
      default: 'auto',
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  ...certificates,
  // An object store has no start folder (prefix has that function), and every upload appears completely or not at all.
  rootPath: given(fixed('/'), {
    ...always,
    texts: onServers.rootPath.texts,
    shown: text('Always /: `prefix` does that work.'),
    default: '/',
  }),
  atomicUploads: given(fixed(true), {
    ...always,
    texts: onServers.atomicUploads.texts,
    shown: flag('Always: an object appears whole or not at all.'),
    default: true,
  }),
};

const secrets = {
  proxyPassword,
  secretAccessKey: secret('The secret of the access key.', {
    texts: { label: 'Secret access key' },
    file: { schema: withDefault(text('text of at least one character', { pattern: LINE_OR_EMPTY }), '') },
    isNeeded: true,
  }),
  sessionToken: secret('The session token of temporary credentials.', {
    texts: { label: 'Session token', hint: 'For temporary credentials.' },
    maxLength: 8192,
  }),
  encryptionKey: secret(ENCRYPTION_KEY, {
    texts: { label: 'Encryption key' },
    isSent: true,
    partOf: { setting: 'encryption', part: 'key', address: ['endpoint', 'proxy', 'via'], isIn: isByCustomer },
  }),
};

export const s3 = connectionType('s3', {
  title: 'S3',
  example: {
    id: 'lake',
    name: 'Lake',
    endpoint: 'https://s3.example.com',
    bucket: 'lake',
    accessKeyId: '${LAKE_ACCESS_KEY_ID}',
    secretAccessKey: '${LAKE_SECRET_ACCESS_KEY}',
    sessionToken: '${LAKE_SESSION_TOKEN:-}',
    defaultPath: '/',
  },
  settings,
  secrets,
  // Keys only sign, and a signature is bound to one server.
  address: [],
  can: { exec: false, append: false, hostKeys: false, rawNames: false, isObjectStore: true },
  advice: ({ code }) => (code === 'remote_failure' || code === 'not_found' ? 'wrong_bucket' : undefined),
  hasCertificate: isEncryptedOnTheWay,
  mistakes: keyMistakes,
  conflicts: (values, kept) => [...roleConflicts(values), ...encryptionConflicts(values, kept)],
});

function isEncryptedOnTheWay({ endpoint }: Values): boolean {
  return !(typeof endpoint === 'string' ? endpoint : 'https:').toLowerCase().startsWith('http:');
}

function isByCustomer(setting: unknown): boolean {
  return (setting as StoredEncryption).type === 'customer';
}

/** The access key belongs to `static`, and to nothing else. */
function keyMistakes(entry: Values): FileMistake[] {
  const { credentials } = entry;
  const isOwn = credentials === 'static';
  const isSet = (name: string): boolean => (entry[name] ?? '') !== '';
  const because = `because credentials is ${String(credentials)}`;
  const names = isOwn ? ['accessKeyId', 'secretAccessKey'] : ['accessKeyId', 'secretAccessKey', 'sessionToken'];
  return names
    .filter((name) => isSet(name) !== isOwn)
    .map((key) => ({
      key,
      found: isOwn ? 'nothing' : 'a value',
      allowed: isOwn ? `text of at least one character, ${because}` : `absent, ${because}`,
    }));
}

function roleConflicts(values: Values): FileMistake[] {
  const { endpoint } = (values['role'] ?? {}) as Partial<StoredRole>;
  if (endpoint === undefined || URL.canParse(endpoint)) return [];
  return [{ key: 'role.endpoint', found: 'no URL', allowed: 'an http or https URL' }];
}

function encryptionConflicts(values: Values, kept: readonly string[]): FileMistake[] {
  const { type = 'none', keyId: id } = (values['encryption'] ?? {}) as Partial<StoredEncryption>;
  const { encryptionKey: key } = values;
  const hasKey = typeof key === 'string' || referenceIn(key) !== undefined;
  const refused = (part: string, found: string, allowed: string): FileMistake[] => [
    { key: `encryption.${part}`, found, allowed },
  ];
  if (type !== 'kms' && id !== undefined) return refused('keyId', `type ${type}`, 'absent, unless the type is kms');
  if (type === 'kms' && id === undefined) return refused('keyId', 'no id', 'the id of a key, because the type is kms');
  if (type !== 'customer') return hasKey ? refused('key', `type ${type}`, 'absent, unless the type is customer') : [];
  if (!hasKey && !kept.includes('encryptionKey')) {
    return refused('key', 'no key', '32 bytes in base64, because the type is customer');
  }
  if (isEncryptedOnTheWay(values)) return [];
  return refused(
    'type',
    'an endpoint with http',
    'another one than customer while the endpoint is http: the key would travel in the clear',
  );
}

/** "" or a key prefix ending in "/", without a leading one. */
function folderPrefix(prefix: string): string {
  const trimmed = prefix.replace(/^\/+/, '');
  return trimmed === '' || trimmed.endsWith('/') ? trimmed : `${trimmed}/`;
}
