/** Resumable uploads: their stored bytes, and the request and node that write to each. */
import type { PendingQuery, Row } from 'postgres';
import { goneOn, refusal } from '../../base/errors.js';
import {
  type NewUpload,
  type Upload,
  uploadFields,
  type UploadPart,
  uploadPartFields,
  type UploadTail,
  uploadTailFields,
} from '../../contract/upload.js';
import type { Database } from '../postgres/database.js';
import {
  columnsOf,
  fromExcluded,
  jsonOf,
  listed,
  type Queryable,
  rowOf,
  tableColumns,
  tableOf,
  templateIn,
  type Transaction,
} from '../postgres/sql.js';

export interface UploadAddress {
  readonly accountId: string;
  readonly connectionId: string;
  readonly id: string;
  /** At the address of a link only its own uploads are known, and these nowhere else. */
  readonly linkId: string | null;
  /** Another kind of upload is unknown at this address. */
  readonly isMultipart?: boolean;
}

/** The progress of a writer, stored with its lease. */
export interface WriterProgress {
  readonly id: string;
  readonly writer: string;
  /** Bytes that are certainly stored. */
  readonly storedBytes: number;
  /** Absent: the stored ones remain valid. */
  readonly hashStates?: Buffer | undefined;
}

export interface UploadLimits {
  readonly unfinished: number;
  readonly expireHours: number;
}

/** The request that wants to be the only writer. */
interface WriterClaim {
  readonly writer: string;
  readonly keyId: string;
  /** The entity tag of the parts that it joins. */
  readonly completing?: string | undefined;
  /** The end of a lease that is over: see take(). */
  readonly lapsedAt: string | undefined;
}

interface HeldByAnother {
  readonly held: 'by-own' | 'by-other' | 'by-same';
  readonly lapsedAt: string | null;
}

/**
 * Unfinished uploads of one link. Those of all links of an account have as much room as those of its keys: strangers
 * take none of that.
 */
const MOST_OF_LINK = 20;
/** The lease of a silent writer ends after this time: then another request may continue. */
const LEASE_SECONDS = 12;

