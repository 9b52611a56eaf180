-- What receipts are signed with. One key is active; the public halves of former ones stay, to verify by.
create table receipt_keys (
  id text primary key,
  public_key text not null,
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index receipt_keys_active on receipt_keys (is_active) where is_active;

create table receipt_key_secrets (
  receipt_key_id text not null references receipt_keys on delete cascade,
  name text not null,
  key_id text not null references master_keys,
  wrapped_key bytea not null,
  nonce bytea not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (receipt_key_id, name)
);

-- The end of each account's chain: whoever adds to it locks its row until that has committed.
create table receipt_chains (
  account_id uuid primary key,
  sequence bigint not null default 0,
  head text
);

create table receipts (
  account_id uuid not null,
  sequence bigint not null,
  transfer_id uuid not null unique,
  recorded_at timestamptz not null,
  receipt text not null,
  primary key (account_id, sequence)
);
