-- What no part of an object store holds as yet: several short objects, in place of one that every piece writes anew.

create table upload_tails (
  upload_id uuid not null references uploads on delete cascade,
  -- Of the objects that such stand in.
  slot integer not null,
  -- The part that will hold it, and where in that it begins.
  part integer not null,
  start bigint not null,
  size bigint not null,
  primary key (upload_id, slot)
);
insert into upload_tails (upload_id, slot, part, start, size)
  select distinct on (upload_id) upload_id, 0, number, 0, size from upload_parts where is_tail
  order by upload_id, number desc;
delete from upload_parts where is_tail;
alter table upload_parts drop column is_tail;
