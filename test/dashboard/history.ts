/** A history of any length, written directly into the database. */
import postgres from 'postgres';

/** This number of transfers of this account, spread evenly over the last days, with their counts. */
export async function fillHistory(databaseUrl: string, email: string, rows: number, days: number): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  try {
    await sql`
      insert into transfers (id, account_id, connection_id, type, direction, status, filename, path, file_size,
        error_message, error_code, duration_ms, counts_action, created_at)
      select (left(hex, 8) || '-' || substr(hex, 9) || '-7' || substr(noise, 1, 3) || '-8' || substr(noise, 4, 3) || '-'
          || substr(noise, 7, 12))::uuid,
        (select id from accounts where email = ${email}), case when n % 3 = 0 then 'archive' else 'sandbox' end,
        (array['upload', 'download', 'list', 'move'])[1 + n % 4], case when n % 4 = 1 then 'inbound' else 'outbound' end,
        case when n % 50 = 0 then 'failed' else 'success' end, name, '/in/' || n % 1000 || '/' || name,
        n::bigint * n * 7919 % 4000000, case when n % 50 = 0 then 'the server refused it' end,
        case when n % 50 = 0 then 'permission_denied' end, n % 900, true, at
      from (
        select n, at, 'report-' || lpad(n::text, 7, '0') || '.csv' as name, md5(n::text) as noise,
          lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as hex
        from (
          select n, now() - n * (interval '1 day' * ${days}::int / ${rows}::int) as at
          from generate_series(1, ${rows}::int) n
        ) moments
      ) named`;
    await sql`
      insert into transfer_counts (account_id, connection_id, day, type, status, items)
      select account_id, connection_id, (created_at at time zone 'UTC')::date, type, status, count(*)
      from transfers where status <> 'pending' group by 1, 2, 3, 4, 5
      on conflict (account_id, connection_id, day, type, status) do update set items = excluded.items`;
    await sql`
      insert into monthly_usage (account_id, month, items, actions_recorded)
      select account_id, date_trunc('month', created_at at time zone 'UTC')::date, count(*), count(*)
      from transfers where status <> 'pending' group by 1, 2
      on conflict (account_id, month) do update set items = excluded.items, actions_recorded = excluded.actions_recorded`;
    await sql`
      insert into transfer_hours (account_id, hour, slot, transfers, failed, bytes_in, bytes_out)
      select account_id, date_trunc('hour', created_at, 'UTC'),
        case when type in ('list', 'exists', 'poll') then 0 else 1 + width_bucket(duration_ms, array[5, 50, 500]::bigint[]) end,
        count(*), count(*) filter (where status = 'failed'),
        coalesce(sum(file_size) filter (where direction = 'inbound'), 0),
        coalesce(sum(file_size) filter (where direction = 'outbound'), 0)
      from transfers where status <> 'pending' group by 1, 2, 3
      on conflict (account_id, hour, slot) do update set transfers = excluded.transfers, failed = excluded.failed,
        bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out`;
    await sql`analyze transfers`;
  } finally {
    await sql.end();
  }
}
