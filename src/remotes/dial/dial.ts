import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { orAbort, waitFor, withDeadline } from '../../base/deadline.js';
import { abortSignalOf, type EndSignal } from '../../base/ending.js';
import { GatewayError, hasCode, isOutOfDescriptors, outOfDescriptors, type Step } from '../../base/errors.js';
import { limitOverheadOf } from '../../base/http-overhead.js';
import { createResolver, type Lookup } from '../../resolver/resolver.js';
import {
  type Address,
  type Candidate,
  candidateOf,
  type Cidr,
  isLocalAddress,
  isSameAddress,
  matches,
  METADATA,
  NEVER,
  parseCidr,
  unmasked,
} from './address.js';
import type { Connection, Referring, SftpConnection } from '../../connections/connection.js';
import { type PresentSecrets, withPresentSecrets } from '../renewed-login.js';
import { timed } from './connect-times.js';
import { withoutEmptyWrites } from './empty-writes.js';
import { addressOfProxy, askProxy, nameOfProxy, type Proxy } from './proxy.js';
import { raceConnects } from './race.js';
import { readInTurn } from './read-in-turn.js';
import { type Jumps, nameOfJump, type Tunnel } from './tunnel.js';

/**
 * Makes every outgoing socket of the program: it resolves the name, checks each address against the network rules, and
 * connects to the very address that was checked, from the fixed outbound address.
 */
type Purpose = 'connection' | 'url' | 'webhook';

/** The proxy that the operator has set for url uploads and webhooks. */
export interface OwnProxy {
  readonly proxy: Proxy & Referring;
  readonly secrets: PresentSecrets;
}

interface NetworkRules {
  /** The outbound address to bind; "" means that the system chooses. */
  readonly localAddress: string;
  readonly connections: { readonly allowPrivate: boolean; readonly deny: readonly string[] };
  readonly urlFetch: { readonly allow: readonly string[] };
  readonly webhooks: { readonly allow: readonly string[] };
  /**
   * The servers behind proxies, as names, `*.example.com`, addresses or CIDR blocks; an empty `allow` = all others. Absent:
   * no limits.
   */
  readonly proxied?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** Absent: url uploads and webhooks go directly to their servers. */
  readonly ownProxy?: OwnProxy | undefined;
  /** A receiver inside the gateway, for the webhooks of one account. */
  readonly ownReceiver?: { readonly address: string; readonly port: number; readonly owner: string };
}

interface DialOptions {
  readonly purpose: Purpose;
  /** The account that the socket is dialled for. */
  readonly owner: string;
  /** Replaces network.connections.allowPrivate for that account. */
  readonly allowPrivate?: boolean | undefined;
  readonly signal: EndSignal;
  readonly timeoutMs: number;
  /** For a socket that carries bodies unencrypted: each read takes more of them (wide-reads.ts). */
  readonly hasWideReads?: boolean;
  /** The socket leads through it. */
  readonly proxy?: Proxy | undefined;
  /** The socket leads through a jump host, to which its own connection leads. */
  readonly tunnel?: Tunnel | undefined;
}

/** To the proxy that the operator has set, which may be anywhere. */
interface CheckedDial extends DialOptions {
  readonly isOperators?: boolean;
}

/** Receives the steps of every dial; the test of a connection shows them one by one. */
export interface DialObserver {
  /** The name's addresses are known, and at least one is allowed. */
  resolved?(host: string, addresses: readonly string[]): void;
  connected?(socket: net.Socket): void;
  /** The jump host has connected to the server. */
  tunnelled?(target: string, jump: string): void;
  /** The proxy has connected to the server. */
  proxied?(target: string, proxy: string): void;
  secured?(socket: tls.TLSSocket): void;
}

export interface Dialer {
  /**
   * A connected TCP socket with TCP_NODELAY. Errors: address_denied, dns_failed, unreachable, connect_timeout,
   * or the signal's reason; with a proxy also login_refused and protocol_error. The proxy itself and a server given by
   * its address obey the network rules. A name is resolved by the proxy. The proxy of url uploads and webhooks is the
   * operator's, and may be anywhere.
   */
  connect(host: string, port: number, options: DialOptions): Promise<net.Socket>;
  /** Whether the rules let `connect` through now, without connecting. Errors: address_denied, dns_failed, connect_timeout. */
  check(host: string, port: number, options: DialOptions): Promise<void>;
  /** `connect` with TLS on it; `timeoutMs` holds for each of the two. Also: certificate_rejected. */
  connectTls(host: string, port: number, options: TlsDialOptions): Promise<tls.TLSSocket>;
  /** Keep-alive agents whose sockets all come from `connect`. */
  agents(options: AgentOptions): { readonly http: http.Agent; readonly https: https.Agent };
}

