/** The JSON Schema of gateway.yaml: every key, its allowed values and its default. */
import { KIB, MIB } from '../contract/units.js';
import {
  type Admitted,
  flag,
  flagOr,
  integer,
  integerOr,
  listOf,
  mapping,
  milliseconds,
  oneOf,
  oneOfMappings,
  optional,
  record,
  section,
  text,
  withDefault,
} from '../contract/schema.js';
import { apiKeyFields } from '../contract/api-key.js';
import { brandFields } from '../contract/brand.js';
import { inFile } from '../contract/in-file.js';
import { DIGESTS, poolKeys, somePoolLimits } from '../contract/connection/fields.js';
import type { ConnectionEntry } from '../connections/connection.js';
import type { Definition } from '../contract/connection/definition.js';
import { orReference } from '../contract/connection/reference.js';
import { entrySchema } from '../contract/connection/schemas.js';
import { MAILBOX_OR_EMPTY, PROXY_URL, REGION } from '../contract/patterns.js';

/** With the lengths of AWS, which programs check. */
const s3Pair = mapping({
  accessKeyId: text('16 to 128 letters, digits and _', { pattern: '^[A-Za-z0-9_]{16,128}$' }),
  secretAccessKey: text('16 to 128 printable ASCII characters without spaces', { pattern: '^[\\x21-\\x7e]{16,128}$' }),
});

const { name, ...rights } = inFile(apiKeyFields);
const apiKey = mapping({
  name,
  key: text('ftg_ and more, 24 to 200 printable ASCII characters without spaces in all', {
    pattern: '^ftg_[\\x21-\\x7e]{20,196}$',
  }),
  ...rights,
  s3: optional(s3Pair),
});

const accountSchema = (definitions: readonly Definition[]) =>
  mapping({
    email: text('an e-mail address', { format: 'email' }),
    plan: text('the name of a plan under limits.plans'),
    password: optional(text('text (numbers in quotes)')),
    allowPrivate: optional(flag()),
    digests: optional(oneOf(DIGESTS)),
    brand: optional(mapping(inFile(brandFields))),
    apiKeys: withDefault(listOf(apiKey), []),
    connections: withDefault(listOf(oneOfMappings<ConnectionEntry>('type', definitions.map(entrySchema))), []),
  });

const cidrs = listOf(text('an IP address or CIDR block', { format: 'ip-or-cidr' }), undefined, { uniqueItems: true });

const targets = listOf(
  text('a host name, *.example.com, an IP address or CIDR block', { format: 'host-pattern' }),
  undefined,
  { uniqueItems: true },
);

const plan = (connections: number, monthlyActions: number) =>
  section({
    connections: withDefault(integer(0), connections),
    monthlyActions: withDefault(integer(0), monthlyActions),
  });

