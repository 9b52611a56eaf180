-- The secrets came from the configuration file, also once it does not list the connection any more: they are the
-- operator's, for this server and this root alone.
alter table connections add column secrets_configured boolean not null default false;
update connections set secrets_configured = configured;
