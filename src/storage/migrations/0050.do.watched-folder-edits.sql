-- Watched folders can be changed.

alter table watched_folders
  -- The names that the folder took before they were changed: what only the new ones take is baseline at the next check.
  add column former_names jsonb;

-- signing: whsec_…; login: user and password of the webhook's URL, which do not stand in that.
alter table watched_folder_secrets
  add column kind text not null default 'signing' check (kind in ('signing', 'login'));
