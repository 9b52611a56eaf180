-- Resumable uploads: what stands of each on its remote, and who writes to it now.

create table uploads (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  connection_id text not null references connections on delete cascade,
  key_id uuid,
  path text not null,
  hidden text not null,
  -- What an object store calls it.
  store_id text not null default '',
  -- As the client wrote it.
  metadata text not null,
  overwrite boolean not null,
  modified_at timestamptz,
  -- null until the client tells it.
  length bigint,
  stands bigint not null default 0,
  -- False: more or less than that may stand; the remote is asked before it goes on.
  is_exact boolean not null default true,
  -- What stands behind it was not compared with what was sent.
  is_unproven boolean not null default false,
  -- publishing: somebody has begun to give it its name.
  state text not null default 'open' check (state in ('open', 'publishing', 'done')),
  transfer_id uuid,
  -- The request that writes; null = nobody does.
  writer uuid,
  writer_key text,
  lease_until timestamptz,
  -- Another request waits for it.
  is_asked boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
) with (fillfactor = 50);
create index uploads_account on uploads (account_id) where state <> 'done';
create index uploads_expired on uploads (expires_at);

create table upload_parts (
  upload_id uuid not null references uploads on delete cascade,
  number integer not null,
  size bigint not null,
  etag text not null,
  checksum text,
  is_tail boolean not null,
  primary key (upload_id, number)
);