export const configSchema = (definitions: readonly Definition[]) =>
  mapping({
    server: section({
      host: withDefault(text('a host name or IP address', { format: 'host' }), '127.0.0.1'),
      port: withDefault(integer(0, 65_535), 8080),
      tls: section({
        certFile: withDefault(text('the path of a PEM file, or "" for none'), ''),
        keyFile: withDefault(text('the path of a PEM file, or "" for none'), ''),
      }),
      publicUrl: withDefault(
        text('an http or https URL without login and query, or ""', { format: 'http-url-or-empty' }),
        '',
      ),
      cors: section({
        origins: withDefault(
          listOf(
            text('an origin such as https://app.example.com, or *', { pattern: '^(\\*|https?://[^/?#\\s]+)$' }),
            undefined,
            {
              uniqueItems: true,
            },
          ),
          [],
        ),
      }),
      threads: withDefault(integerOr('auto', 1, 256), 1),
      frontEnd: withDefault(oneOf(['auto', 'uws', 'node']), 'auto'),
      trustedProxies: withDefault(cidrs, []),
      connectionsPerAddress: withDefault(integerOr('auto', 0, 1_000_000), 'auto'),
      receiveBufferBytes: withDefault(integer(0, 1024 * MIB), 256 * KIB),
      idleTimeoutMs: withDefault(milliseconds(1), 60_000),
      keepAliveSeconds: withDefault(integer(1, 3_600), 5),
      minBytesPerSecond: withDefault(integer(0), 0),
      retireSeconds: withDefault(integer(0, 3_600), 5),
      drainSeconds: withDefault(integer(0, 86_400), 30),
    }),
    dataDir: withDefault(text('the path of a folder', { pattern: '.' }), './data'),
    database: section({
      url: withDefault(
        text('a URL postgres://user:password@host:port/name, or ""', { format: 'postgres-url-or-empty' }),
        '',
      ),
      poolSize: withDefault(integer(1, 1000), 8),
      connectTimeoutMs: withDefault(milliseconds(1), 10_000),
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
      hosts: withDefault(
        record(text('host:port, an IPv6 address in brackets', { format: 'host-port' }), somePoolLimits),
        {},
      ),
      giveWay: section({
        belowBytesPerSecond: withDefault(integer(0), 16 * KIB),
        afterMs: withDefault(integer(1_000, 60_000), 10_000),
      }),
    }),
    streams: section({
      sftpInFlight: withDefault(integer(1, 1024), 64),
      s3PartBytes: withDefault(integer(5 * MIB, 5 * 1024 * MIB), 8 * MIB),
      s3PartsInFlight: withDefault(integer(1, 64), 4),
      connectionsPerFile: withDefault(integer(1, 16), 4),
    }),
    workers: section({
      threads: withDefault(integer(1, 256), 2),
      inlineBelowBytes: withDefault(integer(0), 256 * KIB),
    }),
    limits: section({
      readBytes: withDefault(integer(1), 10 * MIB),
      listEntries: withDefault(integer(1_000, 100_000_000), 1_000_000),
      jsonBodyBytes: withDefault(integer(0), 0),
      uploadBytes: withDefault(integer(0), 0),
      execOutputBytes: withDefault(integer(1), 10 * MIB),
      requestsPerSecond: withDefault(integer(0), 0),
      idempotencyKeys: withDefault(integer(1, 1_000_000_000), 1_000_000),
      plans: withDefault(
        record(text('letters, digits, - and _', { pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' }), plan(0, 0), {
          free: plan(1, 1000),
          pro: plan(0, 0),
        }),
        {},
      ),
    }),
    budgets: section({
      memoryBytes: withDefault(integer(16 * MIB), 128 * MIB),
      requests: withDefault(integer(16), 2_048),
      waiting: withDefault(integer(16), 2_048),
      sessions: withDefault(integer(1), 1_024),
      lookups: withDefault(integer(1), 64),
    }),
    network: section({
      localAddress: withDefault(text('an IP address of this machine, or ""', { format: 'ip-or-empty' }), ''),
      resolver: withDefault(oneOf(['dns', 'system']), 'dns'),
      nameServers: withDefault(
        listOf(
          text('an IP address, or one and a port such as 192.0.2.1:53 or [2001:db8::1]:53', { format: 'name-server' }),
        ),
        [],
      ),
      connections: section({ allowPrivate: withDefault(flag(), true), deny: withDefault(cidrs, []) }),
      proxy: section({
        url: withDefault(
          text('an http:// or socks5:// URL with host and port, without login, or ""', { pattern: `^$|${PROXY_URL}` }),
          '',
        ),
        username: withDefault(text('text without a colon, or ""', { pattern: '^[^:\\u0000-\\u001f\\u007f]*$' }), ''),
        password: withDefault(orReference(text('text (numbers in quotes)')), ''),
      }),
      proxied: section({ allow: withDefault(targets, []), deny: withDefault(targets, []) }),
      urlFetch: section({ allow: withDefault(cidrs, []) }),
      webhooks: section({ allow: withDefault(cidrs, []), requireHttps: withDefault(flag(), false) }),
    }),
    watcher: section({
      concurrency: withDefault(integer(1, 10_000), 16),
      perHostConcurrency: withDefault(integer(1, 10_000), 2),
      checkTimeoutMs: withDefault(milliseconds(1), 900_000),
      settleMs: withDefault(milliseconds(0), 5_000),
      filesPerAccount: withDefault(integer(1, 10_000_000_000), 5_000_000),
      skipNames: withDefault(listOf(text('a glob on a file name', { pattern: '^[^/]+$' })), [
        '.*',
        '*.part',
        '*.partial',
        '*.filepart',
        '*.tmp',
        '*.crdownload',
      ]),
    }),
    webhooks: section({
      concurrency: withDefault(integer(1, 10_000), 16),
      timeoutMs: withDefault(milliseconds(1), 15_000),
      retryMs: withDefault(
        listOf(milliseconds(1)),
        [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000],
      ),
      filesPerEvent: withDefault(integer(1), 100),
      bytesPerEvent: withDefault(integer(1), 20_000),
      perAccount: withDefault(integer(0, 1_000), 20),
    }),
    health: section({ everySeconds: withDefault(integer(0, 86_400), 60) }),
    events: section({
      retentionDays: withDefault(integer(1, 36_500), 30),
      perAccount: withDefault(integer(1_000, 1_000_000_000), 1_000_000),
    }),
    uploads: section({
      expireHours: withDefault(integer(1, 8_760), 24),
      unfinishedPerAccount: withDefault(integer(1, 1_000_000), 100),
    }),
    links: section({
      maxDays: withDefault(integer(1, 3_650), 90),
      perAccount: withDefault(integer(0, 1_000_000), 1_000),
      usesAtOnce: withDefault(integer(1, 1_000_000), 8),
      poolPercent: withDefault(integer(1, 100), 25),
      minBytesPerSecond: withDefault(integer(0), 1_024),
    }),
    s3: section({
      enabled: withDefault(flag(), false),
      port: withDefault(integer(0, 65_535), 0),
      region: withDefault(text('a region such as us-east-1', { pattern: REGION }), 'us-east-1'),
    }),
    alarms: section({ everySeconds: withDefault(integer(0, 86_400), 60) }),
    secrets: section({
      refreshMinutes: withDefault(integer(1, 1_440), 15),
      vault: section({
        address: withDefault(
          text('an http or https URL without login and query, or ""', { format: 'http-url-or-empty' }),
          '',
        ),
        tokenFile: withDefault(text('the path of a file, or "" for none'), ''),
        role: withDefault(text('the name of a role, or "" for none'), ''),
        serviceAccountTokenFile: withDefault(
          text('the path of a file'),
          '/var/run/secrets/kubernetes.io/serviceaccount/token',
        ),
      }),
      aws: section({
        region: withDefault(text('a region such as eu-central-1, or ""', { pattern: `^$|${REGION}` }), ''),
      }),
    }),
    mail: section({
      url: withDefault(
        text('a URL smtps://user:password@host:port or smtp://host:port, or ""', { format: 'smtp-url-or-empty' }),
        '',
      ),
      from: withDefault(
        text('an e-mail address, or a name and one such as Alarms <alarms@example.com>, or ""', {
          pattern: MAILBOX_OR_EMPTY,
        }),
        '',
      ),
    }),
    jobs: section({
      concurrency: withDefault(integer(1, 10_000), 16),
      parallelFiles: withDefault(integer(1, 256), 4),
      runningPerAccount: withDefault(integer(1, 10_000), 4),
      waitingPerAccount: withDefault(integer(0, 1_000_000), 100),
      schedulesPerAccount: withDefault(integer(0, 100_000), 100),
      filesPerJob: withDefault(integer(1, 1_000_000_000), 2_000_000),
      rowsPerAccount: withDefault(integer(1, 10_000_000_000), 5_000_000),
      rows: withDefault(integer(1, 100_000_000_000), 20_000_000),
      pauseBelowFreeBytes: withDefault(integer(0, Number.MAX_SAFE_INTEGER), 268_435_456),
      retentionDays: withDefault(integer(0, 36_500), 30),
    }),
    history: section({
      retentionDays: withDefault(integer(0, 36_500), 0),
      freeItems: withDefault(integer(0, 1_000_000_000_000), 1_000_000),
    }),
    log: section({
      level: withDefault(oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), 'info'),
      pretty: withDefault(flagOr('auto'), 'auto'),
    }),
    metrics: section({
      enabled: withDefault(flag(), true),
      perConnection: withDefault(flag(), false),
      token: withDefault(text('text without spaces, or ""', { pattern: '^[\\x21-\\x7e]*$' }), ''),
    }),
    sandbox: withDefault(flagOr('auto'), 'auto'),
    accounts: withDefault(listOf(accountSchema(definitions)), []),
  });

/** The allowed content of the file, with defaults. */
export type FileConfig = Admitted<ReturnType<typeof configSchema>>;

export type Config = FileConfig & {
  /** GATEWAY_MASTER_KEY: 32 bytes as base64 or hex; "" = a key file created in dataDir. */
  readonly masterKey: string;
};

export type AccountConfig = Config['accounts'][number];
export type ApiKeyConfig = AccountConfig['apiKeys'][number];
export type ConnectionConfig = AccountConfig['connections'][number];
