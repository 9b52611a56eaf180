import type net from 'node:net';
import ssh2, {
  type AuthenticationType,
  type Client,
  type ConnectConfig,
  type NegotiatedAlgorithms,
  type ParsedKey,
} from 'ssh2';
import { waitFor } from '../../../base/deadline.js';
import { GatewayError, type Step } from '../../../base/errors.js';
import type { SftpConnection } from '../../../connections/connection.js';
import {
  certifies,
  objectionTo,
  readSshCertificate,
  type SshCertificate,
} from '../../../connections/ssh-certificate.js';
import { fingerprintOf } from '../../../connections/ssh-public-key.js';
import type { PoolLimits } from '../../../contract/connection/fields.js';
import type { ProtocolDeps } from '../../protocol.js';
import { onBehalfOf } from '../../dial/dial.js';
import { AnnouncedKeys } from './announced-keys.js';
import { algorithmOffer, familiesOf, hostKeyFamily, type HostKeyFamily } from './algorithms.js';
import { requestWithCertificate } from './certificate-login.js';
import { lookForCertificate } from './host-certificate.js';
import { emptyKinds, ServerOffer } from './server-offer.js';
import { OutgoingPackets, packInPlace } from '../wire/outgoing.js';
import type { SftpMemory } from '../memory.js';
import { usableKey } from '../keys/key-decryption.js';

/** An SSH connection that is logged in. */
export interface Login {
  readonly client: Client;
  readonly socket: net.Socket;
  readonly packets: OutgoingPackets;
  /** When the socket was connected. */
  readonly connectedAt: number;
  /** The server's identification, such as `OpenSSH_9.2p1`. */
  readonly software: string;
  /** The fingerprint of the trusted host key: `SHA256:…`. */
  readonly fingerprint: string;
  /** Its type, such as `ssh-ed25519`. */
  readonly hostKeyAlgorithm: string;
  /** An authority of the connection certifies it. */
  readonly isCertified: boolean;
  /** All agreed ones, for either direction. */
  readonly algorithms: readonly string[];
  readonly announced: AnnouncedKeys;
}

/** On a connection without replies for this long a keep-alive is sent; several unanswered ones end it. */
const KEEPALIVE_MS = 15_000;
const MAX_PROMPT_ROUNDS = 3;
/** Bytes before and with a server's identification; RFC 4253 (4.2) admits lines before it. */
const MAX_GREETING_BYTES = 32_768;
const GREETING_KEPT = 2_048;
const DISCONNECT = { TOO_MANY_CONNECTIONS: 12 } as const;

/**
 * Connects and logs in within `limits.connectTimeoutMs`. Errors: those of the dialer, login_refused,
 * host_key_mismatch, too_many_sessions, unreachable, protocol_error, connect_timeout, or the signal's reason.
 */
export async function logIn(
  connection: SftpConnection,
  limits: PoolLimits,
  deps: ProtocolDeps,
  memory: SftpMemory,
  signal: AbortSignal,
): Promise<Login> {
  const deadline = performance.now() + limits.connectTimeoutMs;
  const { privateKey, passphrase, algorithms } = connection;
  const key =
    privateKey === undefined ? undefined : await usableKey(deps, privateKey, passphrase, limits.connectTimeoutMs);
  signal.throwIfAborted();
  const certificate = certificateOf(connection, key);
  const [empty] = emptyKinds(algorithms);
  if (empty !== undefined) {
    const text = `this build of the gateway supports none of the algorithms.${empty} of the connection`;
    throw new GatewayError('protocol_error', text, { step: 'connect' });
  }
  // The pinned key may be of another family than the one the server prefers, so the other families are also tried.
  const families = familiesOf(algorithms);
  const learned = memory.hostKeyFamily;
  if (learned !== undefined) families.sort((a, b) => Number(b === learned) - Number(a === learned));
  let mismatch: GatewayError | undefined;
  for (;;) {
    const attempt = new LoginAttempt(connection, limits, deps, { key, certificate }, families, memory);
    try {
      const login = await attempt.run(deadline, signal);
      memory.hostKeyFamily = attempt.family;
      return login;
    } catch (error) {
      if (attempt.mismatch === undefined || attempt.family === undefined) throw mismatch ?? error;
      mismatch ??= attempt.mismatch;
      families.splice(families.indexOf(attempt.family), 1);
      if (families.length === 0 || performance.now() >= deadline) throw mismatch;
    }
  }
}

/** The certificate for this key. @throws GatewayError login_refused */
function certificateOf({ certificate }: SftpConnection, key: ParsedKey | undefined): SshCertificate | undefined {
  if (certificate === undefined) return undefined;
  const unusable = (why: string): GatewayError =>
    new GatewayError('login_refused', `the certificate of the connection cannot be used: ${why}`, { step: 'login' });
  if (key === undefined) throw unusable('the connection has no private key');
  try {
    const read = readSshCertificate(certificate);
    if (certifies(read, key.getPublicSSH())) return read;
  } catch (error) {
    throw error instanceof RangeError ? unusable(`it ${error.message}`) : error;
  }
  throw unusable('it is for another key than the private key');
}

