-- The auditor sums them up every minute; most were settled long ago.
create index unresolved_open on unresolved (account_id, asset) include (amount) where state = 'open';
