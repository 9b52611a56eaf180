-- Host keys of the first announcement that a connection has heard: they came with the trusted one, and are no news.
alter table announced_host_keys add column is_first boolean not null default false;
update announced_host_keys k set is_first = true
where first_seen_at = (select min(f.first_seen_at) from announced_host_keys f where f.connection_id = k.connection_id);