interface Limits {
  readonly signal: AbortSignal;
  /** As of performance.now(). */
  readonly deadline: number;
}

interface Proofs {
  readonly key: ParsedKey | undefined;
  readonly certificate: SshCertificate | undefined;
}

/** A way to log in; `name` is its name in error texts. */
interface Offer {
  readonly method: AuthenticationType;
  readonly name: string;
  make(): unknown;
}

class LoginAttempt {
  readonly #connection: SftpConnection;
  readonly #limits: PoolLimits;
  readonly #deps: ProtocolDeps;
  readonly #proofs: Proofs;
  readonly #families: readonly HostKeyFamily[];
  readonly #memory: SftpMemory;
  /** The family of the host key that the server showed. */
  family: HostKeyFamily | undefined;
  /** Why that key was not trusted. */
  mismatch: GatewayError | undefined;
  #software = '';
  /** The server's text before its identification: it may contain the reason to hang up. */
  #greeting = '';
  #trusted: Buffer | undefined;
  #isCertified = false;
  #fingerprint = '';
  #algorithms: readonly string[] = [];
  #step: Step = 'connect';
  #serverOffer: ServerOffer | undefined;
  #accepted: readonly string[] | undefined;
  #passwordExpired = false;
  readonly #tried: string[] = [];

  constructor(
    connection: SftpConnection,
    limits: PoolLimits,
    deps: ProtocolDeps,
    proofs: Proofs,
    families: readonly HostKeyFamily[],
    memory: SftpMemory,
  ) {
    this.#connection = connection;
    this.#limits = limits;
    this.#deps = deps;
    this.#proofs = proofs;
    this.#families = families;
    this.#memory = memory;
  }

