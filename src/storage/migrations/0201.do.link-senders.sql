-- A link says on its page who made it.

alter table links add column sender text;
