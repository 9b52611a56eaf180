-- Connections that cannot be reached, as operations have found; one that is not here is not known to be down.
create table connection_outages (
  connection_id text primary key references connections on delete cascade,
  account_id uuid not null,
  since timestamptz not null
);
