/** Fields that several types of connections have, and the limits of their pools. */
import { type TInteger, Type } from 'typebox';
import { ABSOLUTE, FINGERPRINT, LINE, NAME, PROXY_URL, SLUG, SLUG_OR_EMPTY } from '../patterns.js';
import {
  component,
  dateTime,
  described,
  flag,
  integer,
  mapping,
  milliseconds,
  oneOf,
  optional,
  orNull,
  text,
  textOrNull,
  textOrTexts,
  texts,
  type TSchemaOf,
  withDefault,
} from '../schema.js';
import { derived, given, hidden, kept, needed, secret } from '../thing.js';
import { DAY_MS } from '../units.js';
import { orReference } from './reference.js';

/** Each limit with its schema in gateway.yaml and its schema in requests. */
const LIMITS = {
  /** A hard limit per host, port and login. */
  maxSessions: [integer(1, 10_000), integer(1, 10_000, 'Open sessions to the server.')],
  maxChannelsPerSession: [integer(1, 1000), integer(1, 1000, 'SFTP channels that share one SSH connection.')],
  idleTimeoutMs: [milliseconds(1), integer(1, DAY_MS, 'Milliseconds until an idle session is closed.')],
  maxWaiting: [integer(0, 1_000_000), integer(0, 1_000_000, 'Requests that may wait for a session.')],
  acquireTimeoutMs: [milliseconds(1), integer(1, DAY_MS, 'Milliseconds that a request waits for a session.')],
  connectTimeoutMs: [milliseconds(1), integer(1, DAY_MS, 'Milliseconds that a login may take.')],
  stallTimeoutMs: [milliseconds(1), integer(1, DAY_MS, 'Milliseconds without a byte until a transfer fails.')],
} satisfies Readonly<Record<string, readonly [inFile: TInteger, inRequests: TInteger]>>;

export type PoolLimits = { readonly [N in keyof typeof LIMITS]: number };
type Keys<S> = { [N in keyof PoolLimits]: S };

function keys<S>(of: (inFile: TInteger, inRequests: TInteger, name: keyof PoolLimits) => S): Keys<S> {
  const all = Object.entries(LIMITS) as [keyof PoolLimits, readonly [TInteger, TInteger]][];
  return Object.fromEntries(all.map(([name, [inFile, inRequests]]) => [name, of(inFile, inRequests, name)])) as Keys<S>;
}

/** All limits, with these defaults. */
export const poolKeys = (defaults: PoolLimits) => keys((schema, _, name) => withDefault(schema, defaults[name]));

/** Some limits, in gateway.yaml. */
export const somePoolLimits = mapping(keys((schema) => optional(schema)));

const limits = () =>
  Type.Object(
    keys((_, schema) => optional(schema)),
    { additionalProperties: false },
  );
const POOL =
  'Limits of its own, over those of the configuration, but not above pools.hosts; of connections with one login the smallest counts.';

export const slug = text('a slug: 1 to 64 lower-case letters, digits, - and _, the first a letter or digit', {
  pattern: SLUG,
});

export const fingerprint = { pattern: FINGERPRINT };
export const hostKeyInFile = textOrTexts('a fingerprint SHA256:… of 43 base64 characters', FINGERPRINT);

/** The maximum number of host keys that one connection trusts. */
export const MAX_HOST_KEYS = 16;
export const HOST_KEY_STATES = ['trusted', 'pending', 'rejected'] as const;
export const HOST_KEYS = 'Pinned fingerprints; with none, the first one shown is trusted and pinned.';

const ONE_CHARACTER = { allowed: 'text of at least one character' };

