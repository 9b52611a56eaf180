-- Host keys that servers have announced on a session of a trusted one, and proven. Those that are not in host_keys of the connection wait.
create table announced_host_keys (
  connection_id text not null references connections on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  fingerprint text not null,
  algorithm text not null,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- Its owner does not want it, however often it is announced.
  rejected_at timestamptz,
  primary key (connection_id, fingerprint)
);
