-- What the owners of accounts manage by hand: logins, key pairs, tests of connections, and the log of every change.

alter table accounts
  -- The hash of the password that the configuration gave last: one changed by hand stands until that one changes.
  add column configured_password_hash text,
  add column totp_confirmed_at timestamptz,
  -- The last time step whose code was taken: a code is good for one login.
  add column totp_last_step bigint;

-- Secrets of an account, encrypted like those of connections: the TOTP secret, private keys of key pairs.
create table account_secrets (
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  key_id text not null references master_keys,
  wrapped_key bytea not null,
  nonce bytea not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (account_id, name)
);

-- Hashed: they carry 80 bits of their own.
create table recovery_codes (
  account_id uuid not null references accounts on delete cascade,
  code_hash bytea not null,
  used_at timestamptz,
  primary key (account_id, code_hash)
);

-- token_hash is SHA-256: the token carries 256 bits. Rows stay for a while after their end: they tell which addresses
-- an account has logged in from.
create table login_sessions (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  token_hash bytea not null unique,
  address text not null,
  user_agent text not null,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index login_sessions_account on login_sessions (account_id, created_at desc);

-- In the form that the rate limiter's library writes: expire is milliseconds since 1970.
create table login_failures (
  key text primary key,
  points integer not null,
  expire bigint
);

create table key_pairs (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamptz not null default now(),
  unique (account_id, name)
);

alter table connections
  -- Listed in the configuration at the last start, which would undo edits.
  add column configured boolean not null default false,
  add column key_pair_id uuid references key_pairs;

create table connection_tests (
  connection_id text primary key references connections on delete cascade,
  tested_at timestamptz not null,
  is_ok boolean not null,
  failed_step text,
  error text,
  -- What was learned of the server; that of the last good test stays when a later one fails.
  card jsonb
);

alter table api_keys
  add column configured boolean not null default false,
  -- The last four characters, for people to tell keys apart.
  add column hint text;

-- Transfers that have run for a moment: what all nodes tell each other about them, once a second. A crash may lose it.
create unlogged table running_transfers (
  id uuid primary key,
  account_id uuid not null,
  node_id uuid not null,
  bytes bigint not null,
  total_bytes bigint,
  bytes_per_second bigint not null,
  step text not null,
  facts jsonb not null,
  cancel_asked boolean not null default false,
  updated_at timestamptz not null default now()
);
create index running_transfers_account on running_transfers (account_id);
create index running_transfers_node on running_transfers (node_id);

-- No foreign keys: entries outlive what they name.
create table audit_log (
  id uuid primary key,
  account_id uuid not null,
  at timestamptz not null default now(),
  actor_kind text not null,
  actor_id text,
  actor_name text not null,
  action text not null,
  target_kind text,
  target_id text,
  target_name text,
  address text not null,
  request_id text not null,
  details jsonb not null
);
create index audit_log_account on audit_log (account_id, id desc);
