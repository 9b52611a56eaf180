-- What each try sent and was answered, as far as it is shown: bounded, and without secrets.
alter table webhook_attempts
  add column url text,
  add column request_headers jsonb,
  add column answer_headers jsonb;

-- What the event is about, for the lists; the feed forgets sooner than the outbox.
alter table webhook_events add column connection_ids text[] not null default '{}';
update webhook_events w set connection_ids = e.connection_ids
from events e where e.id = coalesce(w.event_id, w.id) and e.connection_ids <> '{}';

-- Those that wait or were given up are few among many that arrived.
create index webhook_events_undelivered on webhook_events (account_id, id) where state in ('pending', 'dead');
