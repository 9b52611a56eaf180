-- The runs of a schedule, newest first.
create index jobs_schedule on jobs (schedule_id, id) where schedule_id is not null;
