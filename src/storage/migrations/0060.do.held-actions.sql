-- Actions of limited plans are counted as their history items are written; until then the node holds them.

alter table monthly_usage
  -- By node: actions that it may still record.
  add column held jsonb not null default '{}';

create index monthly_usage_held on monthly_usage (account_id) where held <> '{}';
