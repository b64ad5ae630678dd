-- The auditor asks every minute for all that is still there. It is little, among all that ever was.
create index holdings_there on holdings (chain) where state <> 'swept' and reversed_at is null;
create index holdings_sweeping on holdings (sweep_id) where state = 'sweeping' and reversed_at is null;
create index coins_there on coins (chain) where state <> 'spent' and reversed_at is null;
create index coins_locked on coins (locked_by) where state = 'locked' and reversed_at is null;
