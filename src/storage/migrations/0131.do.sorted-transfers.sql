-- The largest and the longest of an account. Most are small and short: those cost nothing here, and stand behind the others.
create index transfers_largest on transfers (account_id, file_size desc, id desc) where file_size >= 1048576;
create index transfers_longest on transfers (account_id, duration_ms desc, id desc) where duration_ms >= 1000;
-- The overview counts them.
create index webhook_events_dead on webhook_events (account_id) where state = 'dead';
