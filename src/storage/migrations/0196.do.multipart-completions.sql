-- The completion of a multipart upload that runs: a repetition on any node waits for its end.

-- The entity tag of the parts that its writer joins; null: it does something else.
alter table uploads add column completing text;
