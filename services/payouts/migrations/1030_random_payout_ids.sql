-- Payout ids are random, so that an id tells nothing of how many payouts there are. The list keeps the order of `seq`.
-- payout_number_key stays for a release: replicas of the former release permute numbers with it.
alter table payouts alter column seq set default nextval('payout_numbers');
