/** The schema of one entry under `accounts`: the account, its API keys, its connections. */
import { ALL_SCOPES, SCOPES } from '../base/caller.js';
import { NAME, REGION } from './formats.js';
import { poolKeys } from './pool-schema.js';
import {
  fixed,
  flag,
  integer,
  list,
  mapping,
  oneOf,
  oneOfMappings,
  optional,
  preset,
  required,
  section,
  text,
  textOrNull,
  textOrTexts,
} from './schema-parts.js';

// Control characters in these would end up in commands, headers and terminals.
const LINE = '^[^\\u0000-\\u001f\\u007f]+$';
const LINE_OR_EMPTY = '^[^\\u0000-\\u001f\\u007f]*$';
const ABSOLUTE = '^/[^\\u0000-\\u001f\\u007f]*$';

const slug = text('a slug: 1 to 64 lower-case letters, digits, - and _, the first a letter or digit', {
  pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
});
const name = text('text of at least one character', { pattern: NAME });
const secret = text('text (numbers in quotes)');
const file = text('the path of a file that can be read');
const fileOrEmpty = text('the path of a PEM file that can be read, or "" for none');
const absolutePath = text('an absolute path, beginning with /', { pattern: ABSOLUTE });

const common = {
  id: optional(slug),
  name: required(name),
  isActive: preset(true, flag()),
  defaultPath: optional(absolutePath),
  pool: section(poolKeys()),
};

const login = {
  host: required(text('a host name or IP address, without protocol and port', { format: 'host' })),
  username: required(text('text of at least one character', { pattern: LINE })),
  password: optional(secret),
  rootPath: preset('/', absolutePath),
  atomicUploads: preset(true, flag()),
};

const sftp = mapping({
  ...common,
  type: required(fixed('sftp')),
  ...login,
  port: preset(22, integer(1, 65_535)),
  privateKey: optional(secret),
  privateKeyFile: optional(file),
  passphrase: optional(secret),
  hostKey: optional(textOrTexts('a fingerprint SHA256:… of 43 base64 characters', '^SHA256:[A-Za-z0-9+/]{43}$')),
  algorithms: preset('default', oneOf('default', 'legacy')),
});

const ftp = mapping({
  ...common,
  type: required(fixed('ftp')),
  ...login,
  port: preset(21, integer(1, 65_535)),
  tls: preset('none', oneOf('none', 'explicit', 'implicit')),
  tlsCaFile: preset('', fileOrEmpty),
  tlsVerify: preset(true, flag()),
});

const s3 = mapping({
  ...common,
  type: required(fixed('s3')),
  endpoint: optional(text('an http or https URL without login and query', { format: 'http-url-or-empty' })),
  region: preset('us-east-1', text('a region, of letters, digits, - and _', { pattern: REGION })),
  bucket: required(name),
  accessKeyId: required(name),
  secretAccessKey: required(text('text of at least one character', { pattern: LINE })),
  sessionToken: optional(secret),
  forcePathStyle: preset(true, flag()),
  uploader: preset('streamed', oneOf('streamed', 'sdk')),
  prefix: preset('', text('a key prefix', { pattern: LINE_OR_EMPTY })),
  // An object store has no folder to start from (prefix does that work), and shows every upload whole or not at all.
  rootPath: preset<string>('/', fixed('/')),
  atomicUploads: preset<boolean>(true, fixed(true)),
  tlsCaFile: preset('', fileOrEmpty),
  tlsVerify: preset(true, flag()),
});

const apiKey = mapping({
  name: required(name),
  key: required(
    text('ftg_ and more, 24 to 200 printable ASCII characters without spaces in all', {
      pattern: '^ftg_[\\x21-\\x7e]{20,196}$',
    }),
  ),
  scopes: preset(SCOPES, list(oneOf(...ALL_SCOPES), { minItems: 1, unique: true })),
  connections: preset([], list(slug, { unique: true })),
  allowedIps: preset([], list(text('an IP address or CIDR block', { format: 'ip-or-cidr' }), { unique: true })),
  expiresAt: preset(null, textOrNull('a date-time such as 2027-01-31T00:00:00Z', 'date-time')),
});

export const accountSchema = mapping({
  email: required(text('an e-mail address', { format: 'email' })),
  plan: required(text('the name of a plan under limits.plans')),
  password: optional(secret),
  allowPrivate: optional(flag()),
  apiKeys: preset([], list(apiKey)),
  connections: preset([], list(oneOfMappings('type', [sftp, ftp, s3]))),
});
