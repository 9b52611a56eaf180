-- A check was asked for while another one ran: one more begins once that one is over.
alter table watched_folders add column check_wanted boolean not null default false;
