-- Ids are UUIDv7 made by the program, so that they sort by time. Times are UTC.

create table accounts (
  id uuid primary key,
  email text not null,
  plan text not null,
  password_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index accounts_email on accounts (lower(email));

-- Keys are kept as SHA-256 only: they carry enough entropy of their own, and a request must not wait for a slow hash.
create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  key_hash bytea not null unique,
  scopes text[] not null,
  connection_ids text[] not null,
  allowed_ips text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index api_keys_name on api_keys (account_id, name) where revoked_at is null;

-- settings holds what is public of a connection; its secrets are in connection_secrets alone.
create table connections (
  id text primary key,
  account_id uuid not null references accounts on delete cascade,
  ordinal bigint not null generated always as identity,
  name text not null,
  type text not null check (type in ('sftp', 'ftp', 's3')),
  is_active boolean not null,
  settings jsonb not null,
  host_keys text[] not null default '{}',
  host_keys_learned boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index connections_account on connections (account_id, ordinal);

-- One row is the active key; the check value tells a wrong master key at start, before anything is written with it.
create table master_keys (
  key_id text primary key,
  check_value bytea not null,
  active boolean not null,
  created_at timestamptz not null default now()
);
create unique index master_keys_active on master_keys (active) where active;

create table connection_secrets (
  connection_id text not null references connections on delete cascade,
  name text not null,
  key_id text not null references master_keys,
  wrapped_key bytea not null,
  nonce bytea not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (connection_id, name)
);

-- Processes of the gateway. A node is dead when it stopped or was not seen for a while; what it held lapses then.
create table nodes (
  id uuid primary key,
  tag text not null unique,
  host text not null,
  pid integer not null,
  started_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  stopped_at timestamptz
);

-- The history. No foreign keys: items outlive what they name, and the write path stays short.
create table transfers (
  id uuid primary key,
  account_id uuid not null,
  connection_id text not null,
  key_id uuid,
  request_id text,
  node_id uuid,
  type text not null,
  direction text not null,
  status text not null check (status in ('pending', 'success', 'failed')),
  filename text not null,
  path text not null,
  file_size bigint not null,
  error_message text,
  error_code text,
  duration_ms bigint not null,
  counts_action boolean not null,
  created_at timestamptz not null
);
create index transfers_account on transfers (account_id, id desc);
create index transfers_connection on transfers (connection_id, id desc);
create index transfers_failed on transfers (account_id, id desc) where status = 'failed';
create index transfers_pending on transfers (account_id, id desc) where status = 'pending';

-- How many final items there are, kept by the statement that writes them: totals stay fast at millions of rows.
create table transfer_counts (
  account_id uuid not null,
  connection_id text not null,
  day date not null,
  type text not null,
  status text not null,
  items bigint not null,
  primary key (account_id, connection_id, day, type, status)
);

-- One row an account and month (UTC). actions_taken is what a limited plan took before the work, actions_recorded
-- what the history recorded after it; the greater one is the use. last_grant is what the last take() was given.
create table monthly_usage (
  account_id uuid not null,
  month date not null,
  items bigint not null default 0,
  actions_recorded bigint not null default 0,
  actions_taken bigint not null default 0,
  last_grant bigint not null default 0,
  primary key (account_id, month)
);

create table idempotency_keys (
  account_id uuid not null,
  key text not null,
  claim uuid not null,
  node_id uuid not null,
  fingerprint text not null,
  status integer,
  headers jsonb,
  body text,
  request_digest text,
  expires_at timestamptz not null,
  primary key (account_id, key)
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

-- Places where a process may leave a temporary name or an open multipart upload when it dies.
-- tag is the writer's; node_id is who looks after the place now.
create table leftovers (
  id uuid primary key,
  kind text not null check (kind in ('folder', 'multipart')),
  node_id uuid not null,
  tag text not null,
  connection_id text not null references connections on delete cascade,
  path text not null,
  upload_id text not null default '',
  created_at timestamptz not null default now(),
  unique (tag, connection_id, path, upload_id)
);
create index leftovers_node on leftovers (node_id);
