-- Events that tell of a job's end: they have no watched folder, and their own receiver.

alter table webhook_events
  alter column folder_id drop not null,
  add column job_id uuid,
  add column webhook_url text,
  add foreign key (account_id) references accounts on delete cascade,
  add check (folder_id is not null or (job_id is not null and webhook_url is not null));
