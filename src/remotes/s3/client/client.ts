import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import tls from 'node:tls';
import { HOUR_MS } from '../../../contract/units.js';
import { atMost } from '../../../base/cache-size.js';
import type { S3Connection } from '../../../connections/connection.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import type { ProtocolDeps } from '../../protocol.js';
import { type Dialer, onBehalfOf, wayOf } from '../../dial/dial.js';
import { ServerMemory } from '../../server-memory.js';
import { BoundedHandler } from './bounded-handler.js';
import { EndpointTraits } from '../memory.js';
import { type Credentials, RenewedCredentials } from './credentials.js';
import { endpointOf, hostOf, identityOf } from './endpoint.js';
import { credentialsOf } from './identity.js';
import { SignedRequests } from './signed-requests.js';
import { SocketGate } from './socket-gate.js';

/**
 * One client and its sockets, for all connections of one identity; counts its sessions and is closed with the last one.
 */
export interface SharedClient {
  readonly client: S3Client;
  readonly requests: SignedRequests;
  readonly traits: EndpointTraits;
  readonly gate: SocketGate;
  readonly credentials: Credentials;
  release(): void;
}

interface OpenClient {
  readonly client: S3Client;
  readonly requests: SignedRequests;
  readonly gate: SocketGate;
  readonly credentials: Credentials;
  close(): void;
}

const MAX_IDENTITIES = 1_000;
/** What the keys of a role last, unless they are asked for another time. */
const KEPT_MS = HOUR_MS;

/** The clients of one gateway, which share its network rules and what it has learned about their endpoints. */
export class SharedClients {
  readonly #deps: ProtocolDeps;
  readonly #open = new Map<string, OpenClient & { users: number }>();
  readonly #memory: ServerMemory<EndpointTraits>;
  /** Keys that were issued outlive the client: its last session may be closed, and their service away. */
  readonly #issued = new LRUCache<string, Credentials>({
    ...atMost(MAX_IDENTITIES),
    ttl: KEPT_MS,
  });

  constructor(deps: ProtocolDeps) {
    this.#deps = deps;

    this.#memory = new ServerMemory((host) => {
      const hostname = host.replace(/:\d+$/, '');
      return new EndpointTraits(hostname, (message, facts) => deps.log(message, facts));
    });
  }

  /** The client for this identity and these limits: an open one, or a new one. */
  share(connection: S3Connection, limits: PoolLimits): SharedClient {
    const host = hostOf(connection);
    const { maxSessions, connectTimeoutMs, idleTimeoutMs } = limits;
    const key = JSON.stringify([
      ...[host, ...identityOf(connection), maxSessions, connectTimeoutMs, idleTimeoutMs],
      ...wayOf(connection),
    ]);
    const traits = this.#memory.of(host, connection);
    const shared = this.#open.get(key) ?? {
      ...openClient(connection, limits, this.#deps, traits, this.#credentialsOf(connection, limits)),
      users: 0,
    };
    this.#open.set(key, shared);
    shared.users += 1;
    let isReleased = false;
    return {
      client: shared.client,
      requests: shared.requests,
      gate: shared.gate,
      credentials: shared.credentials,
      traits,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        shared.users -= 1;
        if (shared.users > 0) return;
        this.#open.delete(key);
        // Their hour begins now.
        this.#keep(connection, limits, shared.credentials);
        shared.close();
      },
    };
  }

  /** @throws GatewayError login_refused */
  #credentialsOf(connection: S3Connection, limits: PoolLimits): Credentials {
    // An edited connection never asks for its former keys, whose secrets would stay.
    this.#issued.purgeStale();
    const known = this.#issued.get(keyOfIssued(connection, limits));
    if (known !== undefined) return known;
    const credentials = identify(connection, limits, this.#deps);
    this.#keep(connection, limits, credentials);
    return credentials;
  }

  #keep(connection: S3Connection, limits: PoolLimits, credentials: Credentials): void {
    if (credentials instanceof RenewedCredentials) this.#issued.set(keyOfIssued(connection, limits), credentials);
  }
}

function keyOfIssued(connection: S3Connection, { connectTimeoutMs }: PoolLimits): string {
  const parts = [hostOf(connection), ...identityOf(connection), connectTimeoutMs, ...wayOf(connection)];
  return hash('sha256', JSON.stringify(parts), 'hex');
}

