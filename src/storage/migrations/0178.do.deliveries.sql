-- webhook_events held a row for each receiver of an event, each with its own copy of the body. Now the outbox (events)
-- holds the event with its body, and deliveries holds a row for each receiver. The rows of before keep their bodies.

-- In the order in which transactions of other nodes take them.
lock table event_feeds, webhook_events, events in access exclusive mode;

drop trigger webhook_events_written on webhook_events;
drop trigger webhook_events_copied on webhook_events;
drop function number_event_of_former_node();

alter table webhook_events rename to deliveries;
alter table deliveries drop column is_in_feed, alter column body drop not null;
alter index webhook_events_pkey rename to deliveries_pkey;
alter index webhook_events_folder rename to deliveries_folder;
alter index webhook_events_account rename to deliveries_account;
alter index webhook_events_pending rename to deliveries_pending;
alter index webhook_events_after rename to deliveries_after;
alter index webhook_events_webhook rename to deliveries_webhook;
alter index webhook_events_dead rename to deliveries_dead;
alter index webhook_events_undelivered rename to deliveries_undelivered;
alter index webhook_events_copies_failed rename to deliveries_copies_failed;
create index deliveries_event on deliveries (event_id) where event_id is not null and body is null;

-- An event stays as long as a delivery has its body from it. The feed hides it earlier. An event whose copies never
-- ended leaves its body to its delivery.
create function keep_event_of_deliveries() returns trigger language plpgsql as $$
begin
  if not old.is_ready then
    update deliveries set body = old.body where id = old.id and copy_state = 'pending' and body is null;
  elsif exists (select from deliveries where id = old.id and body is null)
    or exists (select from deliveries where event_id = old.id and body is null)
  then
    return null;
  end if;
  return old;
end
$$;

create trigger events_deleted before delete on events for each row execute function keep_event_of_deliveries();

-- In a rolling upgrade nodes of versions 1.0 and 1.1 go on using the former table. is_in_feed is what they write.
create view webhook_events as
select id, folder_id, account_id, type,
  coalesce((select e.body from events e where e.id = coalesce(d.event_id, d.id)), d.body) as body,
  file_count, files, state, attempts, replays, next_attempt_at, after_action, delivered_at, created_at, job_id,
  webhook_url, copy_state, copy_rounds, copies_failed, webhook_id, event_id, false as is_in_feed, connection_ids
from deliveries d;

alter view webhook_events alter column files set default '[]';
alter view webhook_events alter column attempts set default 0;
alter view webhook_events alter column replays set default 0;
alter view webhook_events alter column after_action set default 'none';
alter view webhook_events alter column copy_state set default 'none';
alter view webhook_events alter column copy_rounds set default 0;
alter view webhook_events alter column copies_failed set default 0;
alter view webhook_events alter column is_in_feed set default false;
alter view webhook_events alter column connection_ids set default '{}';

-- Version 1.0 knows of no feed: its events get their number here, within the transaction that writes them.
create function number_event_of_former_node(written webhook_events) returns void language plpgsql as $$
declare
  feed event_feeds;
  connections text[];
