/** The JSON Schema of gateway.yaml: every key, what it admits and its default. */
import {
  type Admitted,
  flag,
  flagOr,
  integer,
  integerOr,
  list,
  mapping,
  milliseconds,
  oneOf,
  oneOfMappings,
  optional,
  preset,
  record,
  section,
} from '../base/allowed.js';
import { text, textOrNull } from '../contract/schema.js';
import { ALL_SCOPES, type Scope, SCOPES } from '../contract/api-key.js';
import { DIGESTS, poolKeys, slug, somePoolLimits } from '../connections/common.js';
import type { ConnectionEntry } from '../connections/connection.js';
import type { Definition } from '../connections/definition.js';
import { entrySchema } from '../connections/schemas.js';
import { MAILBOX_OR_EMPTY, NAME } from '../contract/patterns.js';

const apiKey = mapping({
  name: text('text of at least one character', { pattern: NAME }),
  key: text('ftg_ and more, 24 to 200 printable ASCII characters without spaces in all', {
    pattern: '^ftg_[\\x21-\\x7e]{20,196}$',
  }),
  scopes: preset([...SCOPES], list(oneOf<Scope>(...ALL_SCOPES), { minItems: 1, uniqueItems: true })),
  connections: preset([], list(slug, { uniqueItems: true })),
  allowedIps: preset([], list(text('an IP address or CIDR block', { format: 'ip-or-cidr' }), { uniqueItems: true })),
  expiresAt: preset(null, textOrNull('a date-time such as 2027-01-31T00:00:00Z, or null', { format: 'date-time' })),
});

const accountSchema = (definitions: readonly Definition[]) =>
  mapping({
    email: text('an e-mail address', { format: 'email' }),
    plan: text('the name of a plan under limits.plans'),
    password: optional(text('text (numbers in quotes)')),
    allowPrivate: optional(flag()),
    digests: optional(oneOf(...DIGESTS)),
    apiKeys: preset([], list(apiKey)),
    connections: preset([], list(oneOfMappings<ConnectionEntry>('type', definitions.map(entrySchema)))),
  });

const KIB = 1024;
const MIB = 1024 * KIB;

const cidrs = list(text('an IP address or CIDR block', { format: 'ip-or-cidr' }), { uniqueItems: true });

const plan = (connections: number, monthlyActions: number) =>
  section({
    connections: preset(connections, integer(0)),
    monthlyActions: preset(monthlyActions, integer(0)),
  });

