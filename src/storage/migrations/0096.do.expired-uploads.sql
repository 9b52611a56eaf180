-- Found by connection when they have expired, and when a connection goes; those that are done without looking at the others.

drop index uploads_expired;
create index uploads_expired on uploads (expires_at) where state <> 'done';
create index uploads_done on uploads (expires_at) where state = 'done';
create index uploads_connection on uploads (connection_id, expires_at);
