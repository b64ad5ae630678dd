-- What is held now is little among all that ever was: metrics ask for it every few seconds, the auditor every minute.
create index holds_open on holds (asset, created_at) where state = 'placed';
