-- Checksums of multipart uploads, as clients of S3 ask for them.

-- Algorithm and type, as in "crc32 COMPOSITE"; null: none was asked for.
alter table uploads add column checksum text;
-- Algorithm and value, as in "crc32 y/Q5Jg=="; null: the part was sent without one.
alter table multipart_parts add column checksum text;
