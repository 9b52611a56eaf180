-- Of resumable uploads with digests on: states that the SHA-256 of their bytes has had, by which any node goes on with it.
alter table uploads
  add column wants_digest boolean not null default false,
  -- null: it is not taken. Up to 64 bytes of the file stand in each state; with the end of the upload they go.
  add column hash_states bytea,
  -- Of the file that it has become.
  add column digest bytea;

-- How many of the bytes that a digest is of were read back from the server, as its state was lost when they had passed.
alter table transfers add column digest_read_bytes bigint;
