-- What each account has moved in each hour (UTC), kept by the statement that writes the history. Slot 0: lists, look-ups and
-- polls; the others are slots of time, whose ends src/storage/tables/transfer-hours.ts has too.
create table transfer_hours (
  account_id uuid not null,
  hour timestamptz not null,
  slot smallint not null,
  transfers bigint not null,
  failed bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  primary key (account_id, hour, slot)
) with (fillfactor = 70);
create index transfer_hours_old on transfer_hours (hour);

insert into transfer_hours (account_id, hour, slot, transfers, failed, bytes_in, bytes_out)
select account_id, date_trunc('hour', created_at, 'UTC'),
  case when type in ('list', 'exists', 'poll') then 0
    else 1 + width_bucket(duration_ms, array[5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000,
      5000, 7500, 10000, 20000, 60000, 300000, 1800000, 7200000]::bigint[]) end,
  count(*), count(*) filter (where status = 'failed'),
  coalesce(sum(file_size) filter (where direction = 'inbound'), 0),
  coalesce(sum(file_size) filter (where direction = 'outbound'), 0)
from transfers where status <> 'pending' and created_at > now() - interval '92 days' group by 1, 2, 3;
