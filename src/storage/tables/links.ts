/** Links: their rights, how often each was used, and the uses that run. Their secrets are never stored. */
import type { PendingQuery, Row } from 'postgres';
import { refusal } from '../../base/errors.js';
import { uuidv7 } from '../../base/uuid.js';
import { type Link, linkFields, type LinkSettings } from '../../contract/link.js';
import type { NodeRegistry } from '../cluster/nodes.js';
import type { Database } from '../postgres/database.js';
import { columnsOf, type Queryable, rowOf, storable, tableOf, type Transaction } from '../postgres/sql.js';
import { hashApiKey, randomText } from '../secrets/hashes.js';
import { type Actor, recordAudit } from './audit-log.js';
import { endUploadsOf, isWritten } from './uploads.js';

/** A link found by its secret, with the data of its account and its key that a use needs. */
export interface OpenedLink extends Link {
  readonly email: string;
  readonly plan: string;
  readonly allowedIps: readonly string[];
}

/** 190 bits. */
const TOKEN_CHARS = 32;
const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_CHARS}}$`);
/**
 * A failed use is given back. A use that its client breaks off may have sent nearly the whole file, so the number of
 * those is limited.
 */
const MOST_BROKEN = 20;
/** Errors that a client can cause as often as it likes. */
const BROKEN_BY_CLIENT = ['client_gone', 'too_slow', 'too_large', 'digest_mismatch', 'size_mismatch'];
/** How long ended links are listed. */
const SHOWN_DAYS = 30;

export class Links {
  readonly #database: Database;
  readonly #node: Pick<NodeRegistry, 'id'>;

  constructor(database: Database, node: Pick<NodeRegistry, 'id'>) {
    this.#database = database;
    this.#node = node;
  }

  /** Resolves to the link and the secret of its URL, which cannot be read again. @throws GatewayError share_exceeded */
  async create(
    actor: Actor,
    keyId: string | null,
    settings: LinkSettings,
    most: number,
  ): Promise<{ readonly link: Link; readonly token: string }> {
    const { accountId } = actor;
    const { operation, connectionId, maxBytes, maxUses, expiresAt } = settings;
    const [id, token, path] = [uuidv7(), randomText(TOKEN_CHARS), storable(settings.path)];
    return this.#database.transaction(async (tx) => {
      // The account's row is the lock: of two simultaneous creations, the second one counts the first.
      await tx`select from accounts where id = ${accountId} for no key update`;
      const [room] = await tx<{ taken: number }[]>`
        select count(*) as taken from links
        where account_id = ${accountId} and revoked_at is null and expires_at > now()`;
      if ((room?.taken ?? 0) >= most) {
        throw refusal('share_exceeded', `this account has ${most} links already; revoke some first`);
      }
      const row = rowOf(tx, linkFields, { ...settings, id, accountId, keyId, path });
      await tx`insert into links ${tx({ ...row, tokenHash: hashApiKey(token) })}`;
      const details = { operation, connectionId, expiresAt: expiresAt.toISOString(), maxBytes, maxUses };
      await recordAudit(tx, actor, { action: 'link.create', target: targetOf(id, path), details });
      return { link: (await findIn(tx, accountId, id)) as Link, token };
    });
  }

  /** Newest first, after `cursor`. */
  async list(
    accountId: string,
    page: { readonly connections?: readonly string[]; readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<readonly Link[]> {
    const { connections, cursor, limit } = page;
    return this.#database.run(
      (sql) => sql<Link[]>`
        select ${columns(sql)} from ${withKeys(sql)} where l.account_id = ${accountId}
          ${connections === undefined ? sql`` : sql`and l.connection_id = any(${sql.types.texts(connections)})`}
          ${cursor === undefined ? sql`` : sql`and l.id < ${cursor}`}
        order by l.id desc limit ${limit}`,
    );
  }

  /** undefined if unknown or of another account. */
  async find(accountId: string, id: string): Promise<Link | undefined> {
    return this.#database.run((sql) => findIn(sql, accountId, id));
  }

  /** Idempotent. undefined = unknown. */
  async revoke(actor: Actor, { id, path }: Pick<Link, 'id' | 'path'>): Promise<Link | undefined> {
    return this.#database.transaction(async (tx) => {
      const revoked = await tx`
        update links set revoked_at = now()
        where id = ${id} and account_id = ${actor.accountId} and revoked_at is null returning 1`;
      if (revoked.length > 0) await recordAudit(tx, actor, { action: 'link.revoke', target: targetOf(id, path) });
      await endUploadsOf(tx, id);
      return findIn(tx, actor.accountId, id);
    });
  }

  /** Finds a link by the secret of its URL. Never cached, so that a link that ends here has ended on all nodes. */
  async open(token: string): Promise<OpenedLink | undefined> {
    if (!TOKEN.test(token)) return undefined;
    return this.#database.first<OpenedLink>`
      select ${columns}, a.email, a.plan, coalesce(k.allowed_ips, '{}') as allowed_ips
      from ${withKeys} join accounts a on a.id = l.account_id where l.token_hash = ${hashApiKey(token)}`;
  }

  /**
   * Takes a use, in one statement for all nodes. ended: none is left; busy: `mostAtOnce` are running. The statement
   * that ends its transfer in the history (`endingUses`) counts the use or gives it back. If this node dies, it is
   * given back. A use for an upload in pieces is taken by the request that writes, and is the same one on every node.
   */
  async take(id: string, mostAtOnce = Infinity, uploadId?: string): Promise<'taken' | 'busy' | 'ended'> {
    const most = Number.isFinite(mostAtOnce) ? mostAtOnce : null;
    return this.#database.run(async (sql) => {
      const holder = sql`${uploadId ?? this.#node.id}::text`;
      const own = sql`coalesce((l.held ->> ${holder})::bigint, 0)`;
      const others = uploadId === undefined ? heldOf(sql) : sql`(${heldOf(sql)} - ${own})`;
      const isOpen = sql`l.id = ${id} and l.revoked_at is null and l.expires_at > now() and (l.max_uses is null
        or (l.broken < ${MOST_BROKEN} and l.uses + ${others} < l.max_uses))`;
      const taken = await sql`
        update links l set held = jsonb_set(l.held, array[${holder}],
          to_jsonb(${uploadId === undefined ? own : sql`0`} + 1))
        where ${isOpen} and (${most}::bigint is null or ${others} < ${most}::bigint) returning 1`;
      if (taken.length > 0) return 'taken';
      const busy = await sql`select from links l where ${isOpen} and ${others} >= ${most}::bigint`;
      return busy.length > 0 ? 'busy' : 'ended';
    });
  }

  /** The request that wrote to the upload has ended. If that cannot be noted, the end of its lease gives the use back. */
  async giveBack(id: string, uploadId: string): Promise<void> {
    await this.#database.all`update links set held = held - ${uploadId}::text where id = ${id}`.catch(() => undefined);
  }

  /** Its user has sent bytes that become no file. */
  async countBroken(id: string): Promise<void> {
    await this.#database.all`update links set broken = broken + 1 where id = ${id}`;
  }
}

