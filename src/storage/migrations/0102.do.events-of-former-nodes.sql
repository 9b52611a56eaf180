-- In a rolling upgrade nodes of the former version go on writing events beside new ones, and know of no feed. Theirs get their
-- number here, within the transaction that writes them: the former version sends what it has committed at once.
-- New nodes tell that they have brought an event to the feed themselves.
alter table webhook_events add column is_in_feed boolean not null default false;

create function number_event_of_former_node() returns trigger language plpgsql as $$
declare
  feed event_feeds;
  connections text[];
begin
  -- A new node may have begun to copy its files.
  delete from events where id = new.id and not is_ready;
  insert into event_feeds (account_id) values (new.account_id) on conflict do nothing;
  select * into feed from event_feeds where account_id = new.account_id for update;
  update event_feeds set last_sequence = feed.last_sequence + 1, last_id = new.id where account_id = new.account_id;
  if new.folder_id is not null then
    select array_remove(array[connection_id, copy_to->>'connectionId'], null) into strict connections
    from watched_folders where id = new.folder_id;
  else
    select array_remove(array[definition->'source'->>'connectionId', definition->'destination'->>'connectionId'], null)
    into strict connections from jobs where id = new.job_id;
  end if;
  new.is_in_feed := true;
  new.body := '{"sequence":' || feed.last_sequence + 1 || ',"id":"' || new.id || '","previousId":'
    || coalesce('"' || feed.last_id || '"', 'null') || ',' || substr(new.body, 2);
  insert into events (id, account_id, type, connection_ids, body, is_ready, sequence, numbered_at)
  values (new.id, new.account_id, new.type, connections, new.body, true, feed.last_sequence + 1, clock_timestamp());
  -- Due long enough to be found as those are that have lost their job.
  insert into webhook_events (id, event_id, webhook_id, account_id, type, body, file_count, state, next_attempt_at,
    created_at)
  select overlay(gen_random_uuid()::text placing left(new.id::text, 15) from 1 for 15)::uuid, new.id, h.id,
    new.account_id, new.type, new.body, 0, 'pending', now() - interval '1 minute',
    now()
  from webhooks h where h.account_id = new.account_id and h.is_active and h.deleted_at is null
    and new.type = any (h.events) and (h.connection_ids = '{}' or connections <@ h.connection_ids);
  return new;
end
$$;

create trigger webhook_events_written before insert on webhook_events for each row
  when (new.webhook_id is null and not new.is_in_feed and new.copy_state <> 'pending')
  execute function number_event_of_former_node();
-- The files of one were copied: it is told now.
create trigger webhook_events_copied before update of copy_state on webhook_events for each row
  when (old.copy_state = 'pending' and new.copy_state <> 'pending' and not new.is_in_feed)
  execute function number_event_of_former_node();