export type Way = Partial<Pick<Connection, 'allowPrivate' | 'proxy' | 'proxyPassword' | 'via' | 'jump'>>;

/**
 * The owner that a registered connection is dialled for, the addresses that it may reach, its proxy and its jump host.
 * @throws GatewayError unreachable: there is no such jump host
 */
export function onBehalfOf(
  { accountId, allowPrivate, proxy, proxyPassword, via, jump }: Way & Pick<Connection, 'accountId'>,
  { jumps }: { readonly jumps?: Jumps | undefined },
): Pick<DialOptions, 'purpose' | 'owner' | 'allowPrivate' | 'proxy' | 'tunnel'> {
  return {
    purpose: 'connection',
    owner: accountId,
    allowPrivate,
    proxy: proxy === undefined ? undefined : { ...proxy, password: proxyPassword },
    tunnel: via === undefined ? undefined : tunnelTo(via, jump, jumps),
  };
}

function tunnelTo(via: string, jump: SftpConnection | undefined, jumps: Jumps | undefined): Tunnel {
  if (jump === undefined || jumps === undefined) {
    const text = `there is no way through the connection ${via} (via): it is gone, no SFTP connection, switched off, leads in a circle, or more than three jump hosts are on the way`;
    throw new GatewayError('unreachable', text, { step: 'connect' });
  }
  return { name: nameOfJump(jump), connect: (host, port, options) => jumps.connect(jump, host, port, options) };
}

/**
 * What two connections must have in common to share sockets: an account that may reach fewer addresses must not get a
 * session that was opened with another account's rights or through another proxy.
 */
export function wayOf({ allowPrivate, proxy, proxyPassword, via, jump }: Way): readonly string[] {
  return [
    ...(allowPrivate === undefined ? [] : [`allowPrivate ${allowPrivate}`]),
    ...(proxy === undefined ? [] : [`proxy ${JSON.stringify([proxy.url, proxy.username, proxyPassword])}`]),
    ...(via === undefined && jump === undefined ? [] : [`via ${JSON.stringify(jump ?? via, withoutAnnounced)}`]),
  ];
}

/** The keys that a jump host announces, and when, do not change the way. */
const withoutAnnounced = (name: string, value: unknown): unknown => (name === 'announcedKeys' ? undefined : value);

/**
 * One name for a server at `host`, the same for every connection that reaches it by this way: behind another proxy or
 * jump host, an address such as 10.0.0.5 may be another server. No secret is in it, and no slash.
 */
export function serverOf(host: string, way: Way): string {
  const steps = stepsOf(way);
  return steps.length === 0 ? host : `${host} by ${encodeURIComponent(JSON.stringify(steps))}`;
}

/** Whether the server at `host:port` is the same one by every way: it has no private address, and a name with a dot. */
export function isPublicServer(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(name) ? unmasked(ipaddr.parse(name)).range() === 'unicast' : name.includes('.');
}

/** The last one first. A proxy or a jump host may lead each of its users elsewhere. */
function stepsOf({ proxy, via, jump }: Way): readonly string[] {
  return [
    ...(proxy === undefined ? [] : [`${proxy.url} ${proxy.username ?? ''}`]),
    ...(jump === undefined ? [] : [`${jump.host}:${jump.port} ${jump.username}`, ...stepsOf(jump)]),
    ...(via === undefined || jump !== undefined ? [] : [`via ${via}`]),
  ];
}

interface TlsDialOptions extends DialOptions {
  readonly tls?: tls.ConnectionOptions;
}

interface AgentOptions {
  readonly purpose: Purpose;
  /** The account that the socket is dialled for, unless a request names another one (OwnedRequest). */
  readonly owner: string;
  readonly allowPrivate?: boolean | undefined;
  readonly proxy?: Proxy | undefined;
  readonly tunnel?: Tunnel | undefined;
  /**
   * Idle sockets kept. This does not limit those in use: http.Agent counts a socket only once it has been dialled, so a
   * burst exceeds the number. A caller that needs a hard limit bounds its requests (S3: SocketGate).
   */
  readonly maxSockets: number;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly tls?: tls.ConnectionOptions;
}