/** Links of a replaced key continue with the next one. */
export async function handOverLinks(tx: Transaction, formerKeyId: string, nextKeyId: string): Promise<void> {
  await tx`update links set key_id = ${nextKeyId} where key_id = ${formerKeyId}`;
}

/** A CTE after `written`: a successful use counts, all others are given back; `uploads`: those of uploads in pieces. */
export function endingUses(
  sql: Queryable,
  nodeId: string,
  uploads: readonly { readonly id: string; readonly uploadId: string }[],
) {
  const held = sql`(l.held ->> ${nodeId}::text)::bigint`;
  return sql`
    ended_uses as (
      select link_id, count(*) filter (where t.id is null) as items, count(*) filter (where status = 'success') as good,
        count(*) filter (where error_code = any(${sql.types.texts(BROKEN_BY_CLIENT)})) as broken,
        coalesce(array_agg(t.upload_id) filter (where t.id is not null), '{}') as uploads
      from written left join ${tableOf(sql, uploads, { id: 'uuids', uploadId: 'texts' })} on t.id = written.id
      where link_id is not null and status <> 'pending' and type <> 'exists' group by 1
    ),
    locked_links as (select id from links where id in (select link_id from ended_uses) order by id for update),
    counted_uses as (
      update links l set uses = l.uses + e.good, broken = l.broken + e.broken,
        last_used_at = case when e.good > 0 then now() else l.last_used_at end,
        held = (case when ${held} is null or ${held} <= e.items then l.held - ${nodeId}::text
          else jsonb_set(l.held, array[${nodeId}::text], to_jsonb(${held} - e.items)) end) - e.uploads
      from ended_uses e join locked_links o on o.id = e.link_id where l.id = e.link_id
    ),`;
}

/** A CTE after `written`: counts successful transfers that were first attributed to a dead node. */
export function correctingUses(sql: Queryable) {
  return sql`
    recounted as (
      update links l set uses = l.uses + 1, last_used_at = now() from written w
      where l.id = w.link_id and w.status = 'success' and w.type <> 'exists'
    ),`;
}

/** Gives back uses that ran on dead nodes; `isOfDeadNode` is the condition on held.key. */
export async function forgetHeldUses(sql: Queryable, isOfDeadNode: PendingQuery<Row[]>): Promise<void> {
  const isDead = sql`(${isOfDeadNode}) and not ${isWritten(sql, sql`held.key::uuid`)}`;
  await sql`
    update links l set held = (
      select coalesce(jsonb_object_agg(held.key, held.value), '{}') from jsonb_each(l.held) held where not (${isDead}))
    where l.held <> '{}' and exists (select from jsonb_each(l.held) held where ${isDead})`;
}

export async function deleteEndedLinks(sql: Queryable): Promise<void> {
  await sql`delete from links where least(expires_at, revoked_at) < now() - make_interval(days => ${SHOWN_DAYS})`;
}

async function findIn(sql: Queryable, accountId: string, id: string): Promise<Link | undefined> {
  const [link] = await sql<Link[]>`
    select ${columns(sql)} from ${withKeys(sql)} where l.id = ${id} and l.account_id = ${accountId}`;
  return link;
}

const withKeys = (sql: Queryable) => sql`links l left join api_keys k on k.id = l.key_id`;

const heldOf = (sql: Queryable) => sql`(select coalesce(sum(h.value::bigint), 0) from jsonb_each_text(l.held) h)`;

/** Whether the key that made the link would be allowed to use it now. */
const keyOpens = (sql: Queryable) => sql`
  (l.key_id is null or (k.id is not null and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
    and case when l.operation = 'upload' then 'write' else 'read' end = any(k.scopes)
    and (cardinality(k.connection_ids) = 0 or l.connection_id = any(k.connection_ids))))`;

function columns(sql: Queryable) {
  const state = sql`
    case when l.revoked_at is not null then 'revoked' when l.expires_at <= now() then 'expired'
      when l.max_uses is not null and (l.uses >= l.max_uses or l.broken >= ${MOST_BROKEN}) then 'used_up'
      when not ${keyOpens(sql)} then 'key_ended' else 'active' end`;
  return columnsOf(sql, linkFields, { table: 'l', made: { state } });
}

const targetOf = (id: string, path: string) => ({ kind: 'link', id, name: path });
