/** The parts of multipart uploads, the requests that write them, and the hidden files that hold them. */
import { goneOn, refusal } from '../../base/errors.js';
import { FIRST_ID } from '../../base/uuid.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import {
  type MultipartPart,
  multipartPartFields,
  type PartLayout,
  type Upload,
  uploadFields,
} from '../../contract/upload.js';
import type { Database } from '../postgres/database.js';
import {
  columnsOf,
  fromExcluded,
  type Queryable,
  rowOf,
  tableColumns,
  tableOf,
  templateIn,
  type Transaction,
  valuesOf,
} from '../postgres/sql.js';
import { definePartBytes, leaseEnd, lockMultipart, noteIn, type UploadAddress, type UploadLimits } from './uploads.js';

/** A part that a request wants to write. */
interface PartClaim {
  /** An upload of another path is unknown. */
  readonly path: string;
  readonly number: number;
  readonly size: number;
  readonly writer: string;
  /** A new name for a hidden file of its own, if there is no place for it in that of the upload. */
  readonly aside: string;
  /** The server cannot append to the file of the upload. */
  readonly mustGoAside: boolean;
  /** It has waited long enough for a place there. */
  readonly isImpatient: boolean;
  /** It may define the size that the other parts have. */
  readonly defines: boolean;
  /** Writers whose leases are over, and have stayed so. */
  readonly dead: readonly Lapse[];
  /** For the whole upload; 0 = no limit. */
  readonly maxBytes: number;
}

/** A lease that is over by the database's clock. */
export interface Lapse {
  readonly writer: string;
  readonly until: string;
}

export interface PartPlace {
  /** Its own hidden file; null: that of the upload. */
  readonly place: string | null;
  readonly start: number;
}

type Claimed =
  | ({ readonly upload: Upload } & PartPlace)
  | {
      /**
       * `part`: the same number is being written; `size`: the usual size of its parts is unknown; `turn`: others come
       * first; `end`: the upload is being ended.
       */
      readonly waits: 'part' | 'size' | 'turn' | 'end';
      readonly lapses: readonly Lapse[];
      /** Changes as the upload continues. */
      readonly pulse: string;
    };

interface PartWriterAddress {
  readonly id: string;
  readonly number: number;
  readonly writer: string;
}

const listedFields = {
  id: uploadFields.id,
  path: uploadFields.path,
  keyId: uploadFields.keyId,
  checksum: uploadFields.checksum,
  createdAt: hidden<Date>(),
};
/** An unfinished upload in a list. */
export type ListedUpload = RowOf<typeof listedFields>;

const writerFields = {
  number: hidden<number>(),
  writer: hidden<string>(),
  size: hidden<number>(),
  place: hidden<string | null>(),
  start: hidden<number>(),
};

interface Writing extends RowOf<typeof writerFields> {
  /** Present if the lease is over. */
  readonly lapsedAt: string | null;
}

/** What is stored, as seen by one part. */
interface Others {
  readonly stored: number;
  readonly bytes: number;
  readonly before: number;
  readonly bytesBefore: number;
  readonly endBefore: number;
  readonly asideBefore: number;
  readonly oddBefore: number;
  readonly end: number;
}

/** Odd sizes are those of last parts, which say nothing about the others. */
const USUAL_BYTES = 64 * 1024;

