-- A link says on its page what it is for.

alter table links add column note text;