/** The columns that every type has; all others are in the column `settings`. */
export const connectionFields = {
  id: kept(text('Identifier.'), {
    texts: { label: 'Id', hint: 'Used in API requests. Made from the name. It cannot be changed later.' },
  }),
  accountId: hidden<string>(),
  name: needed(text('Shown to people.', { pattern: NAME, minLength: 1, maxLength: 255 }), {
    texts: { label: 'Name', hint: 'Shown in the dashboard.' },
    file: ONE_CHARACTER,
  }),
  isActive: given(flag('Whether it is switched on; if not, every operation on it is refused.'), {
    texts: { label: 'Switched on' },
    words: 'Whether it is switched on.',
    default: true,
    isHarmless: true,
  }),
  source: derived(
    oneOf(
      ['configuration', 'dashboard'],
      '`configuration` for those that the configuration file lists: they can be changed only there.',
    ),
  ),
  /** Listed in the configuration file. */
  isConfigured: hidden<boolean>({ column: 'configured' }),
  /** Its secrets came from the configuration file and belong to the operator. */
  hasConfiguredSecrets: hidden<boolean>({ column: 'secretsConfigured' }),
  createdAt: kept(dateTime('When it was made.')),
  updatedAt: kept(dateTime('When it was last changed.')),
  lastTest: derived(
    orNull(
      Type.Object({
        testedAt: dateTime('When it was tested.'),
        isOk: flag('Whether every step went through.'),
        failedStep: textOrNull('The first step that failed.'),
        error: textOrNull('What went wrong.'),
        errorCode: textOrNull('The code of that; null = unknown.'),
      }),
      'The last test; null before it.',
    ),
  ),
};

/** Columns of connections whose server has a host key. */
export const hostKeyFields = {
  keyPairId: given(textOrNull('A key pair of the gateway, in place of a private key.', { maxLength: 36 }), {
    texts: { label: 'Generated key pair' },
    default: null,
  }),
  hostKeys: given(texts(HOST_KEYS, { maxItems: MAX_HOST_KEYS, uniqueItems: true }, fingerprint), {
    texts: {
      label: 'Host key fingerprints',
      hint: 'Only a server with one of these keys is trusted. Empty: the first key seen is trusted.',
    },
    default: undefined,
  }),
  hostKeysLearned: kept(flag('They were learned from the first login.')),
};

const absolutePath = { pattern: ABSOLUTE, maxLength: 4096 };
const ABSOLUTE_PATH = { allowed: 'an absolute path, beginning with /' };
const LINE_OF_TEXT = { pattern: LINE, minLength: 1, maxLength: 255 };

export const line = (description: string) => text(description, LINE_OF_TEXT);

/** When the SHA-256 of transferred files is computed. */
export const DIGESTS = ['asked', 'always'] as const;
export type Digests = (typeof DIGESTS)[number];

/** With less, a file of a few megabytes would take hours. */
const LEAST_BYTES_PER_SECOND = 1024;
const MOST_BYTES_PER_SECOND = 1_000_000_000_000;
const rateInFile: TSchemaOf<number | null> = Type.Unsafe({
  type: ['integer', 'null'],
  minimum: LEAST_BYTES_PER_SECOND,
  maximum: MOST_BYTES_PER_SECOND,
  description: `a whole number from ${LEAST_BYTES_PER_SECOND} to ${MOST_BYTES_PER_SECOND}, or null`,
});