/**
 * The ciphers of every outgoing TLS connection. No DHE: the server chooses its group, up to 10,000 bits, which blocks
 * the event loop for over a second; the groups of TLS 1.3 are fixed.
 */
export const TLS_CIPHERS = `${tls.DEFAULT_CIPHERS}:!DHE`;

/** The gateway's own listeners; they are never a target of a registered connection, a URL or a webhook. */
type OwnListeners = () => readonly { readonly address: string; readonly port: number }[];

export function createDialer(
  rules: NetworkRules,
  ownListeners: OwnListeners,
  resolveName: Lookup = createResolver(),
  observer: DialObserver = {},
): Dialer {
  const deny = rules.connections.deny.map(parseCidr);
  const allow: Record<Purpose, Cidr[]> = {
    connection: [],
    url: rules.urlFetch.allow.map(parseCidr),
    webhook: rules.webhooks.allow.map(parseCidr),
  };
  const proxied = { allow: rules.proxied?.allow.map(targetOf) ?? [], deny: rules.proxied?.deny.map(targetOf) ?? [] };

  function reasonToDeny({ written, real }: Candidate, port: number, { purpose, ...dial }: CheckedDial) {
    if (dial.isOperators === true) return undefined;
    const allowPrivate = dial.allowPrivate ?? rules.connections.allowPrivate;
    const range = real.range();
    const isIn = (blocks: readonly Cidr[]): boolean =>
      blocks.some((block) => matches(real, block) || matches(written, block));
    // Loopback counts as private: a server on the same machine is a usual set-up, but the gateway's own listener is
    // always denied.
    if (isOwnListener(real, port)) return "this gateway's own address";
    if (isIn(allow[purpose]) || isOwnReceiver(real, port, purpose, dial.owner)) return undefined;
    if (isIn(METADATA)) return 'a metadata address';
    if (purpose !== 'connection') return range === 'unicast' ? undefined : `a ${range} address`;
    if (NEVER.has(range)) return `a ${range} address`;
    if (isIn(deny)) return 'a denied address';
    return range === 'unicast' || allowPrivate ? undefined : `a ${range} address`;
  }

  /**
   * A name behind a proxy is resolved there: only the operator's limits apply to it. Addresses are those of the network
   * that the gateway is in.
   */
  function requireAllowedBehind(host: string, port: number, options: DialOptions): void {
    const target = nameBehind(host);
    const { candidate } = target;
    if (candidate !== undefined && reasonToDeny(candidate, port, options) !== undefined) {
      throw denied(host, [candidate], port, options);
    }
    requireListed(host, target);
  }

  /** A server behind a proxy or a jump host, by the operator's lists. */
  function requireListed(host: string, { name, candidate }: Behind): void {
    if (
      isTarget(proxied.deny, name, candidate) ||
      (proxied.allow.length > 0 && !isTarget(proxied.allow, name, candidate))
    ) {
      throw new GatewayError(
        'address_denied',
        `${host} is no server that the network rules of this gateway allow behind a proxy or a jump host`,
        { step: 'resolve' },
      );
    }
  }

  function isOwnReceiver(real: Address, port: number, purpose: Purpose, owner: string): boolean {
    const { ownReceiver: own } = rules;
    return (
      purpose === 'webhook' &&
      own?.port === port &&
      own.owner === owner &&
      isSameAddress(ipaddr.parse(own.address), real)
    );
  }

  function isOwnListener(address: Address, port: number): boolean {
    return ownListeners().some((own) => {
      if (own.port !== port) return false;
      // A listener on a name could use any address of this machine.
      const listening = ipaddr.isValid(own.address) ? unmasked(ipaddr.parse(own.address)) : undefined;
      if (listening === undefined || listening.range() === 'unspecified') {
        return address.range() === 'loopback' || address.range() === 'unspecified' || isLocalAddress(address);
      }
      return isSameAddress(listening, address);
    });
  }

  async function connect(host: string, port: number, options: DialOptions): Promise<net.Socket> {
    options.signal.throwIfAborted();
    const { proxy, tunnel } = options;
    if (tunnel !== undefined) return connectThroughTunnel(tunnel, host, port, options);
    const own = ownProxyTo(host, port, options);
    const socket = await (proxy !== undefined
      ? connectThrough(proxy, host, port, options)
      : own === undefined
        ? connectDirectly(host, port, options)
        : connectThroughOwn(own, host, port, options));
    readInTurn(socket);
    return socket;
  }

  /** Only the gateway itself reaches its own receiver. */
  function ownProxyTo(host: string, port: number, { purpose, owner }: DialOptions): OwnProxy | undefined {
    if (purpose === 'connection') return undefined;
    const { candidate } = nameBehind(host);
    const isInside = candidate !== undefined && isOwnReceiver(candidate.real, port, purpose, owner);
    return isInside ? undefined : rules.ownProxy;
  }

  /** Its password may be read from elsewhere; account owners, who see the error, neither know nor correct it. */
  async function connectThroughOwn(
    { proxy, secrets }: OwnProxy,
    host: string,
    port: number,
    options: DialOptions,
  ): Promise<net.Socket> {
    try {
      return await withPresentSecrets(secrets, [proxy], options.signal, ([present = proxy]) =>
        connectThrough(present, host, port, options, true),
      );
    } catch (error) {
      if (!hasCode(error, 'login_refused')) throw error;
      const text = `${nameOfProxy(proxy)} gets no valid login from this gateway, whose operator can correct it (network.proxy)`;
      throw new GatewayError('unreachable', text, { step: 'proxy', remote: error.remote, cause: error });
    }
  }

  /** Bytes come in turns of the connection to the jump host. */
  async function connectThroughTunnel(
    tunnel: Tunnel,
    host: string,
    port: number,
    { signal, timeoutMs }: DialOptions,
  ): Promise<net.Socket> {
    requireListed(host, nameBehind(host));
    const socket = await tunnel.connect(host, port, { signal, timeoutMs });
    observer.tunnelled?.(`${host}:${port}`, tunnel.name);
    return socket;
  }

  async function connectThrough(
    proxy: Proxy,
    host: string,
    port: number,
    options: DialOptions,
    isOperators = false,
  ): Promise<net.Socket> {
    requireAllowedBehind(host, port, options);
    const { signal, timeoutMs: ms } = options;
    const own = addressOfProxy(proxy);
    let socket: net.Socket | undefined;
    const late = (): GatewayError => {
      const what = socket === undefined ? 'did not answer' : `did not connect to ${host}:${port}`;
      return connectTimedOut(`${nameOfProxy(proxy)} ${what} within ${ms} ms`, 'proxy');
    };
    try {
      const connected = await withDeadline({ signal, ms, late }, async (limit) => {
        const toProxy = { ...options, signal: limit, isOperators };
        socket = await connectDirectly(own.host, own.port, toProxy).catch((error: unknown) => {
          throw error instanceof GatewayError ? withHop(error, proxy) : error;
        });
        await askProxy(socket, proxy, host, port, limit);
        return socket;
      });
      observer.proxied?.(`${host}:${port}`, nameOfProxy(proxy));
      return connected;
    } catch (error) {
      socket?.on('error', () => undefined).destroy();
      throw error;
    }
  }

  async function connectDirectly(host: string, port: number, options: CheckedDial): Promise<net.Socket> {
    const { signal, timeoutMs, hasWideReads } = options;
    let isResolved = false;
    const late = (): GatewayError =>
      isResolved
        ? connectTimedOut(`${host}:${port} did not answer within ${timeoutMs} ms`, 'connect')
        : notResolved(host, timeoutMs);
    try {
      const socket = await withDeadline({ signal, ms: timeoutMs, late }, async (limit) => {
        const allowed = await resolveAllowed(host, port, options, limit);
        isResolved = true;
        const reachable = allowed.filter(({ text }) => isOfFamily(text, rules.localAddress));
        if (reachable.length === 0) {
          throw new GatewayError(
            'unreachable',
            `${host} has no address of the family of network.localAddress (${rules.localAddress})`,
            { step: 'connect' },
          );
        }
        const addresses = reachable.map(({ text }) => text);
        observer.resolved?.(host, addresses);
        return raceConnects(addresses, port, rules.localAddress, limit, hasWideReads);
      });
      observer.connected?.(socket);
      return socket;
    } catch (error) {
      if (error instanceof GatewayError || signal.aborted) throw error;
      if (isOutOfDescriptors(error)) throw outOfDescriptors(error, 'connect');
      throw new GatewayError('unreachable', `${host}:${port} cannot be reached: ${systemWords(error)}`, {
        step: 'connect',
        cause: error,
      });
    }
  }

  async function check(host: string, port: number, options: DialOptions): Promise<void> {
    if (ownProxyTo(host, port, options) !== undefined) return requireAllowedBehind(host, port, options);
    const { signal, timeoutMs: ms } = options;
    const late = (): GatewayError => notResolved(host, ms);
    await withDeadline({ signal, ms, late }, (limit) => resolveAllowed(host, port, options, limit));
  }

  async function resolveAllowed(
    host: string,
    port: number,
    options: CheckedDial,
    signal: EndSignal,
  ): Promise<Candidate[]> {
    const candidates = await resolve(host, options.owner, signal);
    const allowed = candidates.filter((candidate) => reasonToDeny(candidate, port, options) === undefined);
    if (allowed.length === 0) throw denied(host, candidates, port, options);
    return allowed;
  }

  async function resolve(host: string, owner: string, signal: EndSignal): Promise<Candidate[]> {
    const literal = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
    if (net.isIP(literal) !== 0) return [candidateOf(literal)];
    try {
      // The resolver also accepts odd notations (octal, 0x7f.1); its result is checked like any other answer.
      const found = await orAbort(resolveName(host, { owner, signal: abortSignalOf(signal) }), signal);
      if (found.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
      return found.map(({ address }) => candidateOf(address));
    } catch (error) {
      if (error instanceof GatewayError || signal.aborted) throw error;
      if (isOutOfDescriptors(error)) throw outOfDescriptors(error, 'connect');
      throw new GatewayError('dns_failed', `the name ${host} cannot be resolved: ${systemWords(error)}`, {
        step: 'resolve',
        cause: error,
      });
    }
  }

  function denied(host: string, candidates: readonly Candidate[], port: number, dial: CheckedDial): GatewayError {
    const reasons = new Set(candidates.map((candidate) => reasonToDeny(candidate, port, dial)));
    return new GatewayError(
      'address_denied',
      `${host} is ${[...reasons].join(' and ')}, which the network rules of this gateway do not allow for a ${PURPOSE_WORDS[dial.purpose]}`,
      { step: 'resolve' },
    );
  }

  async function connectTls(host: string, port: number, options: TlsDialOptions): Promise<tls.TLSSocket> {
    const socket = await connect(host, port, options);
    const secured = await secure(socket, { ...options.tls, host }, options.timeoutMs, options.signal);
    observer.secured?.(secured);
    readInTurn(secured);
    return secured;
  }

  function agents(options: AgentOptions): { http: http.Agent; https: https.Agent } {
    const shared = {
      keepAlive: true,
      maxSockets: options.maxSockets,
      maxFreeSockets: options.maxSockets,
      timeout: options.idleTimeoutMs,
    };
    // An agent keeps the socket for the next request, so a dial does not end with the request that caused it.
    const dial = (target: ConnectTarget): DialOptions => ({
      purpose: options.purpose,
      owner: target.owner ?? options.owner,
      allowPrivate: options.allowPrivate,
      proxy: options.proxy,
      tunnel: options.tunnel,
      signal: NEVER_ABORTED,
      timeoutMs: options.connectTimeoutMs,
    });
    const plainAgent = new http.Agent(shared);
    plainAgent.createConnection = (target, done) => {
      const wanted = target as ConnectTarget;
      hand(timed(connect(wanted.host ?? 'localhost', Number(wanted.port), dial(wanted))), done);
      return undefined;
    };
    const secureAgent = new https.Agent({ ...shared, ...options.tls });
    secureAgent.createConnection = (target, done) => {
      const wanted = target as ConnectTarget & tls.ConnectionOptions;
      const host = wanted.host ?? 'localhost';
      const secured = connectTls(host, Number(wanted.port), { ...dial(wanted), tls: { ...wanted, ...options.tls } });
      hand(timed(secured), done);
      return undefined;
    };
    for (const agent of [plainAgent, secureAgent]) limitOverheadOf(agent);
    return { http: plainAgent, https: secureAgent };
  }

  return { connect, check, connectTls, agents };
}

/** What a request may pass to one of our agents, in addition to the options of node:http. */
export interface OwnedRequest {
  readonly owner?: string;
}

interface ConnectTarget extends OwnedRequest {
  readonly host?: string;
  readonly port?: number | string;
}

const PURPOSE_WORDS: Record<Purpose, string> = { connection: 'connection', url: 'url upload', webhook: 'webhook' };
const NEVER_ABORTED = new AbortController().signal;

/** A server behind a proxy or a jump host; `candidate`: its address, if it is given by that. */
interface Behind {
  readonly name: string;
  readonly candidate: Candidate | undefined;
}

function nameBehind(host: string): Behind {
  const name = plainName(host.replace(/^\[(.*)\]$/, '$1'));
  // A name of the proxy's own machine, which may be this one.
  const literal = name === 'localhost' || name.endsWith('.localhost') ? '127.0.0.1' : name;
  // The proxy also reads odd notations (octal, 0x7f.1) as addresses.
  return { name, candidate: ipaddr.isValid(literal) ? candidateOf(literal) : undefined };
}

/** The name as proxies read it: in ASCII and lower case, without dots at its end, of which some remove any number. */
function plainName(text: string): string {
  const name = text.replace(/[.\u3002\uff0e\uff61]+$/, '');
  return (domainToASCII(name) || name).toLowerCase();
}

/** A server behind a proxy, as the operator lists it: a block of addresses, or a name. */
type Target = Cidr | string;

function targetOf(text: string): Target {
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text) ? parseCidr(text) : plainName(text);
}

