-- A file that is renamed aside until another one takes its place: path is its hidden name, upload_id its own.

alter table leftovers drop constraint leftovers_kind_check;
alter table leftovers add constraint leftovers_kind_check check (kind in ('folder', 'multipart', 'aside'));
