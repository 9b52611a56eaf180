/**
 * Tests a connection step by step, with the real protocol code and a separate login. The steps are reported by the
 * observer of the session and by the host key check.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { withDeadline } from '../../base/deadline.js';
import { GatewayError, hasCode, toGatewayError } from '../../base/errors.js';
import type { Connection, SftpConnection } from '../../connections/connection.js';
import { nameAndEnd } from '../../connections/ssh-certificate.js';
import { advice, type AdviceCode } from '../../contract/advice.js';
import { definitionOf } from '../../contract/connection/types.js';
import { temporaryName } from '../../operations/names.js';
import type { Dialer } from '../../remotes/dial/dial.js';
import { joinPath, parseRemotePath, type RemotePath, ROOT } from '../../remotes/path.js';
import type { OperatorLimits } from '../../remotes/pool-limits.js';
import type { ProtocolDeps, SessionObserver, Tuning } from '../../remotes/protocol.js';
import { createRemotes } from '../../remotes/registry.js';
import type { Leftovers } from '../../remotes/leftovers.js';
import type { Remote } from '../../remotes/remote.js';
import type { PresentSecrets } from '../../remotes/renewed-login.js';
import { type Certified, judgeHostKey } from '../../remotes/trust.js';
import { hasRights, probeRights } from './rights-probe.js';
import { limitsDetail, objectDetail } from './step-details.js';
import type { StepReport, TestReport } from './test-report.js';

interface TesterOptions {
  /** A dialler with the gateway's own network rules that reports to the observer. */
  readonly dialer: (observer: SessionObserver) => Dialer;
  readonly limits: OperatorLimits;
  readonly tuning: Tuning;
  readonly poolBudgets?: ProtocolDeps['budgets'];
  readonly secrets?: PresentSecrets;
  readonly env?: ProtocolDeps['env'];
}

interface TestOptions {
  /** Also writes, renames and deletes a file. */
  readonly probe: boolean;
  readonly signal: AbortSignal;
}

type StepName = StepReport['name'];

const TEST_MS = 60_000;
const TESTS_PER_MINUTE = 30;
const MAX_COUNTED = 1000;
const SIGNED = 'the request was signed and accepted';
const PROBE_BYTES = Buffer.from('This file shows that the connection can be written to. It may be deleted.\n');

export class ConnectionTester {
  readonly #options: TesterOptions;
  readonly #rate = new RateLimiterMemory({ points: TESTS_PER_MINUTE, duration: 60 });

  constructor(options: TesterOptions) {
    this.#options = options;
  }

  /** Never rejects because of the server: a failed step is a result. @throws GatewayError rate_limited */
  async test(connection: Connection, { probe, signal }: TestOptions): Promise<TestReport> {
    await this.#takeTurn(connection.accountId);
    const testedAt = new Date();
    const run = new TestRun(connection, probe);
    await this.#run(connection, run, signal, (remote) => run.work(remote));
    return { testedAt, ...run.report() };
  }

  /** The host keys that the server presents now, one of each type; without a login. */
  async hostKeys(connection: Connection, signal: AbortSignal): Promise<readonly string[]> {
    await this.#takeTurn(connection.accountId);
    const run = new TestRun(connection, false);
    const shown: string[] = [];
    run.onHostKey = (fingerprint) => {
      shown.push(fingerprint);
      throw new GatewayError('host_key_mismatch', 'only looking', { step: 'login' });
    };
    await this.#run(connection, run, signal, async () => undefined);
    if (shown.length === 0 && run.failure !== undefined) throw run.failure;
    return shown;
  }

