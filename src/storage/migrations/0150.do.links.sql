-- Links: URLs that need no key, and do one thing each.

create table links (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  connection_id text not null references connections on delete cascade,
  -- The key that made it, and with which it ends; null = the account's owner did.
  key_id uuid,
  -- SHA-256 of the secret in its URL, which is stored nowhere.
  token_hash bytea not null unique,
  operation text not null check (operation in ('upload', 'download')),
  path text not null,
  filename text,
  overwrite boolean not null,
  digest bytea,
  max_bytes bigint,
  max_uses integer,
  uses integer not null default 0,
  -- Uses that run, by node: those of one that dies come to nothing.
  held jsonb not null default '{}',
  -- Uses that the client itself broke off.
  broken integer not null default 0,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
) with (fillfactor = 70);
create index links_account on links (account_id, id);
create index links_expired on links (expires_at);
create index links_held on links (id) where held <> '{}';

alter table transfers add column link_id uuid;
create index transfers_link on transfers (link_id, id desc) where link_id is not null;
