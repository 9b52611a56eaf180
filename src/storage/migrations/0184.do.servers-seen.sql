-- What the server of a connection shows about itself: its states, newest first.
alter table connection_checks add column servers jsonb not null default '[]';
