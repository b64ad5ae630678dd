-- Tables are named by the terms of docs/glossary.md.
alter table sums rename to balance_snapshots;
alter table sums_until rename to balance_snapshots_until;
alter index sums_pkey rename to balance_snapshots_pkey;
alter index sums_until_pkey rename to balance_snapshots_until_pkey;
alter table balance_snapshots_until rename constraint sums_until_is_one to balance_snapshots_until_is_one;
