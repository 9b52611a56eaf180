-- Limits that hold over all nodes.

-- Requests of each API key in its running second. Nothing of it is worth keeping over a crash of the database.
create unlogged table request_rates (
  key_id text primary key,
  window_ends timestamptz not null,
  taken bigint not null,
  -- Of the last statement, for its answer.
  granted bigint not null
);

-- How many sessions each node may hold of each login (its pool's key), and what it could do with them.
create table session_claims (
  login text not null,
  node_id uuid not null,
  -- What it holds or may open; the sum over the nodes keeps to the limit.
  held integer not null,
  -- Further ones that it waits for.
  waiting integer not null,
  -- Of those it holds: in use, or wanted by somebody who waits there.
  sessions integer not null,
  at_once integer not null,
  since timestamptz not null,
  is_request boolean not null,
  is_fresh boolean not null,
  primary key (login, node_id)
);
create index session_claims_node on session_claims (node_id);