export const everywhere = {
  defaultPath: given(textOrNull('Taken where a request names no path; null = the login folder.', absolutePath), {
    texts: { label: 'Default folder', hint: 'Used when a request names no folder. Empty: the login folder.' },
    file: ABSOLUTE_PATH,
    default: null,
    isHarmless: true,
  }),
  pool: given(described(limits(), POOL), {
    texts: {
      label: 'Limits',
      parts: {
        maxSessions: { label: 'Maximum sessions' },
        maxChannelsPerSession: {
          label: 'Maximum channels per session',
          hint: 'SFTP channels that share one SSH connection.',
        },
        idleTimeoutMs: { label: 'Close idle sessions after (ms)' },
        maxWaiting: { label: 'Maximum waiting requests', hint: 'Further requests are refused at once.' },
        acquireTimeoutMs: { label: 'Session wait timeout (ms)' },
        connectTimeoutMs: { label: 'Login timeout (ms)' },
        stallTimeoutMs: {
          label: 'Stall timeout (ms)',
          hint: 'A transfer fails when no byte moves for this long.',
        },
      },
    },
    file: { schema: somePoolLimits },
    shown: described(component('PoolLimits', limits()), POOL),
    default: {},
    isHarmless: true,
    isAdvanced: true,
  }),
  digests: given(
    oneOf(
      DIGESTS,
      '`always` = of every file that passes; `asked` = where a request asks, or the account says `always`.',
    ),
    {
      texts: {
        label: 'Digests and receipts',
        hint: 'When the gateway computes the SHA-256 of a file.',
        choices: { asked: 'When a request asks for it', always: 'For every file' },
      },
      default: 'asked',
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  verify: given(
    oneOf(
      ['size', 'readback'],
      '`readback` = what was stored is read again and compared before it takes its place; `size` = its length is.',
    ),
    {
      texts: {
        label: 'Verify stored files',
        hint: 'What is compared before an upload counts as done.',
        choices: { size: 'The size', readback: 'The whole content, read back' },
      },
      default: 'size',
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  bytesPerSecond: given(
    orNull(
      integer(LEAST_BYTES_PER_SECOND, MOST_BYTES_PER_SECOND),
      'The most bytes per second that all its transfers may move together, in both directions, on each node; null = no limit.',
    ),
    {
      texts: {
        label: 'Maximum bytes per second',
        hint: 'For all transfers of this connection together, in both directions. Empty: no limit.',
      },
      file: { schema: rateInFile },
      default: null,
      isHarmless: true,
      isAdvanced: true,
    },
  ),
  hours: given(
    textOrNull(
      'When it may be used, such as `Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin`; null = always. Outside of them requests are refused, and jobs and watched folders wait.',
      { maxLength: 500 },
    ),
    {
      texts: {
        label: 'Hours',
        hint: 'Such as Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin. Empty: always.',
      },
      file: {
        allowed:
          'days and times, then a time zone, such as "Mo-Fr 20:00-06:00; Sa,Su 00:00-24:00 Europe/Berlin", or ""; no hours that begin when they end',
        format: 'hours-or-empty',
      },
      check: 'hours',
      default: null,
      isHarmless: true,
      isAdvanced: true,
    },
  ),
};

/** Jump hosts that may lie one behind the other. */
export const MOST_HOPS = 3;

const PROXY =
  'An HTTP or SOCKS5 proxy, by its `url`, `username` and `password`; null = none. It resolves the name of the server.';
const PROXY_PASSWORD =
  'The password for it. Written, never shown; null takes it away. It must be given again if the URL changes.';
const proxyUrl = { pattern: PROXY_URL, maxLength: 300 };
const proxyName = { pattern: '^[^:\\u0000-\\u001f\\u007f]+$', minLength: 1, maxLength: 255 };

type StoredProxy = Readonly<{ url: string; username?: string }>;

const proxyObject = (
  description: string,
  properties: Readonly<Record<string, object>>,
): TSchemaOf<StoredProxy | null> =>
  Type.Unsafe({
    type: ['object', 'null'],
    required: ['url'],
    properties,
    additionalProperties: false,
    description,
  });

/** For all types. */
export const reached = {
  proxy: given(
    proxyObject(PROXY, {
      url: text('`http://host:port` (CONNECT) or `socks5://host:port`.', proxyUrl),
      username: text('The login name for it.', proxyName),
      password: Type.Unsafe({
        type: ['string', 'null'],
        minLength: 1,
        maxLength: 1024,
        writeOnly: true,
        description: PROXY_PASSWORD,
      }),
    }),
    {
      texts: {
        label: 'Proxy',
        parts: {
          url: { label: 'Proxy', hint: 'http://host:port or socks5://host:port. Empty: no proxy.' },
          username: { label: 'User name for the proxy' },
          password: { label: 'Password for the proxy' },
        },
      },
      file: {
        schema: proxyObject('the keys url, username, password, or null', {
          url: text('an http:// or socks5:// URL with host and port, without login', proxyUrl),
          username: text('text without a colon', proxyName),
          password: orReference(text('text (numbers in quotes)')),
        }),
      },
      shown: proxyObject('The proxy that leads to the server; null = none.', {
        url: text('Its URL.'),
        username: text('The login name for it.'),
      }),
      keep: withoutPassword,
      default: null,
      isAdvanced: true,
    },
  ),
  via: given(
    textOrNull(
      'Id of an SFTP connection of the same account, whose server is the jump host; null = none. It resolves the name of the server. At most three in a row.',
      { pattern: SLUG },
    ),
    {
      texts: {
        label: 'Jump host',
        hint: 'The id of an SFTP connection, through whose server this one is reached. Empty: none.',
      },
      file: { schema: text('the id of an SFTP connection of the same account, or ""', { pattern: SLUG_OR_EMPTY }) },
      default: null,
      isAdvanced: true,
    },
  ),
};

/** The password is a secret of its own. */
function withoutPassword(proxy: StoredProxy | null): StoredProxy | null {
  if (proxy === null) return null;
  const { url, username } = proxy;
  return { url, ...(username === undefined ? {} : { username }) };
}

export const proxyPassword = secret(PROXY_PASSWORD, {
  texts: { label: 'Password for the proxy' },
  isSent: true,
  partOf: { setting: 'proxy', part: 'password' },
});

export const onServers = {
  rootPath: given(text('Nothing outside of it is reachable.', absolutePath), {
    texts: { label: 'Root folder', hint: 'Requests cannot leave this folder.' },
    file: ABSOLUTE_PATH,
    default: '/',
  }),
  atomicUploads: given(flag('Uploads go to a temporary name and are renamed.'), {
    texts: {
      label: 'Upload under a hidden name, then rename',
      hint: 'A file gets its real name once it is complete.',
    },
    default: true,
    isHarmless: true,
    isAdvanced: true,
  }),
};

/** The server's address and the user; the default port is the protocol's own. */
export const login = (port: number) => ({
  host: needed(
    text('Host name or address, without protocol and port.', { pattern: LINE, minLength: 1, maxLength: 253 }),
    {
      texts: {
        label: 'Host',
        hint: 'A host name or IP address. Or paste a URL such as sftp://user@host:22/folder to fill the fields.',
      },
      file: { allowed: 'a host name or IP address, without protocol and port', format: 'host' },
      check: 'host',
    },
  ),
  port: given(integer(1, 65_535, 'TCP port.'), {
    texts: { label: 'Port' },
    shown: Type.Integer({ description: 'TCP port.' }),
    default: port,
  }),
  username: needed(line('Login name.'), { texts: { label: 'User name' }, file: ONE_CHARACTER }),
});

export const password = secret('The password of the login.', { texts: { label: 'Password' }, isSent: true });

export const certificates = {
  tlsVerify: given(
    flag('Whether the certificate of the server must be trusted. If not, anybody in between can read everything.'),
    {
      texts: {
        label: 'Verify the certificate of the server',
        hint: 'Without this check, an attacker on the network can read everything.',
      },
      default: true,
    },
  ),
  tlsCa: given(textOrNull('Certificates in PEM form that are trusted beside the usual ones.', { maxLength: 65_536 }), {
    texts: { label: 'Your own CA certificates (PEM)', hint: 'Trusted in addition to the public ones.' },
    file: { key: 'tlsCaFile', allowed: 'the path of a PEM file that can be read, or "" for none' },
    input: 'long',
    check: 'certificates',
    default: null,
    isAdvanced: true,
  }),
};
