-- The latest due time that was decided, by a run or by leaving it out. A clock that is set back brings no such time again.
-- Nodes of earlier versions do not write it.
alter table schedules add column decided_due_at timestamptz;
update schedules set decided_due_at = last_due_at where last_due_at is not null;