export const configSchema = (definitions: readonly Definition[]) =>
  mapping({
    server: section({
      host: preset('127.0.0.1', text('a host name or IP address', { format: 'host' })),
      port: preset(8080, integer(0, 65_535)),
      tls: section({
        certFile: preset('', text('the path of a PEM file, or "" for none')),
        keyFile: preset('', text('the path of a PEM file, or "" for none')),
      }),
      publicUrl: preset(
        '',
        text('an http or https URL without login and query, or ""', { format: 'http-url-or-empty' }),
      ),
      cors: section({
        origins: preset(
          [],
          list(text('an origin such as https://app.example.com, or *', { pattern: '^(\\*|https?://[^/?#\\s]+)$' }), {
            uniqueItems: true,
          }),
        ),
      }),
      threads: preset(1, integerOr('auto', 1, 256)),
      frontEnd: preset('auto', oneOf('auto', 'uws', 'node')),
      trustedProxies: preset([], cidrs),
      connectionsPerAddress: preset('auto', integerOr('auto', 0, 1_000_000)),
      receiveBufferBytes: preset(256 * KIB, integer(0, 1024 * MIB)),
      idleTimeoutMs: preset(60_000, milliseconds(1)),
      keepAliveSeconds: preset(5, integer(1, 3_600)),
      minBytesPerSecond: preset(0, integer(0)),
      retireSeconds: preset(5, integer(0, 3_600)),
      drainSeconds: preset(30, integer(0, 86_400)),
    }),
    dataDir: preset('./data', text('the path of a folder', { pattern: '.' })),
    database: section({
      url: preset(
        '',
        text('a URL postgres://user:password@host:port/name, or ""', { format: 'postgres-url-or-empty' }),
      ),
      poolSize: preset(8, integer(1, 1000)),
      connectTimeoutMs: preset(10_000, milliseconds(1)),
    }),
    pools: section({
      default: section(
        poolKeys({
          maxSessions: 8,
          maxChannelsPerSession: 8,
          idleTimeoutMs: 60_000,
          maxWaiting: 256,
          acquireTimeoutMs: 15_000,
          connectTimeoutMs: 10_000,
          stallTimeoutMs: 30_000,
        }),
      ),
      hosts: preset(
        {},
        record(text('host:port, an IPv6 address in brackets', { format: 'host-port' }), somePoolLimits),
      ),
      giveWay: section({
        belowBytesPerSecond: preset(16 * KIB, integer(0)),
        afterMs: preset(10_000, integer(1_000, 60_000)),
      }),
    }),
    streams: section({
      sftpInFlight: preset(64, integer(1, 1024)),
      s3PartBytes: preset(8 * MIB, integer(5 * MIB, 5 * 1024 * MIB)),
      s3PartsInFlight: preset(4, integer(1, 64)),
    }),
    workers: section({
      threads: preset(2, integer(1, 256)),
      inlineBelowBytes: preset(256 * KIB, integer(0)),
    }),
    limits: section({
      readBytes: preset(10 * MIB, integer(1)),
      listEntries: preset(1_000_000, integer(1_000, 100_000_000)),
      jsonBodyBytes: preset(0, integer(0)),
      uploadBytes: preset(0, integer(0)),
      execOutputBytes: preset(10 * MIB, integer(1)),
      requestsPerSecond: preset(0, integer(0)),
      idempotencyKeys: preset(1_000_000, integer(1, 1_000_000_000)),
      plans: preset(
        {},
        record(text('letters, digits, - and _', { pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' }), plan(0, 0), {
          free: plan(1, 1000),
          pro: plan(0, 0),
        }),
      ),
    }),
    budgets: section({
      memoryBytes: preset(128 * MIB, integer(16 * MIB)),
      requests: preset(2_048, integer(16)),
      waiting: preset(2_048, integer(16)),
      sessions: preset(1_024, integer(1)),
      lookups: preset(64, integer(1)),
    }),
    network: section({
      localAddress: preset('', text('an IP address of this machine, or ""', { format: 'ip-or-empty' })),
      resolver: preset('dns', oneOf('dns', 'system')),
      nameServers: preset(
        [],
        list(
          text('an IP address, or one and a port such as 192.0.2.1:53 or [2001:db8::1]:53', { format: 'name-server' }),
        ),
      ),
      connections: section({ allowPrivate: preset(true, flag()), deny: preset([], cidrs) }),
      urlFetch: section({ allow: preset([], cidrs) }),
      webhooks: section({ allow: preset([], cidrs), requireHttps: preset(false, flag()) }),
    }),
    watcher: section({
      concurrency: preset(16, integer(1, 10_000)),
      perHostConcurrency: preset(2, integer(1, 10_000)),
      checkTimeoutMs: preset(900_000, milliseconds(1)),
      settleMs: preset(5_000, milliseconds(0)),
      filesPerAccount: preset(5_000_000, integer(1, 10_000_000_000)),
      skipNames: preset(
        ['.*', '*.part', '*.partial', '*.filepart', '*.tmp', '*.crdownload'],
        list(text('a glob on a file name', { pattern: '^[^/]+$' })),
      ),
    }),
    webhooks: section({
      concurrency: preset(16, integer(1, 10_000)),
      timeoutMs: preset(15_000, milliseconds(1)),
      retryMs: preset(
        [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000],
        list(milliseconds(1)),
      ),
      filesPerEvent: preset(100, integer(1)),
      bytesPerEvent: preset(20_000, integer(1)),
      perAccount: preset(20, integer(0, 1_000)),
    }),
    health: section({ everySeconds: preset(60, integer(0, 86_400)) }),
    events: section({
      retentionDays: preset(30, integer(1, 36_500)),
      perAccount: preset(1_000_000, integer(1_000, 1_000_000_000)),
    }),
    uploads: section({
      expireHours: preset(24, integer(1, 8_760)),
      unfinishedPerAccount: preset(100, integer(1, 1_000_000)),
    }),
    links: section({
      maxDays: preset(90, integer(1, 3_650)),
      perAccount: preset(1_000, integer(0, 1_000_000)),
      usesAtOnce: preset(8, integer(1, 1_000_000)),
      poolPercent: preset(25, integer(1, 100)),
      minBytesPerSecond: preset(1_024, integer(0)),
    }),
    alarms: section({ everySeconds: preset(60, integer(0, 86_400)) }),
    mail: section({
      url: preset(
        '',
        text('a URL smtps://user:password@host:port or smtp://host:port, or ""', { format: 'smtp-url-or-empty' }),
      ),
      from: preset(
        '',
        text('an e-mail address, or a name and one such as Alarms <alarms@example.com>, or ""', {
          pattern: MAILBOX_OR_EMPTY,
        }),
      ),
    }),
    jobs: section({
      concurrency: preset(16, integer(1, 10_000)),
      parallelFiles: preset(4, integer(1, 256)),
      runningPerAccount: preset(4, integer(1, 10_000)),
      waitingPerAccount: preset(100, integer(0, 1_000_000)),
      schedulesPerAccount: preset(100, integer(0, 100_000)),
      filesPerJob: preset(2_000_000, integer(1, 1_000_000_000)),
      rowsPerAccount: preset(5_000_000, integer(1, 10_000_000_000)),
      rows: preset(20_000_000, integer(1, 100_000_000_000)),
      pauseBelowFreeBytes: preset(268_435_456, integer(0, Number.MAX_SAFE_INTEGER)),
      retentionDays: preset(30, integer(0, 36_500)),
    }),
    history: section({
      retentionDays: preset(0, integer(0, 36_500)),
      freeItems: preset(1_000_000, integer(0, 1_000_000_000_000)),
    }),
    log: section({
      level: preset('info', oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')),
      pretty: preset('auto', flagOr('auto')),
    }),
    metrics: section({
      enabled: preset(true, flag()),
      perConnection: preset(false, flag()),
      token: preset('', text('text without spaces, or ""', { pattern: '^[\\x21-\\x7e]*$' })),
    }),
    sandbox: preset('auto', flagOr('auto')),
    accounts: preset([], list(accountSchema(definitions))),
  });

/** What the file admits, after defaults are filled in. */
export type FileConfig = Admitted<ReturnType<typeof configSchema>>;

export type Config = FileConfig & {
  /** GATEWAY_MASTER_KEY: 32 bytes as base64 or hex; "" = a key file made in dataDir. */
  readonly masterKey: string;
};

export type AccountConfig = Config['accounts'][number];
export type ApiKeyConfig = AccountConfig['apiKeys'][number];
export type ConnectionConfig = AccountConfig['connections'][number];
