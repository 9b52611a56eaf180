-- Until when a running job waits for the hours of its connections.
alter table jobs add column waits_until timestamptz;
