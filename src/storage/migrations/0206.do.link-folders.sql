-- The users of an upload link may send folders.

alter table links add column folders boolean not null default false;
alter table links alter column folders drop default;
