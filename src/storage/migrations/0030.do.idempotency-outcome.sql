-- The transfer that a request with this key has begun, written before anything is done on a remote: a claim that has one
-- is not given to anybody else when its node dies.
alter table idempotency_keys add column transfer_id uuid;