  async run(deadline: number, signal: AbortSignal): Promise<Login> {
    const { host, port } = this.#connection;
    const timeoutMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const socket = await this.#deps.dialer.connect(host, port, {
      ...onBehalfOf(this.#connection, this.#deps),
      signal,
      timeoutMs,
    });
    const connectedAt = performance.now();
    const client = new ssh2.Client();
    const packets = new OutgoingPackets(socket);
    let announced!: AnnouncedKeys;
    // Our limit covers everything up to the login: endless greetings, a handshake that hangs, a slow look-up of trust.
    const limits = { signal, ms: Math.max(1, deadline - performance.now()), late: () => this.#timeout() };
    try {
      await waitFor<void>(limits, (done, fail) => {
        client.once('ready', () => done());
        client.on('error', (error) => fail(this.#translate(error)));
        client.once('close', () => {
          fail(
            this.#translate(Object.assign(new Error('the server closed the connection'), { level: 'client-socket' })),
          );
        });
        client.on('change password', () => {
          this.#passwordExpired = true;
          fail(this.#refused('the password has expired: the server demands a new one'));
        });
        client.on('handshake', (negotiated) => {
          packInPlace(client, negotiated.cs.cipher, packets);
          this.#step = 'login';
          this.#deps.log('ssh handshake', { host, port, software: this.#software, negotiated });
          this.#algorithms = algorithmsOf(negotiated);
          this.#deps.observer?.handshaken?.(this.#software, this.#algorithms);
        });
        client.connect(this.#config(socket, client, { signal, deadline }));
        this.#serverOffer = new ServerOffer(client);
        announced = new AnnouncedKeys(client);
        this.#listenToGreeting(socket, fail);
      });
    } catch (error) {
      client.on('error', () => undefined);
      client.destroy();
      socket.destroy();
      throw error;
    }
    return {
      client,
      socket,
      packets,
      connectedAt,
      software: this.#software,
      announced,
      fingerprint: this.#fingerprint,
      hostKeyAlgorithm: algorithmOf(this.#trusted),
      isCertified: this.#isCertified,
      algorithms: this.#algorithms,
    };
  }

  #config(socket: net.Socket, client: Client, limits: Limits): ConnectConfig {
    return {
      sock: socket,
      username: this.#connection.username,
      algorithms: algorithmOffer(this.#connection.algorithms, this.#families),
      readyTimeout: 0,
      keepaliveInterval: KEEPALIVE_MS,
      // An operation that may wait longer must give up itself: as a stall, in its own time.
      keepaliveCountMax: Math.max(3, Math.ceil(this.#limits.stallTimeoutMs / KEEPALIVE_MS) + 1),
      hostVerifier: (hostKey: Buffer, verify: (trusted: boolean) => void): void =>
        this.#verifyHost(hostKey, verify, limits),
      authHandler: this.#authentication(client),
    };
  }

  /** Watches until the identification's line has ended: ssh2 would wait for that as long as bytes arrive. */
  #listenToGreeting(socket: net.Socket, fail: (error: GatewayError) => void): void {
    const { host, port } = this.#connection;
    let received = 0;
    let tail = '';
    const listen = (bytes: Buffer): void => {
      received += bytes.length;
      const text = bytes.toString('latin1', 0, MAX_GREETING_BYTES);
      this.#greeting = (this.#greeting + text).slice(0, GREETING_KEPT);
      tail += text;
      const identification = /^SSH-\d\.\d+-(\S*)/m.exec(tail);
      if (identification !== null && tail.includes('\n', identification.index)) {
        this.#software = (identification[1] ?? '').slice(0, 255);
        socket.off('data', listen);
      } else if (received > MAX_GREETING_BYTES) {
        socket.off('data', listen);
        const shown = this.#greeting.trim().slice(0, 200);
        const text = `${host}:${port} does not speak SSH: ${received} bytes without an identification, which begin "${shown}"`;
        fail(new GatewayError('protocol_error', text, { step: 'connect' }));
      } else {
        tail = tail.slice(-GREETING_KEPT);
      }
    };
    socket.on('data', listen);
  }

  #verifyHost(hostKey: Buffer, verify: (trusted: boolean) => void, limits: Limits): void {
    // Each renewal of the session keys shows the host key again; it must be the trusted one.
    if (this.#trusted !== undefined) {
      verify(this.#trusted.equals(hostKey));
      return;
    }
    this.family = hostKeyFamily(hostKey);
    const fingerprint = fingerprintOf(hostKey);
    this.#checkHostKey(hostKey, fingerprint, limits).then(
      () => {
        this.#trusted = hostKey;
        this.#fingerprint = fingerprint;
        verify(true);
      },
      (error: unknown) => {
        this.mismatch =
          error instanceof GatewayError
            ? error
            : new GatewayError('internal', 'the host key could not be checked', { step: 'login', cause: error });
        verify(false);
      },
    );
  }

  async #checkHostKey(hostKey: Buffer, fingerprint: string, { signal, deadline }: Limits): Promise<void> {
    const { hostCa, hostKeys } = this.#connection;
    const isNeeded = hostCa.length > 0 && !hostKeys.includes(fingerprint);
    const asking = { deps: this.#deps, memory: this.#memory, signal, deadline };
    const certified = isNeeded ? await lookForCertificate(this.#connection, hostKey, asking) : undefined;
    await this.#deps.trust.checkHostKey(this.#connection, fingerprint, certified);
    this.#isCertified = certified !== undefined && 'certificate' in certified;
  }

  /**
   * Offers the certificate first, then the key, then the password, then the password as the answer to prompts; each once,
   * and once more after a partial success (RFC 4252, 5.1), because servers that demand several methods may insist on
   * their order.
   */
  #authentication(client: Client): (left: AuthenticationType[] | null, partial: boolean | null) => unknown {
    const { username } = this.#connection;
    const succeeded = new Set<AuthenticationType>();
    let untried = this.#offers(client);
    let last: AuthenticationType | undefined;
    // A certificate cannot be the first attempt (certificate-login.ts).
    if (this.#proofs.certificate !== undefined || untried.length === 0) {
      untried.unshift({ method: 'none', name: 'none', make: () => ({ type: 'none', username }) });
    }
    return (left, partial) => {
      if (left !== null) this.#accepted = left;
      if (partial === true && last !== undefined) {
        succeeded.add(last);
        untried = this.#offers(client).filter(({ method }) => !succeeded.has(method));
      }
      const next = untried.findIndex(({ method }) => left === null || left.includes(method));
      const [offer] = next === -1 ? [] : untried.splice(next, 1);
      if (offer === undefined) return false;
      last = offer.method;
      if (offer.method !== 'none' || untried.length === 0) this.#tried.push(offer.name);
      return offer.make();
    };
  }

  #offers(client: Client): Offer[] {
    const { username, password } = this.#connection;
    const { key, certificate } = this.#proofs;
    const offers: Offer[] = [];
    if (key !== undefined && certificate !== undefined) {
      const make = (): void => requestWithCertificate(client, username, key, certificate);
      offers.push({ method: 'publickey', name: 'publickey with the certificate', make });
    }
    if (key !== undefined) {
      offers.push({ method: 'publickey', name: 'publickey', make: () => ({ type: 'publickey', username, key }) });
    }
    if (password !== undefined) {
      offers.push({ method: 'password', name: 'password', make: () => ({ type: 'password', username, password }) });
      const prompt = answerPrompts(password);
      const make = (): unknown => ({ type: 'keyboard-interactive', username, prompt });
      offers.push({ method: 'keyboard-interactive', name: 'keyboard-interactive', make });
    }
    return offers;
  }

  #timeout(): GatewayError {
    const { host, port } = this.#connection;
    const what = this.#step === 'login' ? 'did not finish the login' : 'did not finish the SSH handshake';
    return new GatewayError('connect_timeout', `${host}:${port} ${what} within ${this.#limits.connectTimeoutMs} ms`, {
      step: this.#step,
    });
  }

  #refused(why: string, remote?: string): GatewayError {
    const { host, port, username } = this.#connection;
    return new GatewayError('login_refused', `${host}:${port} refused the login of ${username}: ${why}`, {
      step: 'login',
      remote: remote === undefined ? undefined : { text: remote },
    });
  }

  /** What is known to be wrong with the certificate; the server says only that it refuses. */
  #doubts(): string {
    const { certificate } = this.#proofs;
    if (certificate === undefined) return '';
    const { criticalOptions } = certificate;
    const objection = objectionTo(certificate, this.#connection.username);
    if (objection !== undefined) return `; the certificate: ${objection}`;
    return criticalOptions.length === 0 ? '' : `; the certificate is restricted by ${criticalOptions.join(', ')}`;
  }

  /**
   * Translates ssh2's errors and disconnect reasons to GatewayErrors. Their texts come from ssh2 or the server and
   * contain no secret.
   */
  #translate(error: Error & { readonly level?: string; readonly code?: unknown }): GatewayError {
    if (this.mismatch !== undefined) return this.mismatch;
    const { host, port } = this.#connection;
    const step = this.#step;
    const failure = (code: 'too_many_sessions' | 'unreachable' | 'protocol_error', text: string): GatewayError =>
      new GatewayError(code, `${host}:${port} ${text}`, { step, cause: error });
    const shown = this.#software === '' ? this.#greeting.trim().slice(0, 200) : '';

    if (this.#passwordExpired) return this.#refused('the password has expired');
    if (
      error.code === DISCONNECT.TOO_MANY_CONNECTIONS ||
      /maxstartups|too many (open )?(connections|sessions|users)/i.test(shown)
    ) {
      return failure('too_many_sessions', `admits no further connection: ${shown || error.message}`);
    }
    if (error.level === 'client-authentication') {
      const accepts = this.#accepted?.length ? `; the server accepts ${this.#accepted.join(', ')}` : '';
      return this.#refused(`tried ${this.#tried.join(', ') || 'nothing'}${accepts}${this.#doubts()}`);
    }
    if (typeof error.code === 'number' && step === 'login') return this.#refused('the server hung up', error.message);
    if (/no matching/i.test(error.message)) {
      const why = this.#serverOffer?.mismatch(this.#connection.algorithms) ?? error.message;
      return failure('protocol_error', `shares no algorithm with the gateway: ${why}`);
    }
    if (shown !== '') return failure('protocol_error', `does not speak SSH: it said "${shown}"`);
    if (error.level === 'protocol' || error.level === 'handshake') {
      return error.message.startsWith('Connection lost')
        ? failure('unreachable', 'closed the connection before the handshake')
        : failure('protocol_error', `broke off the SSH handshake: ${error.message}`);
    }
    const stage = step === 'login' ? 'login' : 'SSH handshake';
    // An error of its parser about impossible packets is the only error of ssh2 without a level.
    return error.level === undefined
      ? failure('protocol_error', `broke the protocol during the ${stage}: ${error.message}`)
      : failure('unreachable', `broke off the ${stage}: ${error.message}`);
  }
}

function algorithmsOf({ kex, serverHostKey, cs, sc }: NegotiatedAlgorithms): readonly string[] {
  const names: string[] = [kex, serverHostKey];
  for (const { cipher, mac, compress } of [cs, sc]) names.push(cipher, mac, compress);
  return [...new Set(names)].filter((name) => name !== '');
}

type Prompt = (
  name: string,
  instructions: string,
  language: string,
  prompts: readonly { readonly prompt: string; readonly echo?: boolean }[],
  finish: (answers: string[]) => void,
) => void;

/** Only hidden prompts get the password; a server that asks again gets nothing more. */
function answerPrompts(password: string): Prompt {
  let rounds = 0;
  return (_name, _instructions, _language, prompts, finish) => {
    rounds += 1;
    finish(prompts.map(({ echo }) => (echo === true || rounds > MAX_PROMPT_ROUNDS ? '' : password)));
  };
}

/** A key begins with the name of its algorithm (RFC 4253, 6.6). */
function algorithmOf(hostKey: Buffer | undefined): string {
  if (hostKey === undefined || hostKey.length < 4) return '';
  return hostKey.toString('latin1', 4, 4 + Math.min(hostKey.readUInt32BE(0), 64));
}
