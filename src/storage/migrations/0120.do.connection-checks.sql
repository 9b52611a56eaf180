-- Outages stay when they are over; at most one of a connection goes on.
alter table connection_outages
  drop constraint connection_outages_pkey,
  add column until timestamptz,
  add column error text,
  add column error_code text,
  add primary key (connection_id, since);
create unique index connection_outages_open on connection_outages (connection_id) where until is null;
create index connection_outages_over on connection_outages (until) where until is not null;

-- Who looks at a connection next, and what the last look found.
create table connection_checks (
  connection_id text primary key references connections on delete cascade,
  account_id uuid not null,
  -- Of one that a node is at work on: when its claim lapses.
  due_at timestamptz not null,
  claimed_by uuid,
  watched_since timestamptz not null default now(),
  checked_at timestamptz,
  reached_at timestamptz,
  failing_since timestamptz,
  failures integer not null default 0,
  error text,
  error_code text,
  host_key text,
  host_key_algorithm text,
  host_key_since timestamptz,
  certificate text,
  certificate_subject text,
  certificate_issuer text,
  certificate_valid_to timestamptz
) with (fillfactor = 70);
create index connection_checks_due on connection_checks (due_at);

-- Looks of an hour, and of a day: how many, and how many of them fell into which slot of time.
create table connection_speeds (
  connection_id text not null references connections on delete cascade,
  account_id uuid not null,
  unit text not null check (unit in ('hour', 'day')),
  starts_at timestamptz not null,
  checks integer not null,
  failed integer not null,
  connect_counts integer[] not null,
  answer_counts integer[] not null,
  primary key (connection_id, unit, starts_at)
) with (fillfactor = 70);
create index connection_speeds_old on connection_speeds (unit, starts_at);

create function add_counts(one integer[], other integer[]) returns integer[] language sql immutable as $$
  select coalesce(array_agg(coalesce(a, 0) + coalesce(b, 0) order by n), '{}')
  from unnest(one, other) with ordinality as both_of(a, b, n)
$$;
