-- Servers that go on in no file: each part of a multipart upload is a hidden file of its own.

alter table uploads drop constraint uploads_layout_check;
alter table uploads add constraint uploads_layout_check check (layout in ('offsets', 'turns', 'apart', 'store'));
