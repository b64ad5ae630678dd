-- A hot wallet whose key is in a KMS. Its signatures are not the same each time, so the bytes of what it has signed are kept, and the
-- same order gets them again. As all of these tables it is only ever added to.
alter table signatures add column signed jsonb;

-- Such a hot wallet does not tell the recovery phrase, from which the keys of the deposits come: their first address does.
alter table wallets add column first_deposit text collate "C";
