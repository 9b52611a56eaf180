-- Of the folders of a job: eight bytes of the listing of each folder above it. A folder that lists the same as several above it
-- is one that a hidden link leads back to.
alter table job_folders add column above bytea not null default '';