  async #takeTurn(accountId: string): Promise<void> {
    try {
      await this.#rate.consume(accountId);
    } catch {
      throw new GatewayError('rate_limited', `more than ${TESTS_PER_MINUTE} tests of connections in a minute`, {
        step: 'request',
        retryAfterMs: 60_000,
      });
    }
  }

  async #run(
    connection: Connection,
    run: TestRun,
    client: AbortSignal,
    work: (remote: Remote) => Promise<void>,
  ): Promise<void> {
    const dialer = this.#options.dialer(run.observer);
    // Separate remotes: a session of the gateway's pools would hide whether a login works.
    const remotes = createRemotes({
      dialer,
      limits: this.#options.limits,
      tuning: this.#options.tuning,
      ...(this.#options.poolBudgets === undefined ? {} : { budgets: this.#options.poolBudgets }),
      ...(this.#options.secrets === undefined ? {} : { secrets: this.#options.secrets }),
      ...(this.#options.env === undefined ? {} : { env: this.#options.env }),
      trust: { checkHostKey: async (shown, fingerprint, certified) => run.hostKeyShown(shown, fingerprint, certified) },
      observer: run.observer,
      log: () => undefined,
      warn: () => undefined,
    });
    try {
      // A test pins nothing: the protocol must ask `trust` about every key, even if one is pinned.
      const unpinned: Connection = 'hostKeys' in connection ? { ...connection, hostKeys: [] } : connection;
      const late = (): GatewayError =>
        new GatewayError('command_timeout', `the test took longer than ${TEST_MS / 1000} s`);
      await withDeadline({ signal: client, ms: TEST_MS, late }, (signal) =>
        remotes.use(unpinned, { signal, leftovers: () => NO_LEFTOVERS }, work),
      );
    } catch (error) {
      run.failed(toGatewayError(error));
    } finally {
      remotes.close();
    }
  }
}

/** The progress of one test: the time of each step begins at the end of the step before. */
class TestRun {
  readonly #connection: Connection;
  failure: GatewayError | undefined;
  onHostKey: ((fingerprint: string) => void) | undefined;
  readonly observer: SessionObserver = {
    resolved: (host, addresses) =>
      this.#done('resolve', host === addresses[0] ? host : `${host} is ${addresses.join(', ')}`),
    connected: (socket) => this.#done('connect', `${socket.remoteAddress ?? ''} port ${socket.remotePort ?? ''}`),
    proxied: (target, proxy) => this.#done('proxy', `${target} through ${proxy}`),
    tunnelled: (target, jump) => this.#done('jump_host', `${target} through ${jump}`),
    identified: (identity) => this.#done('identity', identity),
    secured: (socket) => this.#certificateShown(socket),
    handshaken: (software, algorithms) => (this.#facts = { software, algorithms }),
  };
  readonly #isObjectStore: boolean;
  readonly #order: readonly StepName[];
  readonly #results: StepReport[] = [];
  readonly #startedAt = performance.now();
  #stepStartedAt = this.#startedAt;
  #hostKey: TestReport['hostKey'] = null;
  #certificate: TestReport['certificate'] = null;
  #facts: Record<string, unknown> = {};
  #card: Record<string, unknown> | null = null;

  constructor(connection: Connection, probe: boolean) {
    this.#connection = connection;

    const { can, hasCertificate } = definitionOf(connection);
    this.#isObjectStore = can.isObjectStore;
    const secure: StepName[] = can.hostKeys ? ['host_key'] : hasCertificate({ ...connection }) ? ['certificate'] : [];
    const rights: StepName[] = hasRights(connection) ? ['rights'] : [];
    const probing: StepName[] = probe ? ['write', ...rights, 'rename', 'delete'] : [];
    const hops = hopsOf(connection);
    const isIssued = connection.type === 's3' && (connection.credentials !== 'static' || connection.role !== undefined);
    const first: StepName[] = isIssued ? ['identity'] : [];
    const limits = limitsDetail(connection, Date.now());
    if (limits !== undefined) {
      first.unshift('limits');
      this.#results.push({ name: 'limits', status: 'ok', durationMs: 0, detail: limits });
    }
    this.#order = [...first, 'resolve', 'connect', ...hops, ...secure, 'login', 'list', ...probing];
  }

  /** @throws GatewayError host_key_mismatch */
  hostKeyShown(shown: Connection, fingerprint: string, certified?: Certified): void {
    // The key of a jump host is learned by operations, and only compared here.
    if (shown.id !== this.#connection.id) return void judgeHostKey(shown, fingerprint, certified);
    this.onHostKey?.(fingerprint);
    // It stays if the judgement throws.
    this.#hostKey ??= { fingerprint, state: 'mismatch' };
    const state = judgeHostKey(this.#connection, fingerprint, certified);
    this.#hostKey = { fingerprint, state };
    const how = {
      new: 'not pinned yet',
      pinned: 'pinned',
      certified:
        certified !== undefined && 'certificate' in certified ? `certified, ${nameAndEnd(certified.certificate)}` : '',
    };
    this.#done('host_key', `${fingerprint} (${how[state]})`);
  }

  #certificateShown(socket: TLSSocket): void {
    if (this.#certificate !== null || this.#isAtIssuer) return;
    const { subject, issuer, valid_to: until, fingerprint256 } = socket.getPeerCertificate();
    const validTo = new Date(until).toISOString();
    this.#certificate = {
      subject: nameOf(subject),
      issuer: nameOf(issuer),
      validTo,
      fingerprint: fingerprint256,
      protocol: socket.getProtocol() ?? '',
    };
    const checked = socket.authorized ? '' : ', not verified (tlsVerify is off)';
    this.#done('certificate', `${this.#certificate.subject}, until ${validTo}${checked}`);
  }

  async work(remote: Remote): Promise<void> {
    // An object store has no login: the first answer to a signed request proves the credentials.
    if (!this.#isObjectStore) this.#done('login', 'logged in');
    const home = await remote.home();
    const folder = this.#connection.defaultPath;
    const path = folder === undefined ? home : parseRemotePath(folder, ROOT, 'defaultPath');
    let entries = 0;
    for await (const batch of remote.list(path)) {
      entries += batch.length;
      if (entries >= MAX_COUNTED) break;
    }
    this.#done('login', SIGNED);
    const count =
      entries >= MAX_COUNTED ? `${MAX_COUNTED} entries or more` : `${entries} ${entries === 1 ? 'entry' : 'entries'}`;
    this.#done('list', `${path}: ${count}`);
    const keep = (): void => {
      const { moveOnto, exclusiveCreate, timeResolutionMs } = remote.can;
      this.#card = {
        ...this.#facts,
        ...remote.facts,
        home,
        moveOnto,
        exclusiveCreate,
        timeResolutionMs,
        canAppend: remote.append !== undefined,
        canExec: remote.exec !== undefined,
        canCopy: remote.copyFrom !== undefined,
        testedAt: new Date(),
      };
    };
    keep();
    if (this.#order.includes('write')) await this.#probe(remote, path);
    keep();
  }

  failed(error: GatewayError): void {
    // An object store whose error is about the bucket has accepted the signature.
    const isBeyondLogin = hasCode(error, 'remote_failure', 'not_found', 'permission_denied', 'not_a_folder');
    if (this.#isObjectStore && isBeyondLogin) this.#done('login', SIGNED);
    const next = this.#order.find((name) => !this.#isDone(name));
    if (next === undefined || this.failure !== undefined) return;
    this.failure = error;
    this.#mark(next, error);
  }

  report(): Omit<TestReport, 'testedAt'> {
    const results = [...this.#results];
    const steps = this.#order.map((name): StepReport => {
      const at = results.findIndex((result) => result.name === name);
      return (at === -1 ? undefined : results.splice(at, 1)[0]) ?? { name, status: 'skipped' };
    });
    return {
      isOk: steps.every(({ status }) => status === 'ok'),
      durationMs: Math.round(performance.now() - this.#startedAt),
      steps,
      hostKey: this.#hostKey,
      certificate: this.#certificate,
      card: this.#card,
    };
  }

  async #probe(remote: Remote, folder: RemotePath): Promise<void> {
    const name = `ftg-test-${randomBytes(6).toString('hex')}`;
    const [first, second] = [joinPath(folder, `${name}.txt`), joinPath(folder, `${name}-renamed.txt`)];
    let existing: RemotePath | undefined;
    try {
      const writer = await remote.write(first, { size: PROBE_BYTES.length });
      try {
        await pipeline(Readable.from([PROBE_BYTES], { objectMode: false }), writer);
        await writer.commit({ size: PROBE_BYTES.length });
      } catch (error) {
        await writer.abort(toGatewayError(error));
        throw error;
      }
      existing = first;
      const asked = objectDetail(this.#connection);
      this.#done('write', `${first}, ${PROBE_BYTES.length} bytes${asked === '' ? '' : `, with ${asked}`}`);
      if (this.#order.includes('rights')) {
        const made = { file: first, folder: joinPath(folder, `${name}-folder`) };
        this.#done('rights', await probeRights(remote, this.#connection, made));
      }
      await remote.move(first, second, { replace: false });
      existing = second;
      this.#done('rename', second);
      await remote.remove(second);
      existing = undefined;
      this.#done('delete', second);
    } catch (error) {
      if (existing !== undefined) await remote.remove(existing).catch(() => undefined);
      throw error;
    }
  }

  #done(name: StepName, detail: string): void {
    // Data connections and further sockets report the same steps again.
    if (!this.#order.includes(name) || this.#isDone(name)) return;
    if (this.#results.some((result) => result.name === name && result.detail === detail)) return;
    if (name !== 'identity' && this.#isAtIssuer && !this.#isOfWay(name)) return;
    this.#results.push({ name, status: 'ok', durationMs: this.#lap(), detail });
  }

  /** Whether the sockets lead to the service that issues the keys: they do until it has. */
  get #isAtIssuer(): boolean {
    return this.#order.includes('identity') && !this.#isDone('identity');
  }

  #isDone(name: StepName): boolean {
    return this.#missing(name) === 0;
  }

  /** How often the step is still to be done: `jump_host` is one of each jump host. */
  #missing(name: StepName): number {
    const times = (list: readonly StepName[]): number => list.filter((one) => one === name).length;
    return times(this.#order) - times(this.#results.map((result) => result.name));
  }

  /** Whether it is a step to the last jump host: the issuer of the keys and the store are reached from there. */
  #isOfWay(name: StepName): boolean {
    if (this.#connection.jump === undefined) return false;
    return name === 'jump_host' ? this.#missing(name) > 1 : ['resolve', 'connect', 'proxy'].includes(name);
  }

  #mark(name: StepName, error: GatewayError): void {
    const adviceCode = adviceFor(name, error, this.#connection);
    this.#results.push({
      name,
      status: 'failed',
      durationMs: this.#lap(),
      error: error.clientText,
      code: error.code,
      advice: advice[adviceCode],
      adviceCode,
    });
  }

  #lap(): number {
    const now = performance.now();
    const lap = Math.round(now - this.#stepStartedAt);
    this.#stepStartedAt = now;
    return lap;
  }
}

/** The steps of its way. Behind jump hosts only the one that the gateway itself connects to uses its proxy. */
function hopsOf(connection: Connection): readonly StepName[] {
  const jumps: SftpConnection[] = [];
  for (let at = connection.jump; at !== undefined; at = at.jump) jumps.push(at);
  const { proxy } = jumps.at(-1) ?? connection;
  return [...(proxy === undefined ? [] : (['proxy'] as const)), ...jumps.map(() => 'jump_host' as const)];
}

/** A test of an unstored connection cannot note what it may leave behind; it cleans up after itself. */
const NO_LEFTOVERS: Leftovers = {
  temporaryName: (name) => temporaryName('test', name),
  expect: async () => undefined,
  expectMultipart: async () => ({ done: () => undefined, abortLater: () => undefined }),
  expectAside: async () => ({ done: () => undefined, settleLater: () => undefined }),
  removeLater: () => undefined,
};

function nameOf(entity: Readonly<Record<string, string | string[] | undefined>>): string {
  return [entity['CN'] ?? entity['O'] ?? ''].flat()[0] ?? '';
}

function adviceFor(step: StepName, error: GatewayError, connection: Connection): AdviceCode {
  if (step === 'identity') return 'no_identity';
  const ofType = definitionOf(connection).advice?.(error);
  if (ofType !== undefined) return ofType;
  if (error.code === 'remote_failure' && error.step === 'publish') return 'no_rename';
  return isAdvice(error.code) ? error.code : 'other';
}

const isAdvice = (code: string): code is AdviceCode => Object.hasOwn(advice, code);
