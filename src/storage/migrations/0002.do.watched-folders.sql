-- Folders under watch. next_check_at is the only clock of the checks: it lies in the row, never in a process alone.
create table watched_folders (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  connection_id text not null references connections on delete cascade,
  name text not null,
  path text not null,
  file_pattern text,
  exclude_pattern text,
  done_file text,
  schedule_minutes integer not null,
  webhook_url text,
  source text not null,
  detect_modified boolean not null,
  recursive boolean not null,
  initial text not null check (initial in ('ignore', 'report')),
  min_age_seconds integer not null,
  after_delivery text not null check (after_delivery in ('keep', 'move', 'delete')),
  move_to text,
  expect_every_minutes integer,
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  next_check_at timestamptz not null default now(),
  -- The next check is an extra one, for files that may have settled by then.
  is_follow_up boolean not null default false,
  -- The check under way, and the fence of its writes: a check whose id was replaced writes nothing any more.
  check_id uuid,
  -- Null until the first check has gone through.
  baseline_at timestamptz,
  time_resolution_ms integer not null default 1,
  last_success_at timestamptz,
  last_detection_at timestamptz,
  alarmed_at timestamptz,
  failing_since timestamptz,
  failures integer not null default 0,
  error_code text,
  error_message text,
  deliveries_ended_at timestamptz
);
create index watched_folders_account on watched_folders (account_id, id) where deleted_at is null;
create index watched_folders_due on watched_folders (next_check_at) where is_active and deleted_at is null;
create index watched_folders_deleted on watched_folders (deleted_at) where deleted_at is not null;

-- Signing secrets, sealed like those of connections. A former one signs along until it expires.
create table watched_folder_secrets (
  id uuid primary key,
  folder_id uuid not null references watched_folders on delete cascade,
  key_id text not null references master_keys,
  wrapped_key bytea not null,
  nonce bytea not null,
  ciphertext bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create index watched_folder_secrets_folder on watched_folder_secrets (folder_id);

-- What a folder is known to hold. entry_key: the exact bytes of the path below the folder.
-- known_*: the state that was reported or is the baseline, null for a file never reported.
-- seen_*: another state, seen unchanged since seen_since, that has not settled yet.
create table watched_files (
  folder_id uuid not null references watched_folders on delete cascade,
  entry_key bytea not null,
  known_size bigint,
  known_modified_ms bigint,
  seen_size bigint,
  seen_modified_ms bigint,
  seen_since_ms bigint,
  primary key (folder_id, entry_key)
);

-- The last checks of each folder. entries: gzip of one JSON array [path, reason, details] a line.
create table watch_checks (
  id uuid primary key,
  folder_id uuid not null references watched_folders on delete cascade,
  kind text not null check (kind in ('regular', 'follow_up', 'manual')),
  outcome text not null check (outcome in ('succeeded', 'failed', 'skipped')),
  started_at timestamptz not null,
  duration_ms bigint not null,
  node_id uuid not null,
  error_code text,
  error_message text,
  counts jsonb not null default '{}',
  entries bytea
);
create index watch_checks_folder on watch_checks (folder_id, id desc);

-- The outbox. body is stored as it is sent, so that every try carries the same bytes under the same id.
create table webhook_events (
  id uuid primary key,
  folder_id uuid not null references watched_folders on delete cascade,
  account_id uuid not null,
  type text not null,
  body text not null,
  file_count integer not null,
  -- What is to be moved or deleted after the delivery: [{ path, size, modifiedMs }].
  files jsonb not null default '[]',
  state text not null check (state in ('pending', 'delivered', 'dead', 'cancelled')),
  attempts integer not null default 0,
  replays integer not null default 0,
  next_attempt_at timestamptz,
  after_action text not null default 'none' check (after_action in ('none', 'pending', 'done')),
  delivered_at timestamptz,
  created_at timestamptz not null
);
create index webhook_events_folder on webhook_events (folder_id, id desc);
create index webhook_events_account on webhook_events (account_id, id desc);
create index webhook_events_pending on webhook_events (next_attempt_at) where state = 'pending';
create index webhook_events_after on webhook_events (delivered_at) where after_action = 'pending';

create table webhook_attempts (
  id uuid primary key,
  event_id uuid not null references webhook_events on delete cascade,
  started_at timestamptz not null,
  duration_ms bigint not null,
  status integer,
  error_code text,
  error_message text,
  answer text
);
create index webhook_attempts_event on webhook_attempts (event_id, id);
