-- What repeats a failed transfer, as JSON without any secret, and the transfer or the job that repeated it last.
alter table transfers add column request text;
alter table transfers add column again_id uuid;
