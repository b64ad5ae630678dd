-- The auditor looks at the addresses that were given out: what may sweeps of them have left there?
create index transactions_swept on transactions (chain, swept_address) where purpose = 'sweep';
