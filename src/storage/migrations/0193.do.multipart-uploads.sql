-- Multipart uploads of the S3 front: parts that arrive at once, in any order, on any node, and become one file.

alter table uploads
  -- How its parts are stored; null: a resumable upload, which has none.
  add column layout text check (layout in ('offsets', 'turns', 'store')),
  -- The distance between the offsets of its parts, once it is known.
  add column part_bytes bigint;

create index uploads_listed on uploads (connection_id, path collate "C", id) where layout is not null and state <> 'done';

create table multipart_parts (
  upload_id uuid not null references uploads on delete cascade,
  number integer not null,
  size bigint not null,
  -- The one that its client knows: another one for each stored version.
  etag text not null,
  -- The hidden file that holds it; null: that of the upload.
  place text,
  -- Where it begins in that file.
  start bigint not null,
  -- The SHA-256 of what was sent, where the file is read back.
  digest bytea,
  -- What an object store calls it.
  store_etag text,
  store_checksum text,
  stored_at timestamptz not null default now(),
  primary key (upload_id, number)
);

-- The requests that write parts now, one for each number.
create table multipart_writers (
  upload_id uuid not null references uploads on delete cascade,
  number integer not null,
  writer uuid not null,
  size bigint not null,
  place text,
  start bigint not null,
  lease_until timestamptz not null,
  primary key (upload_id, number)
);

-- Hidden files besides that of the upload: noted before they are made, until they are removed.
create table multipart_files (
  upload_id uuid not null references uploads on delete cascade,
  path text not null,
  primary key (upload_id, path)
);
