-- `always`: the digest of every file that passes is taken; else where a request or the connection asks.
alter table accounts add column digests text not null default 'asked' check (digests in ('asked', 'always'));

-- SHA-256 of the file's bytes as they passed, or why there is none although it was wanted; and where the time went.
alter table transfers add column digest bytea, add column no_digest text, add column stages text;
create index transfers_digest on transfers (account_id, digest, id desc) where digest is not null;
