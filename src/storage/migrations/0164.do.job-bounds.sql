-- What each job has written: rows of its files and folders, of which a long path counts as several.
alter table jobs add column stored_rows bigint not null default 0;

-- How many files the source of each sync held when it last ran: one that has lost most of them is not mirrored by itself.

create table sync_sources (
  account_id uuid not null references accounts on delete cascade,
  -- SHA-256 of where the sync leads, and of its filters.
  key bytea not null,
  files bigint not null,
  seen_at timestamptz not null,
  primary key (account_id, key)
);
create index sync_sources_seen on sync_sources (account_id, seen_at desc);
