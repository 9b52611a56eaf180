-- Where the secrets of a configured connection are read, by name, as the configuration file says it. The secrets
-- themselves are not stored.
alter table connections add column secret_references jsonb not null default '{}';
