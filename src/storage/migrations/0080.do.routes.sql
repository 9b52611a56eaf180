-- Routes: watched folders that copy what they find before they tell of it, and what became of each file.

alter table watched_folders add column copy_to jsonb;

alter table webhook_events
  -- Nothing is sent before all copies have ended.
  add column copy_state text not null default 'none' check (copy_state in ('none', 'pending', 'done')),
  -- Rounds that have left files to be tried again.
  add column copy_rounds integer not null default 0,
  add column copies_failed integer not null default 0;

create table route_copies (
  id uuid primary key,
  event_id uuid not null references webhook_events on delete cascade,
  -- The file's place in the event, from 0.
  number integer not null,
  path text not null,
  raw_name text,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'skipped', 'failed')),
  tries integer not null default 0,
  -- Where it stands; before that, where a try that nobody knows the end of wanted to put so many bytes.
  target_connection text not null,
  target_path text,
  size bigint,
  error_code text,
  error_message text
);
create unique index route_copies_event on route_copies (event_id, number);
create index route_copies_waiting on route_copies (event_id) where state = 'waiting';
create index webhook_events_copies_failed on webhook_events (account_id, id) where copies_failed > 0;
