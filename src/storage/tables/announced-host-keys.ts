/** Rows of host keys that servers have announced under a trusted key, and proven. */
import { type HostKey, KEY_GONE_AFTER_MS } from '../../connections/host-keys.js';
import type { HOST_KEY_STATES } from '../../contract/connection/fields.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { columnsOf, listed, type Queryable, tableOf, templateIn, type Transaction } from '../postgres/sql.js';

const keyFields = {
  fingerprint: hidden<string>(),
  algorithm: hidden<string>(),
} satisfies { readonly [N in keyof HostKey]: object };
const listedFields = {
  ...keyFields,
  /** The key came with the first announcement, beside the trusted key: it needs no decision. */
  isFirst: hidden<boolean>(),
  firstSeenAt: hidden<Date>(),
  lastSeenAt: hidden<Date>(),
};
export interface ListedHostKey extends RowOf<typeof listedFields> {
  readonly state: (typeof HOST_KEY_STATES)[number];
}

interface KnownKey extends RowOf<typeof keyFields> {
  readonly isRejected: boolean;
  readonly hasGone: boolean;
}

const KEY = templateIn(listed(Object.keys(keyFields)));

/** Latest first. */
export async function listAnnounced(sql: Queryable, accountId: string, id: string): Promise<readonly ListedHostKey[]> {
  return sql<ListedHostKey[]>`
    select ${columnsOf(sql, listedFields, { table: 'k' })},
      case when k.fingerprint = any(c.host_keys) then 'trusted' when k.rejected_at is null then 'pending' else 'rejected' end as state
    from announced_host_keys k join connections c on c.id = k.connection_id
    where c.id = ${id} and c.account_id = ${accountId} order by k.first_seen_at desc, k.fingerprint`;
}

export async function noteSeen(
  tx: Transaction,
  { id, accountId }: { readonly id: string; readonly accountId: string },
  keys: readonly HostKey[],
  isFirst: boolean,
): Promise<void> {
  await tx`
    insert into announced_host_keys (connection_id, account_id, is_first, ${tx(KEY)})
    select ${id}, ${accountId}, ${isFirst}, ${tx(KEY)}
    from ${tableOf(tx, keys, { fingerprint: 'texts', algorithm: 'texts' })}
    on conflict (connection_id, fingerprint) do update set last_seen_at = now()`;
}

/** Deletes all but these keys and the rejected ones. */
export async function withdrawOthers(tx: Transaction, id: string, fingerprints: readonly string[]): Promise<void> {
  await tx`
    delete from announced_host_keys where connection_id = ${id} and rejected_at is null
      and not fingerprint = any(${tx.types.texts(fingerprints)})`;
}

export async function removeAnnounced(tx: Transaction, id: string, fingerprints: readonly string[]): Promise<void> {
  await tx`
    delete from announced_host_keys
    where connection_id = ${id} and fingerprint = any(${tx.types.texts(fingerprints)})`;
}

export async function setRejected(
  tx: Transaction,
  id: string,
  fingerprints: readonly string[],
  isRejected: boolean,
): Promise<void> {
  await tx`
    update announced_host_keys set rejected_at = ${isRejected ? tx`now()` : null}
    where connection_id = ${id} and fingerprint = any(${tx.types.texts(fingerprints)})`;
}

export async function knownKeys(tx: Transaction, id: string): Promise<readonly KnownKey[]> {
  return tx<KnownKey[]>`
    select ${columnsOf(tx, keyFields)}, rejected_at is not null as is_rejected,
      last_seen_at < now() - ${`${KEY_GONE_AFTER_MS} milliseconds`}::interval as has_gone
    from announced_host_keys where connection_id = ${id}`;
}

/**
 * Follows a manual change of the trusted keys: no rule accepts a removed key again. Without any trusted key, all
 * announced keys are deleted.
 */
export async function followHostKeys(
  tx: Transaction,
  id: string,
  trusted: readonly string[],
  former: readonly string[],
) {
  const taken = former.filter((fingerprint) => !trusted.includes(fingerprint));
  if (trusted.length === 0) await forgetAnnounced(tx, id);
  else if (taken.length > 0) {
    await setRejected(tx, id, taken, true);
  }
}

/** For a connection that now leads to another server. */
export async function forgetAnnounced(tx: Transaction, id: string): Promise<void> {
  await tx`delete from announced_host_keys where connection_id = ${id}`;
}

/** The trusted keys that came by an announcement. */
export async function acceptedKeys(tx: Transaction, id: string): Promise<readonly string[]> {
  const rows = await tx<{ fingerprint: string }[]>`
    select k.fingerprint from announced_host_keys k join connections c on c.id = k.connection_id
    where c.id = ${id} and k.fingerprint = any(c.host_keys) order by k.first_seen_at`;
  return rows.map(({ fingerprint }) => fingerprint);
}
