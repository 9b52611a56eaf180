-- Who is going to add to a chain next, until when. A claim is a row like any other: no lock lasts while receipts are signed,
-- and a node that stands still, or dies, loses it.
alter table receipt_chains
  add column claim uuid,
  add column claimed_until timestamptz;

-- In the statement that writes a batch: what was signed is what is written, or nothing is.
create function require_link(holds boolean) returns boolean language plpgsql as $$
begin
  if holds is not true then
    raise exception 'the chain, or a row, is not what it was when the receipts were signed' using errcode = 'RC001';
  end if;
  return true;
end
$$;