/**
 * Steps of the SDK that change nothing here; each adds a layer of promises to every call, 10 to 20 % of its cost in
 * all.
 */
const UNUSED_STEPS = [
  // Copies every answer, and each entry of a listing by its schema, for a log that does not exist.
  'loggerMiddleware',
  // For AWS Lambda.
  'recursionDetectionMiddleware',
  // Not requested (followRegionRedirects), and disabled (expectContinueHeader).
  'regionRedirectMiddleware',
  'regionRedirectEndpointMiddleware',
  'addExpectContinueMiddleware',
  // BoundedHandler sets this header.
  'getUserAgentMiddleware',
];

interface OpenAgents extends ReturnType<Dialer['agents']> {
  close(): void;
}

function openAgents(connection: S3Connection, limits: PoolLimits, deps: ProtocolDeps): OpenAgents {
  const agents = deps.dialer.agents({
    ...onBehalfOf(connection, deps),
    maxSockets: limits.maxSessions,
    connectTimeoutMs: limits.connectTimeoutMs,
    idleTimeoutMs: limits.idleTimeoutMs,
    tls: {
      rejectUnauthorized: connection.tlsVerify,
      ...(connection.tlsCa === undefined ? {} : { ca: [...tls.rootCertificates, connection.tlsCa] }),
    },
  });
  return {
    ...agents,
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function identify(connection: S3Connection, limits: PoolLimits, deps: ProtocolDeps): Credentials {
  return credentialsOf({
    connection,
    withAgents: async (ask) => {
      const agents = openAgents(connection, limits, deps);
      try {
        return await ask(agents);
      } finally {
        agents.close();
      }
    },
    timeoutMs: limits.connectTimeoutMs,
    env: deps.env ?? {},
    identified: (identity) => deps.observer?.identified?.(identity),
    failed: ({ message }) =>
      deps.warn('s3 credentials not renewed', {
        host: hostOf(connection),
        // A field named credentials would be hidden.
        source: connection.credentials,
        role: connection.role?.arn,
        error: message,
      }),
  });
}

function openClient(
  connection: S3Connection,
  limits: PoolLimits,
  deps: ProtocolDeps,
  traits: EndpointTraits,
  credentials: Credentials,
): OpenClient {
  const agents = openAgents(connection, limits, deps);
  const hasChecksum = traits.sendsChecksumsFor(connection);
  const silent = (): void => undefined;
  const client = new S3Client({
    endpoint: endpointOf(connection).href,
    region: connection.region,
    forcePathStyle: connection.forcePathStyle,
    credentials: () => forSdk(credentials),
    requestHandler: new BoundedHandler({ httpAgent: agents.http, httpsAgent: agents.https }),
    requestChecksumCalculation: hasChecksum ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The gateway retries itself: it knows which calls may be repeated, and their errors are already translated.
    maxAttempts: 1,
    retryMode: 'standard',
    // With custom agents the SDK sends the header but does not wait for its answer.
    expectContinueHeader: false,
    // Everything that the SDK would otherwise read from the environment and from files in the user's home.
    defaultsMode: 'standard',
    useArnRegion: false,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    disableS3ExpressSessionAuth: true,
    // Without a logger the SDK writes warnings to the console.
    logger: { debug: silent, info: silent, warn: silent, error: silent },
  });
  for (const name of UNUSED_STEPS) client.middlewareStack.remove(name);
  return {
    client,
    requests: new SignedRequests({
      client,
      connection,
      credentials,
      endpoint: endpointOf(connection),
      agents,
      hasChecksum,
    }),
    gate: new SocketGate(
      limits.maxSessions,
      deps.budgets && (() => deps.budgets?.places.trySpare(connection.accountId)),
    ),
    credentials,
    close() {
      client.destroy();
      agents.close();
    },
  };
}

type Identity = Exclude<NonNullable<S3ClientConfig['credentials']>, (...args: never[]) => unknown>;

/** The SDK would keep keys until five minutes before they expire, and lists alone would not renew them. */
const ASKED_EACH_TIME = new Date(0);

/** In the terms of the SDK. */
async function forSdk(credentials: Credentials): Promise<Identity> {
  const { accessKeyId, secretAccessKey, sessionToken, expiresAt } = await credentials.get();
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(expiresAt === undefined ? {} : { expiration: ASKED_EACH_TIME }),
  };
}
