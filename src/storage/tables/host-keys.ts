/** Host keys that servers announce: they wait, and are accepted or rejected by their owner or by the rule. */
import { refusal } from '../../base/errors.js';
import type { Connection } from '../../connections/connection.js';
import type { HostKey } from '../../connections/host-keys.js';
import type { AuditAction } from '../../contract/audit.js';
import { MAX_HOST_KEYS } from '../../contract/connection/fields.js';
import type { Database } from '../postgres/database.js';
import type { Transaction } from '../postgres/sql.js';
import type { Log } from '../startup.js';
import {
  knownKeys,
  type ListedHostKey,
  listAnnounced,
  noteSeen,
  removeAnnounced,
  setRejected,
  withdrawOthers,
} from './announced-host-keys.js';
import { type Actor, recordAudit } from './audit-log.js';
import { type ManagedConnection, setTrustedKeys } from './connections.js';

/** Keys of one connection, including the rejected ones. */
const MOST_KNOWN = 32;

interface Trusting {
  readonly name: string;
  readonly hostKeys: readonly string[];
  readonly rotation: string | null;
}

export class HostKeys {
  readonly #database: Database;
  readonly #connections: { forgetAll(): void };
  readonly #log: Log;

  constructor(database: Database, connections: { forgetAll(): void }, log: Log) {
    this.#database = database;
    this.#connections = connections;
    this.#log = log;
  }

  /**
   * Stores keys that the server of a trusted key, `shown`, has announced and proven. Keys of the first announcement
   * need no decision: they came with the trusted one. Withdrawn keys are deleted. With the rule `accept`, new keys
   * become trusted, and trusted keys that the server no longer announces lose their trust.
   */
  async note({ id, accountId }: Pick<Connection, 'id' | 'accountId'>, shown: string, keys: readonly HostKey[]) {
    const announced = await this.#database.transaction(async (tx) => {
      const connection = await lockedConnection(tx, accountId, id);
      // Keys and server may have been changed since the session began.
      if (connection === undefined || !connection.hostKeys.includes(shown)) return [];
      const seen = keys.map(({ fingerprint }) => fingerprint);
      const isFirst = (await knownKeys(tx, id)).length === 0;
      await withdrawOthers(tx, id, [...seen, ...connection.hostKeys]);
      const former = await knownKeys(tx, id);
      const isKnown = (key: HostKey): boolean => former.some(({ fingerprint }) => fingerprint === key.fingerprint);
      const fresh = keys.filter((key) => !isKnown(key)).slice(0, Math.max(0, MOST_KNOWN - former.length));
      const noted = [...keys.filter(isKnown), ...fresh];
      await noteSeen(tx, { id, accountId }, noted, isFirst);
      if (connection.rotation === 'accept') await this.#follow(tx, { id, accountId }, connection, shown, noted);
      return isFirst ? [] : fresh.filter(({ fingerprint }) => !connection.hostKeys.includes(fingerprint));
    });
    for (const { fingerprint, algorithm } of announced) {
      this.#log('info', 'a server has announced a host key', { connectionId: id, fingerprint, algorithm });
    }
    this.#connections.forgetAll();
  }

  async #follow(
    tx: Transaction,
    { id, accountId }: Pick<Connection, 'id' | 'accountId'>,
    { name, hostKeys }: Trusting,
    shown: string,
    noted: readonly HostKey[],
  ): Promise<void> {
    const known = await knownKeys(tx, id);
    const gone = known.filter(
      ({ fingerprint, hasGone }) => hasGone && fingerprint !== shown && hostKeys.includes(fingerprint),
    );
    const kept = hostKeys.filter((one) => !gone.some(({ fingerprint }) => fingerprint === one));
    const isWanted = ({ fingerprint }: HostKey): boolean =>
      !hostKeys.includes(fingerprint) && known.some((key) => key.fingerprint === fingerprint && !key.isRejected);
    const accepted = noted.filter(isWanted).slice(0, Math.max(0, MAX_HOST_KEYS - kept.length));
    if (gone.length + accepted.length === 0) return;
    await setTrustedKeys(tx, id, [...kept, ...accepted.map(({ fingerprint }) => fingerprint)]);
    await removeAnnounced(
      tx,
      id,
      gone.map(({ fingerprint }) => fingerprint),
    );
    const rule = 'hostKeyRotation: accept';
    const actor: Actor = { accountId, kind: 'anonymous', id: null, email: rule, address: '', requestId: '' };
    const recordChange = async (action: AuditAction, { fingerprint, algorithm }: HostKey): Promise<void> => {
      const target = { kind: 'connection', id, name };
      await recordAudit(tx, actor, { action, target, details: { fingerprint, algorithm, rule } });
    };
    for (const key of accepted) await recordChange('connection.accept_host_key', key);
    for (const key of gone) await recordChange('connection.drop_host_key', key);
  }

  /** Latest first. */
  async list(accountId: string, id: string): Promise<readonly ListedHostKey[]> {
    return this.#database.run((sql) => listAnnounced(sql, accountId, id));
  }

  /** Trusts one more key. @throws GatewayError unknown_item, bad_request if there are too many */
  async accept(actor: Actor, connection: Pick<ManagedConnection, 'id' | 'name'>, fingerprint: string): Promise<void> {
    await this.#decide(actor, connection, fingerprint, 'connection.accept_host_key', async (tx, { hostKeys }) => {
      if (hostKeys.length >= MAX_HOST_KEYS) {
        throw refusal(
          'bad_request',
          `connection ${connection.id} trusts ${MAX_HOST_KEYS} host keys; take one away first`,
        );
      }
      await setTrustedKeys(tx, connection.id, [...hostKeys, fingerprint]);
      await setRejected(tx, connection.id, [fingerprint], false);
    });
  }

  /** The key waits no longer, and no rule accepts it. @throws GatewayError unknown_item */
  async reject(actor: Actor, connection: Pick<ManagedConnection, 'id' | 'name'>, fingerprint: string): Promise<void> {
    await this.#decide(actor, connection, fingerprint, 'connection.reject_host_key', async (tx) => {
      await setRejected(tx, connection.id, [fingerprint], true);
    });
  }

  async #decide(
    actor: Actor,
    { id, name }: Pick<ManagedConnection, 'id' | 'name'>,
    fingerprint: string,
    action: AuditAction,
    change: (tx: Transaction, connection: Trusting) => Promise<void>,
  ): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const connection = await lockedConnection(tx, actor.accountId, id);
      const key = (await knownKeys(tx, id)).find((one) => one.fingerprint === fingerprint);
      if (connection === undefined || key === undefined || connection.hostKeys.includes(fingerprint)) {
        throw refusal('unknown_item', `no host key ${fingerprint} of connection ${id} waits to be accepted`);
      }
      await change(tx, connection);
      const details = { fingerprint, algorithm: key.algorithm };
      await recordAudit(tx, actor, { action, target: { kind: 'connection', id, name }, details });
    });
    this.#connections.forgetAll();
  }
}

async function lockedConnection(tx: Transaction, accountId: string, id: string): Promise<Trusting | undefined> {
  const [row] = await tx<Trusting[]>`
    select name, host_keys, settings ->> 'hostKeyRotation' as rotation from connections
    where id = ${id} and account_id = ${accountId} for no key update`;
  return row;
}
