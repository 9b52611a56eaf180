-- The owner's list of events filters by time. Numbers and times rise together.
create index events_numbered on events (account_id, numbered_at, sequence) where sequence is not null;
