-- A resumable upload may come by a link.

-- The link whose users alone know it; null: keys do.
alter table uploads add column link_id uuid;
