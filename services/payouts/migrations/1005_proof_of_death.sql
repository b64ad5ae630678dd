-- No receipt is no proof: nodes forget them, or never had them. That a nonce was used by another transaction is
-- found in the blocks themselves.
alter table transactions
  -- the last final block when it was signed: neither it nor another one with its nonce can lie there or before
  add column final_height_when_signed bigint,
  -- up to here the blocks after that were searched for its nonce
  add column searched_to bigint;
