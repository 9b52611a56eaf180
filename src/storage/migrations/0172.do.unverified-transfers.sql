-- Why a stored file could not be looked at after its server had acknowledged it; null of all others.
alter table transfers add column unverified text;
