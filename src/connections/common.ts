/** Fields that several types of connections have, and the limits of their pools. */
import tls from 'node:tls';
import type { TInteger } from 'typebox';
import { ABSOLUTE, LINE, NAME, SLUG } from '../contract/patterns.js';
import {
  component,
  flag,
  integer,
  mapping,
  milliseconds,
  oneOf,
  optional,
  text,
  textOrTexts,
  withDefault,
} from '../contract/schema.js';
import type { PoolLimits } from '../pools/session.js';
import { optionalSetting, secret, setting, type Setting } from './definition.js';

const DAY_MS = 86_400_000;

/** Each with what gateway.yaml allows, how much the API does, and its words. */
const LIMITS: { readonly [N in keyof PoolLimits]: readonly [inFile: TInteger, inApi: TInteger, words: string] } = {
  maxSessions: [integer(1, 10_000), integer(1, 10_000), 'Open sessions to the server.'],
  maxChannelsPerSession: [integer(1, 1000), integer(1, 1000), 'SFTP channels that share one SSH connection.'],
  idleTimeoutMs: [milliseconds(1), integer(1, DAY_MS), 'Milliseconds until an idle session is closed.'],
  maxWaiting: [integer(0, 1_000_000), integer(0, 1_000_000), 'Requests that may wait for a session.'],
  acquireTimeoutMs: [milliseconds(1), integer(1, DAY_MS), 'Milliseconds that a request waits for a session.'],
  connectTimeoutMs: [milliseconds(1), integer(1, DAY_MS), 'Milliseconds that a login may take.'],
  stallTimeoutMs: [milliseconds(1), integer(1, DAY_MS), 'Milliseconds without a byte until a transfer fails.'],
};

type Keys<S> = { [N in keyof PoolLimits]: S };

function keys<S>(of: (inFile: TInteger, name: keyof PoolLimits) => S): Keys<S> {
  const names = Object.keys(LIMITS) as (keyof PoolLimits)[];
  return Object.fromEntries(names.map((name) => [name, of(LIMITS[name][0], name)])) as Keys<S>;
}

/** All limits, with these defaults. */
export const poolKeys = (defaults: PoolLimits) => keys((schema, name) => withDefault(schema, defaults[name]));

/** Some limits, in gateway.yaml. */
export const somePoolLimits = mapping(keys((schema) => optional(schema)));

/** Some limits, in the API. */
const poolLimits = component('PoolLimits', {
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(LIMITS).map(([name, [, schema, description]]) => [name, { ...schema, description }]),
  ),
  additionalProperties: false,
});

export const slug = text('a slug: 1 to 64 lower-case letters, digits, - and _, the first a letter or digit', {
  pattern: SLUG,
});

/** Columns of every connection, beside its settings. */
export const columns = {
  name: setting(text('text of at least one character', { pattern: NAME, minLength: 1, maxLength: 255 }), {
    title: 'Name',
    words: 'Shown to people.',
  }),
  isActive: setting(flag(), {
    default: true,
    isHarmless: true,
    title: 'Switched on',
    words: 'Whether it is switched on; if not, every operation on it is refused.',
  }),
};

const FINGERPRINT = '^SHA256:[A-Za-z0-9+/]{43}$';
export const fingerprint = { type: 'string', pattern: FINGERPRINT };
export const hostKeyInFile = textOrTexts('a fingerprint SHA256:… of 43 base64 characters', FINGERPRINT);

const absolutePath = text('an absolute path, beginning with /', { pattern: ABSOLUTE, maxLength: 4096 });

export const line = () => text('text of at least one character', { pattern: LINE, minLength: 1, maxLength: 255 });

/** When SHA-256 is taken of the files that pass. */
export const DIGESTS = ['asked', 'always'] as const;
export type Digests = (typeof DIGESTS)[number];

export const everywhere = {
  defaultPath: optionalSetting(absolutePath, {
    title: 'Default folder',
    words: 'Taken where a request names no path; null = the login folder.',
    isHarmless: true,
  }),
  pool: setting(somePoolLimits, {
    default: {},
    title: 'Limits',
    words:
      'Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts.',
    apiSchema: poolLimits,
    isHarmless: true,
    isAdvanced: true,
  }),
  digests: setting(oneOf(DIGESTS), {
    default: 'asked',
    title: 'Digests and receipts',
    words: '`always` = of every file that passes; `asked` = where a request asks, or the account says `always`.',
    labels: { asked: 'Where a request asks', always: 'Of every file' },
    isHarmless: true,
    isAdvanced: true,
  }),
  verify: setting(oneOf(['size', 'readback']), {
    default: 'size',
    title: 'Check of what was stored',
    words: '`readback` = what was stored is read again and compared before it takes its place; `size` = its length is.',
    labels: { size: 'Its length', readback: 'All of it, read again' },
    isHarmless: true,
    isAdvanced: true,
  }),
};

export const onServers = {
  rootPath: setting(absolutePath, {
    default: '/',
    title: 'Root folder',
    words: 'Nothing outside of it is reachable.',
  }),
  atomicUploads: setting(flag(), {
    default: true,
    title: 'Upload under a hidden name, then rename',
    words: 'Uploads go to a temporary name and are renamed.',
    isHarmless: true,
    isAdvanced: true,
  }),
};

/** The server's address and the user; the port is the protocol's own when absent. */
export const login = (port: number) => ({
  host: setting(
    text('a host name or IP address, without protocol and port', {
      format: 'host',
      pattern: LINE,
      minLength: 1,
      maxLength: 253,
    }),
    {
      title: 'Host',
      words: 'Host name or address, without protocol and port.',
      formatWords: 'a host name or an IP address, without protocol and port',
    },
  ),
  port: setting(integer(1, 65_535), { default: port, title: 'Port', words: 'TCP port.' }),
  username: setting(line(), { title: 'User name', words: 'Login name.' }),
});

export const password = secret({
  title: 'Password',
  words: 'Of the login.',
  isSent: true,
});

export const certificates = {
  tlsVerify: setting(flag(), {
    default: true,
    title: "Check the server's certificate",
    words: 'Whether the certificate of the server must be trusted. If not, anybody in between can read everything.',
  }),
  tlsCa: optionalSetting(text('certificates in PEM form', { maxLength: 65_536 }), {
    fileKey: 'tlsCaFile',
    fileSchema: text('the path of a PEM file that can be read, or "" for none'),
    isLong: true,
    title: 'Certificates of an own authority (PEM)',
    words: 'Certificates in PEM form that are trusted beside the usual ones.',
    isAdvanced: true,
    refusal: (value) => (isCertificate(String(value)) ? undefined : 'must hold certificates in PEM form, or be null'),
  }),
} satisfies Record<string, Setting>;

function isCertificate(ca: string): boolean {
  try {
    tls.createSecureContext({ ca });
    return ca.includes('-----BEGIN CERTIFICATE-----');
  } catch {
    return false;
  }
}
