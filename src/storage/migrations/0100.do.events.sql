-- The event feed: every event of an account, numbered from 1 without holes.

create table event_feeds (
  account_id uuid primary key,
  last_sequence bigint not null default 0,
  last_id uuid,
  -- Those before it are no longer shown, and go bit by bit.
  oldest_sequence bigint not null default 1
);

-- An event is written without a number, in the transaction of what it tells; it is numbered once that has committed, under
-- the lock of its feed, so that no number shows up after a higher one was read.
create table events (
  id uuid primary key,
  account_id uuid not null,
  type text not null,
  -- What it is about: a key, or a webhook, that is not for all of them is not told.
  connection_ids text[] not null,
  -- With its number as soon as it has one: from then on the bytes that are signed and shown.
  body text not null,
  -- False while something is still to be said of it.
  is_ready boolean not null,
  sequence bigint,
  created_at timestamptz not null default now(),
  numbered_at timestamptz
);
create unique index events_sequence on events (account_id, sequence) where sequence is not null;
create index events_waiting on events (account_id, created_at, id) where sequence is null and is_ready;

-- Receivers that an account subscribes to some types of its events.
create table webhooks (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  url text not null,
  events text[] not null,
  -- Empty = all.
  connection_ids text[] not null,
  is_active boolean not null default true,
  -- The receiver answered 410.
  ended_at timestamptz,
  -- Its deliveries go bit by bit.
  deleted_at timestamptz,
  created_at timestamptz not null default now()
);
create index webhooks_account on webhooks (account_id, id);
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;

create table webhook_secrets (
  webhook_id uuid not null references webhooks on delete cascade,
  name text not null,
  key_id text not null references master_keys,
  wrapped_key bytea not null,
  nonce bytea not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (webhook_id, name)
);

-- A row is one delivery: to the watched folder's own receiver or the job's, whose id is that of the event, or to a webhook.
alter table webhook_events
  add column webhook_id uuid references webhooks on delete cascade,
  add column event_id uuid,
  drop constraint webhook_events_check,
  add check (
    folder_id is not null
    or (job_id is not null and webhook_url is not null)
    or (webhook_id is not null and event_id is not null)
  );
create unique index webhook_events_webhook on webhook_events (webhook_id, event_id) where webhook_id is not null;
