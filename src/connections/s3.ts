/** Connections to object stores that speak S3. */
import { LINE, LINE_OR_EMPTY, NAME, REGION } from '../contract/patterns.js';
import { fixed, flag, oneOf, text } from '../contract/schema.js';
import { certificates, everywhere, line } from './common.js';
import { connectionType, fixedSetting, optionalSetting, requiredSecret, secret, setting } from './definition.js';

const nameInFile = text('text of at least one character', { pattern: NAME });

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
  settings: {
    ...everywhere,
    endpoint: optionalSetting(
      text('an http or https URL without login and query', { format: 'http-url-or-empty', maxLength: 2048 }),
      {
        title: 'Endpoint',
        words: 'URL of the store; null = AWS.',
        formatWords: 'an http or https URL without login and query, or null for AWS',
      },
    ),
    region: setting(text('a region, of letters, digits, - and _', { pattern: REGION }), {
      default: 'us-east-1',
      title: 'Region',
      words: 'Region of the store.',
    }),
    bucket: setting(line(), {
      fileSchema: nameInFile,
      title: 'Bucket',
      words: 'Name of the bucket, which must exist.',
    }),
    prefix: setting(text('a key prefix', { pattern: LINE_OR_EMPTY, maxLength: 1024 }), {
      default: '',
      title: 'Prefix',
      words: 'Of every key; the root of the connection.',
      normalise: folderPrefix,
    }),
    accessKeyId: setting(line(), {
      fileSchema: nameInFile,
      title: 'Access key id',
      words: 'Id of the access key.',
    }),
    forcePathStyle: setting(flag(), {
      default: true,
      title: 'Bucket in the path',
      words: 'The bucket is in the path, not in the host name.',
    }),
    uploader: setting(oneOf(['streamed', 'sdk']), {
      default: 'streamed',
      title: 'Uploader',
      words:
        '`sdk` = the uploader of AWS, which gathers parts in memory, for a store that does not take streamed ones.',
      labels: { streamed: 'Parts as they come', sdk: "AWS's own, which gathers each part in memory" },
      isAdvanced: true,
    }),
    ...certificates,
    // An object store has no folder to start from (prefix does that work), and shows every upload whole or not at all.
    rootPath: fixedSetting<string>('/', fixed('/'), {
      title: 'Root folder',
      words: 'Always /: `prefix` does that work.',
    }),
    atomicUploads: fixedSetting<boolean>(true, fixed(true), {
      title: 'Upload under a hidden name, then rename',
      words: 'Always: an object appears whole or not at all.',
    }),
  },
  secrets: {
    secretAccessKey: requiredSecret({
      title: 'Secret access key',
      words: 'Of the access key.',
      fileSchema: text('text of at least one character', { pattern: LINE }),
    }),
    sessionToken: secret({
      title: 'Session token',
      words: 'Of temporary credentials.',
      maxLength: 8192,
    }),
  },
  // Keys only sign, and what they sign is bound to one server.
  address: [],
  can: { exec: false, append: false, hostKeys: false, rawNames: false, isObjectStore: true },
  advice: ({ code }) =>
    code === 'remote_failure' || code === 'not_found'
      ? 'Check the name of the bucket, the region and the prefix.'
      : undefined,
  hasCertificate: ({ endpoint }) => !(typeof endpoint === 'string' ? endpoint : 'https:').startsWith('http:'),
});

/** "" or a key prefix ending in "/", without a leading one. */
function folderPrefix(prefix: string): string {
  const trimmed = prefix.replace(/^\/+/, '');
  return trimmed === '' || trimmed.endsWith('/') ? trimmed : `${trimmed}/`;
}
