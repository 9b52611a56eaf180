-- The url of an upload, which may hold a secret: kept sealed while the upload may be repeated, and gone with its transfer.
create table transfer_secrets (
  transfer_id uuid not null references transfers on delete cascade,
  name text not null,
  key_id text not null references master_keys,
  wrapped_key bytea not null,
  nonce bytea not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (transfer_id, name)
);
