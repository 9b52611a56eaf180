-- The pages of an account's links say who asks.

alter table accounts add column brand_name text, add column brand_color text, add column brand_logo bytea;
