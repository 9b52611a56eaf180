-- How many rows of watched_files each folder had after its last check: what an account holds is bounded by their sum.
alter table watched_folders add column stored_files bigint not null default 0;
