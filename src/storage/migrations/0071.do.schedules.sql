-- Jobs that begin by the clock.

create table schedules (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  -- The key that made it or changed it last, and without which it stops; null = the account's owner did.
  key_id uuid,
  name text not null,
  cron text not null,
  time_zone text not null,
  is_active boolean not null,
  job_name text,
  definition jsonb not null,
  -- null while it is switched off.
  next_run_at timestamptz,
  last_run_at timestamptz,
  last_job_id uuid,
  last_skipped_at timestamptz,
  -- Why it was skipped last, or has stopped.
  error_message text,
  created_at timestamptz not null default now()
);
create index schedules_account on schedules (account_id, id);
create index schedules_due on schedules (next_run_at) where next_run_at is not null;

create index jobs_schedule_open on jobs (schedule_id) where state in ('queued', 'running', 'paused');
