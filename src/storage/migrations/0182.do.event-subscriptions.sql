-- Events of successful transfers are written only for accounts with a webhook that subscribes to them.
alter table webhooks
  add column operations text[] not null default '{}',
  add column format text not null default 'standard';

-- The operation of transfer.succeeded: webhooks may name the operations that they receive.
alter table events add column operation text;

alter table watched_folders add column detect_deleted boolean not null default false;