export class MultipartParts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Makes `writer` the only writer of its part, and decides where its bytes go. No two parts share a byte of one file. A
   * stored part that is overwritten in place counts no more from here on. undefined if there is no such upload. @throws
   * GatewayError too_large
   */
  async claim(
    address: UploadAddress,
    claim: PartClaim,
    limits: Pick<UploadLimits, 'expireHours'>,
  ): Promise<Claimed | undefined> {
    return this.#database.transaction(async (tx) => {
      const upload = await lockMultipart(tx, address, limits);
      if (upload === undefined || upload.layout === null || upload.state === 'done') return undefined;
      if (upload.path !== claim.path) return undefined;
      const { layout } = upload;
      await forget(tx, upload.id, claim.dead);
      const [writing, others] = await Promise.all([writingOf(tx, upload.id), othersOf(tx, upload, claim.number)]);
      const pulse = `${others.stored} ${writing.some(({ number }) => number < claim.number) ? claim.writer : ''}`;
      const wait = (waits: 'part' | 'size' | 'turn' | 'end'): Claimed => ({ waits, lapses: lapsesOf(writing), pulse });
      if (upload.writer !== null || upload.state !== 'open') return wait('end');
      if (writing.some(({ number }) => number === claim.number)) return wait('part');
      const bytes = writing.reduce((sum, { size }) => sum + size, others.bytes + claim.size);
      if (claim.maxBytes > 0 && bytes > claim.maxBytes)
        throw refusal('too_large', `the upload would be larger than ${claim.maxBytes} bytes`);
      const place = await placeFor(tx, { ...upload, layout }, claim, writing, others);
      if (typeof place === 'string') return wait(place);
      await take(tx, upload, claim, place);
      return { upload, ...place };
    });
  }

  /** Renews the leases of writers; those that are missing in the answer are no longer writers. */
  async renew(writers: readonly PartWriterAddress[]): Promise<ReadonlyMap<string, { readonly isAsked: boolean }>> {
    const rows = await this.#database.run(
      (sql) => sql<{ writer: string; isAsked: boolean }[]>`
        update multipart_writers w set lease_until = ${leaseEnd(sql)}
        from ${tableOf(sql, writers, { id: 'uuids', number: 'bigints', writer: 'uuids' })}
        join uploads u on u.id = t.id
        where w.upload_id = t.id and w.number = t.number and w.writer = t.writer
        returning w.writer, u.writer is not null as is_asked`,
    );
    return new Map(rows.map(({ writer, isAsked }) => [writer, { isAsked }]));
  }

  /** The leases of its writers that are over; undefined if there are no writers. `dead` are forgotten before. */
  async writers(id: string, dead: readonly Lapse[]): Promise<readonly Lapse[] | undefined> {
    return this.#database.transaction(async (tx) => {
      await forget(tx, id, dead);
      const writing = await writingOf(tx, id);
      return writing.length === 0 ? undefined : lapsesOf(writing);
    });
  }

  /** Ends the work of a writer that has stored nothing. */
  async release({ id, number, writer }: PartWriterAddress): Promise<void> {
    await this.#database.all`
      delete from multipart_writers where upload_id = ${id} and number = ${number} and writer = ${writer}`;
  }

  /**
   * Records a part whose bytes are durable, in place of the former one, and ends the work of its writer. @throws
   * GatewayError upload_locked if `writer` is no longer its writer
   */
  async store(
    { id, number, writer }: PartWriterAddress,
    part: Omit<MultipartPart, 'storedAt'>,
  ): Promise<MultipartPart> {
    return this.#database.transaction(async (tx) => {
      const row = rowOf(tx, multipartPartFields, part);
      const [own, [stored]] = await Promise.all([
        tx`
          delete from multipart_writers where upload_id = ${id} and number = ${number} and writer = ${writer}
          returning 1`,
        tx<MultipartPart[]>`
          insert into multipart_parts ${tx({ ...row, uploadId: id })}
          on conflict (upload_id, number) do update set ${tx(REPLACED)} returning ${partColumns(tx)}`,
      ]);
      if (own.length === 0) throw goneOn();
      return stored as MultipartPart;
    });
  }

  /** Sorted by number. */
  async list(
    id: string,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<MultipartPart[]> {
    return this.#database.all<MultipartPart>`
      select ${partColumns} from multipart_parts where upload_id = ${id} and number > ${after}
      order by number limit ${limit}`;
  }

  /** Hidden files besides that of the upload. */
  async files(id: string): Promise<readonly string[]> {
    const rows = await this.#database.all<{ path: string }>`select path from multipart_files where upload_id = ${id}`;
    return rows.map(({ path }) => path);
  }

  /** Call before the file is made. */
  async addFile(id: string, path: string): Promise<void> {
    await this.#database.run((sql) => addFile(sql, id, path));
  }

  /** It is gone from the server. */
  async forgetFile(id: string, path: string): Promise<void> {
    await this.#database.all`delete from multipart_files where upload_id = ${id} and path = ${path}`;
  }

  /**
   * From now on only these parts count, in this order; `hidden` is the file of the upload.
   * @throws GatewayError upload_locked if `writer` is no longer its writer
   */
  async arrange(
    { id, writer, hidden }: { readonly id: string; readonly writer: string; readonly hidden: string },
    parts: readonly Pick<MultipartPart, 'number' | 'start'>[],
  ): Promise<Upload> {
    return this.#database.transaction(async (tx) => {
      const [former] = await tx<{ hidden: string }[]>`select hidden from uploads where id = ${id} for update`;
      const upload = await noteIn(tx, { id, writer }, { hidden });
      if (former !== undefined && former.hidden !== hidden) {
        await addFile(tx, id, former.hidden);
        await tx`delete from multipart_files where upload_id = ${id} and path = ${hidden}`;
      }
      await tx`
        update multipart_parts p set place = null, start = t.start
        from ${tableOf(tx, parts, { number: 'bigints', start: 'bigints' })}
        where p.upload_id = ${id} and p.number = t.number`;
      await tx`
        delete from multipart_parts where upload_id = ${id}
          and number <> all(${tx.types.bigints(parts.map(({ number }) => number))})`;
      return upload;
    });
  }

  /** Unfinished uploads of a connection, by path in code-point order, and by id. */
  async unfinished(
    { accountId, connectionId }: Pick<UploadAddress, 'accountId' | 'connectionId'>,
    page: { readonly prefix: string; readonly after: { readonly path: string; readonly id: string } | undefined },
    limit: number,
  ): Promise<readonly ListedUpload[]> {
    const { prefix, after } = page;
    return this.#database.all<ListedUpload>`
      select ${(sql) => columnsOf(sql, listedFields)} from uploads
      where connection_id = ${connectionId} and account_id = ${accountId} and layout is not null and state <> 'done'
        and expires_at > now() and starts_with(path, ${prefix})
        and (${after === undefined} or (path collate "C", id) > (${after?.path ?? ''}, ${after?.id ?? FIRST_ID}::uuid))
      order by path collate "C", id limit ${limit}`;
  }
}

/** A part that is sent again replaces the former one in all columns. */
const REPLACED = templateIn(fromExcluded(tableColumns(multipartPartFields)));

const partColumns = (sql: Queryable) => columnsOf(sql, multipartPartFields);

async function addFile(sql: Queryable, uploadId: string, path: string): Promise<void> {
  await sql`insert into multipart_files ${sql({ uploadId, path })} on conflict do nothing`;
}

/** Forgets writers that are dead. Each is named with the end of its lease, so one that was renewed meanwhile stays. */
async function forget(tx: Transaction, id: string, dead: readonly Lapse[]): Promise<void> {
  for (const { writer, until } of dead) {
    await tx`
      delete from multipart_writers where upload_id = ${id} and writer = ${writer}
        and lease_until < now() and lease_until::text = ${until}`;
  }
}

async function writingOf(tx: Transaction, id: string): Promise<readonly Writing[]> {
  return tx<Writing[]>`
    select ${columnsOf(tx, writerFields)}, case when lease_until < now() then lease_until::text end as lapsed_at
    from multipart_writers where upload_id = ${id} order by number`;
}

const lapsesOf = (writing: readonly Writing[]): readonly Lapse[] =>
  writing.flatMap(({ writer, lapsedAt }) => (lapsedAt === null ? [] : [{ writer, until: lapsedAt }]));

async function othersOf(tx: Transaction, { id, partBytes }: Upload, number: number): Promise<Others> {
  const [others] = await tx<Others[]>`
    select count(*) as stored,
      coalesce(sum(size) filter (where number <> ${number}), 0)::bigint as bytes,
      count(*) filter (where number < ${number}) as before,
      coalesce(sum(size) filter (where number < ${number} and place is null), 0)::bigint as bytes_before,
      coalesce(max(start + size) filter (where number < ${number} and place is null), 0) as end_before,
      count(*) filter (where number < ${number} and place is not null) as aside_before,
      count(*) filter (where number < ${number} and size <> ${partBytes ?? 0}) as odd_before,
      coalesce(max(start + size) filter (where place is null), 0) as "end"
    from multipart_parts where upload_id = ${id}`;
  return others as Others;
}

/** A word: what the part waits for. */
async function placeFor(
  tx: Transaction,
  upload: Upload & { readonly layout: PartLayout },
  claim: PartClaim,
  writing: readonly Writing[],
  others: Others,
): Promise<PartPlace | 'size' | 'turn'> {
  if (upload.layout === 'store') return { place: null, start: 0 };
  const aside = { place: claim.aside, start: 0 };
  if (claim.mustGoAside || upload.layout === 'apart') return aside;
  const inFile = writing.filter(({ place }) => place === null);
  const areAllBefore = others.before === claim.number - 1 && !inFile.some(({ number }) => number < claim.number);
  const isTurn = areAllBefore && others.asideBefore === 0 && others.bytesBefore === others.endBefore;
  if (upload.layout === 'turns') {
    // Nothing can be written before the end of such a file.
    if (isTurn && others.end === others.endBefore && inFile.length === 0)
      return { place: null, start: others.endBefore };
    const isPassed = others.end > others.endBefore;
    return isPassed || others.asideBefore > 0 || claim.isImpatient ? aside : 'turn';
  }
  const partBytes = upload.partBytes ?? (await define(tx, upload.id, claim));
  if (partBytes === undefined) return claim.isImpatient ? aside : 'size';
  const isUsual = others.oddBefore === 0 && !writing.some((w) => w.number < claim.number && w.size !== partBytes);
  const start = isTurn
    ? others.endBefore
    : isUsual && claim.size <= partBytes
      ? (claim.number - 1) * partBytes
      : undefined;
  if (start === undefined) return areAllBefore || others.asideBefore > 0 || claim.isImpatient ? aside : 'turn';
  const end = start + claim.size;
  if (await isTaken(tx, upload.id, claim.number, { start, end })) return aside;
  if (!inFile.some((w) => w.start < end && start < w.start + w.size)) return { place: null, start };
  return claim.isImpatient ? aside : 'turn';
}

async function define(tx: Transaction, id: string, claim: PartClaim): Promise<number | undefined> {
  const { number, size, defines } = claim;
  const isUsual = size > 0 && size % USUAL_BYTES === 0;
  if (number !== 1 && !(isUsual && defines)) return undefined;
  const bytes = Math.max(1, size);
  await definePartBytes(tx, id, bytes);
  return bytes;
}

/** Whether another stored part has bytes there. */
async function isTaken(
  tx: Transaction,
  id: string,
  number: number,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<boolean> {
  const [row] = await tx`
    select from multipart_parts where upload_id = ${id} and number <> ${number} and place is null
      and start < ${end} and start + size > ${start} limit 1`;
  return row !== undefined;
}

async function take(tx: Transaction, { id, layout }: Upload, claim: PartClaim, at: PartPlace): Promise<void> {
  const { number, writer, size } = claim;
  const row = rowOf(tx, writerFields, { number, writer, size, ...at });
  const written = tx`
    insert into multipart_writers ${valuesOf(tx, { uploadId: id, ...row, leaseUntil: leaseEnd(tx) })}`;
  if (at.place !== null) {
    await Promise.all([tx`insert into multipart_files ${tx({ uploadId: id, path: at.place })}`, written]);
  } else if (layout !== 'store') {
    const overwritten = tx`
      delete from multipart_parts where upload_id = ${id} and number = ${number} and place is null
        and start < ${at.start + size} and start + size > ${at.start}`;
    await Promise.all([overwritten, written]);
  } else await written;
}