function isTarget(targets: readonly Target[], name: string, candidate: Candidate | undefined): boolean {
  return targets.some((target) => {
    if (typeof target !== 'string') {
      return candidate !== undefined && [candidate.real, candidate.written].some((one) => matches(one, target));
    }
    return target.startsWith('*.') ? name.endsWith(target.slice(1)) : name === target;
  });
}

/** The same error, whose text says that it is about the proxy. */
function withHop(error: GatewayError, proxy: Proxy): GatewayError {
  return new GatewayError(error.code, `${nameOfProxy(proxy)}: ${error.message}`, { step: 'proxy', cause: error });
}

function connectTimedOut(text: string, step: Step): GatewayError {
  return new GatewayError('connect_timeout', text, { step });
}

function notResolved(host: string, ms: number): GatewayError {
  return connectTimedOut(`the name ${host} could not be resolved within ${ms} ms`, 'resolve');
}

/** Without a fixed outbound address, any family will do. */
function isOfFamily(address: string, localAddress: string): boolean {
  return localAddress === '' || net.isIP(localAddress) === net.isIP(address);
}

function secure(
  socket: net.Socket,
  options: tls.ConnectionOptions,
  ms: number,
  signal: EndSignal,
): Promise<tls.TLSSocket> {
  const host = options.servername ?? options.host ?? '';
  // RFC 6066, 3: the name without a trailing dot, and no addresses.
  const servername = net.isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const secured = withoutEmptyWrites(
    tls.connect({ ciphers: TLS_CIPHERS, ...options, socket, ...(servername === '' ? {} : { servername }) }),
  );
  // The caller that takes the socket listens for its errors; before that, and after the socket is given up, nothing
  // else listens.
  const silence = (): void => undefined;
  secured.on('error', silence);
  if (signal.aborted) secured.destroy();
  const late = (): GatewayError => connectTimedOut(`${host}: TLS was not established within ${ms} ms`, 'connect');
  return waitFor({ signal, ms, late }, (done, fail) => {
    secured.once('secureConnect', () => done(secured));
    secured.once('error', (error: NodeJS.ErrnoException) => fail(tlsFailure(host, error)));
    secured.once('close', () => fail(tlsFailure(host, Object.assign(new Error('closed'), { code: 'ECONNRESET' }))));
    return (error) => (error === undefined ? secured.off('error', silence) : secured.destroy());
  });
}

/** Translates a failed TLS handshake: certificate_rejected, or unreachable if the peer just closed the connection. */
export function tlsFailure(host: string, error: NodeJS.ErrnoException, step: Step = 'connect'): GatewayError {
  const gone = error.code === 'ECONNRESET' || error.code === 'EPIPE';
  return gone
    ? new GatewayError('unreachable', `${host} closed the connection during the TLS handshake`, { step, cause: error })
    : new GatewayError('certificate_rejected', `${host}: TLS was refused: ${error.message}`, { step, cause: error });
}

function hand(dialled: Promise<Duplex>, done?: (error: Error | null, socket: Duplex) => void): void {
  dialled.then(
    (socket) => done?.(null, socket),
    (error: unknown) => done?.(error as Error, undefined as unknown as Duplex),
  );
}

function systemWords(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === undefined ? 'connection failed' : (SYSTEM_WORDS[code] ?? code);
}

const SYSTEM_WORDS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'no such name',
  EAI_AGAIN: 'the name service does not answer',
  EAI_FAIL: 'the name service failed',
  ETIMEDOUT: 'timed out',
};
