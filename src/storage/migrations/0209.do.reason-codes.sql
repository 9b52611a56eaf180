-- Why a schedule stopped or left out a run, and why a test of a connection failed, as a code that each language explains.

alter table schedules add column error_code text;
alter table connection_tests add column error_code text;
