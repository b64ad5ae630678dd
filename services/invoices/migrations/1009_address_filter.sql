-- Which transaction gave an address out: what was committed since the last look is found by it without a gap, whatever
-- the order of the commits.
alter table addresses add column given_xid xid8 not null default pg_current_xact_id();
create index addresses_by_xid on addresses (chain, given_xid);
