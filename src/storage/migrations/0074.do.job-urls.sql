-- Url uploads that jobs do: one file each. The url may hold a login or a signature: it is kept like other secrets.

alter table jobs drop constraint jobs_type_check;
alter table jobs add constraint jobs_type_check check (type in ('copy', 'move', 'delete', 'sync', 'upload'));
alter table job_files drop constraint job_files_action_check;
alter table job_files
  add constraint job_files_action_check check (action in ('copy', 'move', 'delete', 'list', 'upload'));

create table job_secrets (
  job_id uuid not null references jobs on delete cascade,
  name text not null,
  key_id text not null references master_keys,
  wrapped_key bytea not null,
  nonce bytea not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (job_id, name)
);
