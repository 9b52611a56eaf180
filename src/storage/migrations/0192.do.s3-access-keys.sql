-- Access keys for the S3 front: each acts with the rights of its API key. Clients sign with the secret and do not send
-- it, so it is sealed, not hashed.
create table s3_access_keys (
  access_key_id text primary key,
  api_key_id uuid not null references api_keys on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  created_at timestamptz not null default now()
);
create index s3_access_keys_api_key on s3_access_keys (api_key_id);

create table s3_access_key_secrets (
  access_key_id text not null references s3_access_keys on delete cascade,
  name text not null,
  key_id text not null references master_keys,
  wrapped_key bytea not null,
  nonce bytea not null,
  ciphertext bytea not null,
  updated_at timestamptz not null default now(),
  primary key (access_key_id, name)
);
