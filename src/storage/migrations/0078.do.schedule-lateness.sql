-- When the last run was due that began by the clock; null = it began out of turn.
alter table schedules add column last_due_at timestamptz;
