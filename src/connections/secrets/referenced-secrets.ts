/**
 * The secrets of connections, and of the gateway's own proxy, that gateway.yaml names by reference. They exist only in
 * memory: each event loop reads them at first use, every few minutes, and after a refused login.
 */
import { GatewayError } from '../../base/errors.js';
import { Periodic } from '../../base/periodic.js';
import { MINUTE_MS } from '../../contract/units.js';
import type { Referring, SecretName, SecretValues } from '../connection.js';
import { ReferencedValue } from './referenced-value.js';
import { unreadable } from './unreadable.js';

type Log = (level: 'info' | 'warn', message: string, facts: Record<string, unknown>) => void;

/** Reads the secret that a reference leads to. @throws GatewayError whose text follows the reference */
export type ReadSecret = (reference: string) => Promise<string>;

interface Options {
  readonly read: ReadSecret;
  readonly refreshMinutes: number;
  /** The least time between two reads of one secret; absent = a second. */
  readonly betweenReadsMs?: number;
  /** The references of the configuration: they are read at the start, so that the log shows mistakes at once. */
  readonly configured: readonly string[];
  readonly log: Log;
}

/** A wrong password under load must not become a load on the source of the secret. */
const BETWEEN_READS_MS = 1_000;

export class ReferencedSecrets {
  readonly #options: Options;
  readonly #values = new Map<string, ReferencedValue>();
  readonly #refreshing: Periodic;
  /** The last copy of each that was made with other secrets. */
  readonly #renewed = new WeakMap<Referring, Referring>();

  constructor(options: Options) {
    this.#options = options;
    this.#refreshing = new Periodic(() => this.#refresh(), options.refreshMinutes * MINUTE_MS);
  }

  /** A secret that cannot be read is a warning: other connections need not wait for it. */
  start(): void {
    for (const reference of this.#options.configured) void this.#valueOf(reference).renew();
    this.#refreshing.start();
  }

  async stop(): Promise<void> {
    await this.#refreshing.stop();
  }

  /** The connection with the secrets as they are known now; the same object if nothing differs. */
  known<C extends Referring>(connection: C): C {
    const { jump } = connection;
    const values = { ...this.#valuesOf(connection), ...(jump === undefined ? {} : { jump: this.known(jump) }) };
    if (hasThese(connection, values)) return connection;
    const former = this.#renewed.get(connection) as C | undefined;
    if (former !== undefined && hasThese(former, values)) return former;
    const renewed: C = { ...connection, ...values };
    this.#renewed.set(connection, renewed);
    return renewed;
  }

  /** The same, after secrets were read that are not known yet. @throws GatewayError login_refused: one is missing */
  async present<C extends Referring>(connection: C): Promise<C> {
    const values = this.#of(connection).map(({ value }) => value);
    await Promise.all(values.filter(({ value }) => value === undefined).map((value) => value.renew()));
    for (const { name, value } of this.#of(connection)) {
      if (value.value === undefined) throw unreadable(wordsOf(name, value));
    }
    return this.known(connection);
  }

  /**
   * The same, after a login with its secrets was refused: all of them were read again, unless newer ones are known
   * already.
   */
  async renewed<C extends Referring>(connection: C): Promise<C> {
    const newer = this.known(connection);
    if (newer !== connection) return newer;
    await Promise.all(this.#of(connection).map(({ value }) => value.renew()));
    return this.known(connection);
  }

  /** The error of a refused login, with the references that its secrets came from. */
  explained(refused: GatewayError, connections: readonly Referring[]): GatewayError {
    const sources = connections.flatMap((connection) => this.#of(connection));
    if (sources.length === 0) return refused;
    const { code, message, step, remote } = refused;
    const words = sources.map(({ name, value }) => wordsOf(name, value)).join('; ');
    return new GatewayError(code, `${message}; ${words}`, {
      ...(step === undefined ? {} : { step }),
      remote,
      cause: refused,
    });
  }

  async #refresh(): Promise<void> {
    await Promise.all([...this.#values.values()].map((value) => value.renew()));
  }

  /** Its own secrets, and those of the jump hosts on its way. */
  #of({ references = {}, jump }: Referring): readonly NamedValue[] {
    const own = Object.entries(references).map(([name, reference]) => ({ name, value: this.#valueOf(reference) }));
    const ofJump = jump === undefined ? [] : this.#of(jump);
    return [...own, ...ofJump.map(({ name, value }) => ({ name: `${jump?.id}.${name}`, value }))];
  }

  #valuesOf({ references = {} }: Referring): SecretValues {
    const known = Object.entries(references).map(
      ([name, reference]) => [name, this.#valueOf(reference).value] as const,
    );
    const values: Partial<Record<SecretName, string>> = Object.fromEntries(
      known.filter(([, value]) => value !== undefined),
    );
    return values;
  }

  #valueOf(reference: string): ReferencedValue {
    const known = this.#values.get(reference);
    if (known !== undefined) return known;
    const value = new ReferencedValue(reference, {
      betweenMs: this.#options.betweenReadsMs ?? BETWEEN_READS_MS,
      read: () => this.#options.read(reference),
      changed: ({ problem }, before) => this.#report(reference, problem, before.value === undefined),
    });
    this.#values.set(reference, value);
    return value;
  }

  #report(reference: string, problem: string | undefined, isFirst: boolean): void {
    const { log } = this.#options;
    if (problem !== undefined) log('warn', 'a secret of a connection cannot be read', { reference, problem });
    else if (!isFirst) log('info', 'a secret of a connection was read again', { reference });
  }
}

interface NamedValue {
  readonly name: string;
  readonly value: ReferencedValue;
}

function hasThese(connection: Referring, values: object): boolean {
  const held: Readonly<Record<string, unknown>> = { ...connection };
  return Object.entries(values).every(([name, value]) => held[name] === value);
}

function wordsOf(name: string, { reference, problem }: ReferencedValue): string {
  const source = `${name} is read from ${reference}`;
  return problem === undefined ? source : `${source}, which ${problem}`;
}