export class Uploads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Created before anything is on the remote server. @throws GatewayError share_exceeded */
  async create(row: NewUpload, writer: string, limits: UploadLimits): Promise<Upload> {
    const { accountId, linkId } = row;
    return this.#database.transaction(async (tx) => {
      // The account's row is the lock: of two simultaneous creations, the second one counts the first.
      await tx`select from accounts where id = ${accountId} for no key update`;
      const [{ taken = 0, ofLink = 0 } = {}] = await tx<{ taken: number; ofLink: number }[]>`
        select count(*) as taken, count(*) filter (where link_id = ${linkId}) as of_link from uploads
        where account_id = ${accountId} and (link_id is null) = ${linkId === null} and state <> 'done'`;
      if (linkId === null && taken >= limits.unfinished) {
        const text = `this account has ${limits.unfinished} unfinished uploads already; end some first`;
        throw refusal('share_exceeded', text);
      }
      if (linkId !== null && (ofLink >= MOST_OF_LINK || taken >= limits.unfinished)) {
        throw refusal('share_exceeded', 'too many uploads by links were begun and left; send the file by PUT');
      }
      const made = { leaseUntil: leaseEnd(tx), expiresAt: expiry(tx, limits) };
      const stored = rowOf(tx, uploadFields, { ...row, writer }, made);
      const [upload] = await tx<Upload[]>`
        insert into uploads ${tx({ ...stored, writerKey: row.keyId ?? '' })} returning ${columnsOf(tx, uploadFields)}`;
      return upload as Upload;
    });
  }

  /** undefined if unknown, expired, or of another account or connection. */
  async find(address: UploadAddress): Promise<Upload | undefined> {
    return this.#database.first<Upload>`select ${columns} from uploads u where ${(sql) => isAt(sql, address)}`;
  }

  /**
   * Makes `writer` the only writer. `held`: another one writes, and was asked to end if it has the same key; or it joins
   * the same parts (`by-same`). The progress of a dead writer is not exact. A lease that is over by the database's clock
   * is answered with its end (`lapsedAt`). Only a caller that names this end again takes the upload over, so a clock
   * that jumps ahead ends no lease that is renewed.
   */
  async take(
    address: UploadAddress,
    { writer, keyId, completing, lapsedAt }: WriterClaim,
    limits: Pick<UploadLimits, 'expireHours'>,
  ): Promise<{ readonly upload: Upload } | HeldByAnother | undefined> {
    return this.#database.run(async (sql) => {
      const at = isAt(sql, address);
      const [upload] = await sql<Upload[]>`
        update uploads u set writer = ${writer}, writer_key = ${keyId}, completing = ${completing ?? null},
          is_asked = false, lease_until = ${leaseEnd(sql)}, is_exact = u.is_exact and u.writer is null, expires_at = ${expiry(sql, limits)}
        where ${at}
          and (u.writer is null or (u.lease_until < now() and u.lease_until::text = ${lapsedAt ?? null}::text))
        returning ${columns(sql)}`;
      if (upload !== undefined) return { upload };
      const [asked] = await sql<HeldByAnother[]>`
        update uploads u set is_asked = u.is_asked or u.writer_key = ${keyId} where ${at}
        returning case when u.completing = ${completing ?? null} then 'by-same'
            when coalesce(u.writer_key = ${keyId}, true) then 'by-own' else 'by-other' end as held,
          case when u.lease_until < now() then u.lease_until::text end as lapsed_at`;
      return asked;
    });
  }

  /** Renews the leases of active writers; those that are missing in the answer are no longer writers. */
  async renew(
    writers: readonly WriterProgress[],
    { expireHours }: Pick<UploadLimits, 'expireHours'>,
  ): Promise<ReadonlyMap<string, { readonly isAsked: boolean }>> {
    const progress = writers.map((writer) => ({ ...writer, hashStates: writer.hashStates?.toString('hex') }));
    const rows = await this.#database.run(
      (sql) => sql<{ writer: string; isAsked: boolean }[]>`
        update uploads u set lease_until = ${leaseEnd(sql)}, stands = greatest(u.stands, t.stored_bytes),
          hash_states = case when t.stored_bytes >= u.stands then coalesce(decode(t.hash_states, 'hex'), u.hash_states)
            else u.hash_states end,
          expires_at = ${expiry(sql, { expireHours })}
        from ${tableOf(sql, progress, { id: 'uuids', writer: 'uuids', storedBytes: 'bigints', hashStates: 'texts' })}
        where u.id = t.id and u.writer = t.writer returning u.writer, u.is_asked`,
    );
    return new Map(rows.map(({ writer, isAsked }) => [writer, { isAsked }]));
  }

  /** Stores what its writer knows now. @throws GatewayError upload_locked if `writer` is no longer its writer */
  async note(
    { id, writer }: { readonly id: string; readonly writer: string | null },
    changes: Partial<
      Pick<
        Upload,
        | 'storedBytes'
        | 'isExact'
        | 'isUnproven'
        | 'state'
        | 'length'
        | 'storeId'
        | 'layout'
        | 'wantsDigest'
        | 'hashStates'
      >
    >,
  ): Promise<Upload> {
    return this.#database.run((sql) => noteIn(sql, { id, writer }, changes));
  }

  /** Others may write. `isExact` false: the number of stored bytes is unknown. */
  async release(id: string, writer: string, isExact: boolean): Promise<void> {
    await this.#database.all`
      update uploads set writer = null, lease_until = null, is_asked = false, is_exact = is_exact and ${isExact}
      where id = ${id} and writer = ${writer}`;
  }

  /** Ends the upload; its rest could not be removed now. */
  async expire(id: string, writer: string): Promise<void> {
    await this.#database.all`update uploads set expires_at = now() where id = ${id} and writer = ${writer}`;
  }

  async remove(id: string, writer: string): Promise<void> {
    await this.#database.all`delete from uploads where id = ${id} and writer = ${writer}`;
  }

  /** Deletes some uploads that are done and have expired; resolves to their number. */
  async forgetDone(most: number): Promise<number> {
    const gone = await this.#database.all`
      delete from uploads where id in (
        select id from uploads where expires_at < now() and state = 'done'
        order by expires_at limit ${most} for update skip locked)
      returning 1`;
    return gone.length;
  }

  /**
   * Claims some expired uploads of one connection without a writer; `writer` has `seconds` to remove them. Until then
   * no others of that connection are claimed, so a server that is away delays only its own.
   */
  async claimExpired(writer: string, most: number, seconds: number): Promise<readonly Upload[]> {
    return this.#database.all<Upload>`
      with oldest as (
        select connection_id from uploads where expires_at < now() and state <> 'done' group by connection_id
        having bool_and((writer is null or lease_until < now()) and ${(sql) => noPartArrives(sql)})
        order by min(expires_at) limit 1)
      update uploads u set writer = ${writer}, writer_key = '', lease_until = now() + make_interval(secs => ${seconds})
      where u.id in (
        select id from uploads where connection_id = (select connection_id from oldest)
          and expires_at < now() and state <> 'done' and (writer is null or lease_until < now())
        order by expires_at limit ${most} for update skip locked)
      returning ${columns}`;
  }

  /** Claims all unfinished uploads of a connection. A current writer (`isHeld`) stops in a moment. */
  async claimAll(
    { accountId, connectionId }: Pick<UploadAddress, 'accountId' | 'connectionId'>,
    writer: string,
    seconds: number,
  ): Promise<readonly (Upload & { readonly isHeld: boolean })[]> {
    return this.#database.all<Upload & { readonly isHeld: boolean }>`
      with former as (
        select id, coalesce(lease_until > now(), false) or not (${(sql) => noPartArrives(sql)}) as held from uploads
        where account_id = ${accountId} and connection_id = ${connectionId} and state <> 'done' for update)
      update uploads u set writer = ${writer}, writer_key = '', lease_until = now() + make_interval(secs => ${seconds}),
        expires_at = now()
      from former f where u.id = f.id returning ${columns}, f.held as is_held`;
  }

  async parts(id: string): Promise<readonly UploadPart[]> {
    return this.#database.all<UploadPart>`
      select ${(sql) => columnsOf(sql, uploadPartFields)} from upload_parts where upload_id = ${id} order by number`;
  }

  async tails(id: string): Promise<readonly UploadTail[]> {
    return this.#database.all<UploadTail>`
      select ${(sql) => columnsOf(sql, uploadTailFields)} from upload_tails where upload_id = ${id}`;
  }

  /**
   * Adds parts, with hash states up to these parts. @throws GatewayError upload_locked if `writer` is no longer its
   * writer
   */
  async addParts(id: string, writer: string, parts: readonly UploadPart[], hashStates: Buffer | null): Promise<void> {
    if (parts.length === 0) return;
    await this.#store(
      { id, writer, hashStates },
      (sql) => sql`
        insert into upload_parts (upload_id, ${sql(PARTS.names)})
        select own.id, ${sql(PARTS.names)} from own, jsonb_populate_recordset(null::upload_parts, ${jsonOf(sql, parts)})
        on conflict (upload_id, number) do update set ${sql(PARTS.updates)} returning 1`,
    );
  }

  /** The same for a tail. */
  async keepTail(id: string, writer: string, tail: UploadTail, hashStates: Buffer | null): Promise<void> {
    await this.#store(
      { id, writer, hashStates },
      (sql) => sql`
        insert into upload_tails (upload_id, ${sql(TAILS.names)})
        select own.id, ${sql(TAILS.names)} from own, jsonb_populate_record(null::upload_tails, ${jsonOf(sql, tail)})
        on conflict (upload_id, slot) do update set ${sql(TAILS.updates)} returning 1`,
    );
  }

  /** `insert` adds rows for the upload in `own`. */
  async #store(
    { id, writer, hashStates }: { readonly id: string; readonly writer: string; readonly hashStates: Buffer | null },
    insert: (sql: Queryable) => ReturnType<typeof leaseEnd>,
  ): Promise<void> {
    const stored = await this.#database.all`
      with own as (
        update uploads set hash_states = coalesce(${hashStates}::bytea, hash_states)
        where id = ${id} and writer = ${writer} returning id
      )
      ${insert}`;
    if (stored.length === 0) throw goneOn();
  }
}

const PARTS = written(uploadPartFields);
const TAILS = written(uploadTailFields);

/** The columns of rows that replace those with the same first column. */
function written(fields: typeof uploadPartFields | typeof uploadTailFields) {
  const names = tableColumns(fields);
  return { names: templateIn(listed(names)), updates: templateIn(fromExcluded(names.slice(1))) };
}

/** A CTE that ends the uploads among the rows of `input`; `ended` has the transfers that did. */
export function endingUploads(sql: Queryable, ends: readonly { readonly id: string; readonly uploadId: string }[]) {
  return sql`
    ended as (
      update uploads u set state = 'done', transfer_id = n.id, stands = n.file_size, length = n.file_size,
        is_exact = true, writer = null, lease_until = null, hash_states = null, digest = decode(n.digest, 'hex')
      from input n join ${tableOf(sql, ends, { id: 'uuids', uploadId: 'uuids' })} on t.id = n.id
      where u.id = t.upload_id and u.state <> 'done' and n.status = 'success' returning u.transfer_id as id
    ),`;
}

function isAt(sql: Queryable, { accountId, connectionId, id, linkId, isMultipart = false }: UploadAddress) {
  return sql`u.id = ${id} and u.account_id = ${accountId} and u.connection_id = ${connectionId}
    and u.link_id is not distinct from ${linkId}::uuid
    and (u.layout is not null) = ${isMultipart} and u.expires_at > now()`;
}

/** Whether a request writes to the upload. */
export const isWritten = (sql: Queryable, id: PendingQuery<Row[]>) =>
  sql`exists (select from uploads w where w.id = ${id} and w.lease_until > now())`;

/** Ends the unfinished uploads of a link. One that is being written is refused when it is complete. */
export async function endUploadsOf(tx: Transaction, linkId: string): Promise<void> {
  await tx`update uploads set expires_at = now() where link_id = ${linkId} and state <> 'done'`;
}

/** Whether no request writes a part of it. */
const noPartArrives = (sql: Queryable) => sql`not exists (
  select from multipart_writers w where w.upload_id = uploads.id and w.lease_until > now())`;

/** Changes the upload of this writer. @throws GatewayError upload_locked if `writer` is no longer its writer */
export async function noteIn(
  sql: Queryable,
  { id, writer }: { readonly id: string; readonly writer: string | null },
  changes: Partial<Upload>,
): Promise<Upload> {
  const [upload] = await sql<Upload[]>`
    update uploads u set ${sql(rowOf(sql, uploadFields, changes))}
    where u.id = ${id} and u.writer = ${writer} returning ${columns(sql)}`;
  if (upload === undefined) throw goneOn();
  return upload;
}

/**
 * Locks a multipart upload for the rest of the transaction, and extends its life. undefined if there is none.
 */
export async function lockMultipart(
  sql: Queryable,
  address: Omit<UploadAddress, 'isMultipart'>,
  limits: Pick<UploadLimits, 'expireHours'>,
): Promise<Upload | undefined> {
  const [upload] = await sql<Upload[]>`
    update uploads u set expires_at = ${expiry(sql, limits)} where ${isAt(sql, { ...address, isMultipart: true })}
    returning ${columns(sql)}`;
  return upload;
}

/** The distance between the offsets of its parts is known now. */
export async function definePartBytes(sql: Queryable, id: string, bytes: number): Promise<void> {
  await sql`update uploads set part_bytes = ${bytes} where id = ${id}`;
}

export const leaseEnd = (sql: Queryable) => sql`now() + make_interval(secs => ${LEASE_SECONDS})`;

const expiry = (sql: Queryable, { expireHours }: Pick<UploadLimits, 'expireHours'>) =>
  sql`now() + make_interval(hours => ${expireHours})`;

function columns(sql: Queryable) {
  return columnsOf(sql, uploadFields, { table: 'u' });
}
