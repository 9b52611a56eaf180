-- Until when a watched folder waits for the hours of its connection, while its next check is due then.
alter table watched_folders add column waits_until timestamptz;