begin
  -- A newer node may have begun to copy its files.
  delete from events where id = written.id and not is_ready;
  insert into event_feeds (account_id) values (written.account_id) on conflict do nothing;
  select * into feed from event_feeds where account_id = written.account_id for update;
  update event_feeds set last_sequence = feed.last_sequence + 1, last_id = written.id
  where account_id = written.account_id;
  if written.folder_id is not null then
    select array_remove(array[connection_id, copy_to->>'connectionId'], null) into strict connections
    from watched_folders where id = written.folder_id;
  else
    select array_remove(array[definition->'source'->>'connectionId', definition->'destination'->>'connectionId'], null)
    into strict connections from jobs where id = written.job_id;
  end if;
  insert into events (id, account_id, type, connection_ids, body, is_ready, sequence, numbered_at)
  values (written.id, written.account_id, written.type, connections,
    '{"sequence":' || feed.last_sequence + 1 || ',"id":"' || written.id || '","previousId":'
      || coalesce('"' || feed.last_id || '"', 'null') || ',' || substr(written.body, 2),
    true, feed.last_sequence + 1, clock_timestamp());
  -- Overdue by so much that a node finds them, as it finds those that have lost their task.
  insert into deliveries (id, event_id, webhook_id, account_id, type, file_count, state, next_attempt_at,
    connection_ids, created_at)
  select overlay(gen_random_uuid()::text placing left(written.id::text, 15) from 1 for 15)::uuid, written.id, h.id,
    written.account_id, written.type, 0, 'pending', now() - interval '1 minute', connections, now()
  from webhooks h where h.account_id = written.account_id and h.is_active and h.deleted_at is null
    and written.type = any (h.events) and (h.connection_ids = '{}' or connections <@ h.connection_ids);
end
$$;

create function write_delivery_of_former_node() returns trigger language plpgsql as $$
declare
  current deliveries;
begin
  if tg_op = 'INSERT' then
    if new.webhook_id is null and not new.is_in_feed and new.copy_state <> 'pending' then
      perform number_event_of_former_node(new);
    end if;
    insert into deliveries (id, folder_id, account_id, type, body, file_count, files, state, attempts, replays,
      next_attempt_at, after_action, delivered_at, created_at, job_id, webhook_url, copy_state, copy_rounds,
      copies_failed, webhook_id, event_id, connection_ids)
    values (new.id, new.folder_id, new.account_id, new.type,
      -- Version 1.0 writes no event before the copies have ended.
      case when new.copy_state = 'pending' then new.body end,
      new.file_count, new.files, new.state, new.attempts, new.replays, new.next_attempt_at, new.after_action,
      new.delivered_at, new.created_at, new.job_id, new.webhook_url, new.copy_state, new.copy_rounds,
      new.copies_failed, new.webhook_id, new.event_id, new.connection_ids);
    return new;
  end if;
  -- The statement has read the row without a lock.
  select * into current from deliveries where id = old.id for update;
  if not found then
    return null;
  end if;
  -- If another node has changed the state meanwhile, the statement is not about this row, unless it was delivered.
  if current.state <> old.state and (tg_op = 'DELETE' or new.state <> 'delivered') then
    return null;
  end if;
  if tg_op = 'DELETE' then
    delete from deliveries where id = old.id;
    return old;
  end if;
  if current.copy_state = 'pending' and new.copy_state <> 'pending' and not new.is_in_feed then
    perform number_event_of_former_node(new);
  end if;
  -- Only what the statement changes: another node may have changed the rest.
  update deliveries set
    body = case when new.body is distinct from old.body or new.copy_state <> old.copy_state then null else body end,
    files = case when new.files is distinct from old.files then new.files else files end,
    state = case when new.state is distinct from old.state then new.state else state end,
    attempts = case when new.attempts is distinct from old.attempts then new.attempts else attempts end,
    replays = case when new.replays is distinct from old.replays then new.replays else replays end,
    next_attempt_at = case
      when new.next_attempt_at is distinct from old.next_attempt_at then new.next_attempt_at else next_attempt_at end,
    after_action = case when new.after_action is distinct from old.after_action then new.after_action else after_action end,
    delivered_at = case when new.delivered_at is distinct from old.delivered_at then new.delivered_at else delivered_at end,
    copy_state = case when new.copy_state is distinct from old.copy_state then new.copy_state else copy_state end,
    copy_rounds = case when new.copy_rounds is distinct from old.copy_rounds then new.copy_rounds else copy_rounds end,
    copies_failed = case
      when new.copies_failed is distinct from old.copies_failed then new.copies_failed else copies_failed end
  where id = old.id;
  return new;
end
$$;

create trigger webhook_events_written instead of insert or update or delete on webhook_events for each row
  execute function write_delivery_of_former_node();
