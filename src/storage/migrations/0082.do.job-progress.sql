-- How far jobs are between the ends of files: which file of which job a transfer that runs is of, and what had passed a
-- moment ago. What is under way stays apart from what is done: of a node that dies nothing of it is counted twice.

alter table running_transfers add column job_id uuid, add column job_path bytea;
create index running_transfers_job on running_transfers (job_id) where job_id is not null;

alter table jobs
  add column sampled_at timestamptz,
  add column sampled_bytes bigint,
  -- The sample before.
  add column earlier_at timestamptz,
  add column earlier_bytes bigint;
