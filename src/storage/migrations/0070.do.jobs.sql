-- Whole folders: a job, the folders that it has to look into, and the files that it has something to do or to tell of.
-- Paths are bytes below the job's source folder (below its destination, of what is there alone), '' for that itself.

create table jobs (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  key_id uuid,
  schedule_id uuid,
  type text not null check (type in ('copy', 'move', 'delete', 'sync')),
  name text,
  state text not null
    check (state in ('queued', 'running', 'paused', 'succeeded', 'partly_failed', 'failed', 'cancelled')),
  -- 1 = folders are listed and files copied, 2 = what the source does not have is deleted, 3 = folders are removed.
  phase smallint not null default 1,
  definition jsonb not null,
  found bigint not null default 0,
  done bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  deleted bigint not null default 0,
  bytes bigint not null default 0,
  bytes_total bigint not null default 0,
  error_code text,
  error_message text,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- How long it ran before its last pause, and since when it has run.
  active_ms bigint not null default 0,
  active_since timestamptz
) with (fillfactor = 50);
create index jobs_account on jobs (account_id, id desc);
create index jobs_open on jobs (account_id, id) where state in ('queued', 'running', 'paused');
create index jobs_finished on jobs (finished_at) where finished_at is not null;

create table job_folders (
  job_id uuid not null references jobs on delete cascade,
  path bytea not null,
  depth integer not null,
  -- Only the destination has it.
  is_extra boolean not null,
  -- Goes when it is empty.
  is_removed boolean not null,
  state text not null check (state in ('waiting', 'listed', 'removed', 'kept', 'failed')),
  -- Whose it is; that one's successor takes it up.
  seat smallint,
  -- Some of its files stand in job_files, and it is not listed to its end.
  is_begun boolean not null default false,
  tries smallint not null default 0,
  next_try_at timestamptz not null default now(),
  error_code text,
  error_message text,
  primary key (job_id, path)
);
create index job_folders_waiting on job_folders (job_id, depth, path) where state = 'waiting';
create index job_folders_removed on job_folders (job_id, depth desc) where state = 'listed' and is_removed;

create sequence job_file_ends;

create table job_files (
  job_id uuid not null references jobs on delete cascade,
  path bytea not null,
  ordinal bigint not null generated always as identity,
  action text not null check (action in ('copy', 'move', 'delete', 'list')),
  phase smallint not null,
  state text not null check (state in ('waiting', 'planned', 'done', 'skipped', 'failed')),
  size bigint not null,
  modified_ms bigint not null,
  seat smallint,
  tries smallint not null default 0,
  next_try_at timestamptz not null default now(),
  -- Of a move: the copy stands, and the source is to be deleted.
  is_copied boolean not null default false,
  error_code text,
  error_message text,
  -- In about the order in which they ended, for those who watch.
  end_number bigint,
  primary key (job_id, path)
) with (fillfactor = 80);
create index job_files_waiting on job_files (job_id, phase, ordinal) where state = 'waiting';
create index job_files_ordinal on job_files (job_id, ordinal);
create index job_files_ended on job_files (job_id, end_number) where end_number is not null;
create index job_files_failed on job_files (job_id, ordinal) where state = 'failed';

alter table transfers add column job_id uuid;
