import {
  aChoice,
  anEndpoint,
  aSecondDeposit,
  aTransaction,
  itsCredit,
  itsEvent,
  itsUnchosen,
} from './right-books.ts';

/** By the invariants that must name it: what is seeded. */
const seeds: Record<string, Record<string, string>> = {
  I1: {
    'an entry changed by one unit': `update ledger.entries set amount = amount + 1 where bucket = 'custody'`,
    'a transfer without entries': `
     insert into ledger.transfers (op, kind, account_id, asset, amount) values ('hold:8', 'hold', 'acc_1', 'ETH', 1)`,
  },
  I2: {
    'a balance changed by one unit': 'update ledger.balances set available = available + 1',
  },
  I3: {
    'a hold that nothing is held for': `
     update ledger.holds set amount = amount + 5; update payouts.payouts set amount = amount + 5`,
    'a deposit that waits for a decision, and is in no balance': `
     insert into ledger.unresolved (deposit_id, account_id, asset, amount) values ('dep_7', 'acc_1', 'ETH', 5)`,
  },
  'I4 I4': {
    'a mined payout without a transaction, its hold still open': `
     update payouts.payouts set status = 'mined', tx_hash = '0x1', completed_at = now()`,
  },
  I4: {
    'a payout of another amount than its hold': 'update payouts.payouts set amount = amount + 1',
    'a hold for a payout that does not exist': `
     insert into ledger.holds (payout_id, account_id, asset, amount, network_fee, state, ended_at)
       values ('8', 'acc_1', 'ETH', 1, 1, 'settled', now())`,
    'refunds of more than was paid for their invoice': `
     insert into payouts.refunds (id, account_id, invoice_id, asset, share, amount, requested, rate, state, claim_hash, expires_at,
         created_at)
       select 'ref_' || n, 'acc_1', 'inv_1', 'ETH', 60, 60, 'all', 'then', 'claimable', sha256(n::text::bytea), now(), now()
       from generate_series(1, 2) as n;
     update invoices.invoices set paid_amount = 119`,
    'a completed refund whose payout is not mined': `
     insert into payouts.refunds (id, account_id, invoice_id, asset, share, amount, requested, rate, state, payout_id, created_at)
       values ('ref_1', 'acc_1', 'inv_1', 'ETH', 30, 30, 'all', 'then', 'completed', 7, now());
     update payouts.payouts set refund_id = 'ref_1'; update invoices.invoices set paid_amount = 100`,
    'a payout that is paid without the approval of another token': `
     update payouts.payouts set approvals_needed = 1, approval_expires_at = now(), made_by = 'tok_1',
       approvals = '[{"token": "tok_1", "decision": "approved", "at": "2026-11-25T09:30:00.000Z"}]'`,
    'a transaction signed for more than its payouts': `
     ${aTransaction}; insert into payouts.payments (payout_id, replacement_group, address, amount) values (7, 1, '0x1', 30);
     update payouts.payouts set status = 'signed'; update payouts.transactions set amount = 31`,
    'a payment to another address than its payout': `
     ${aTransaction}; insert into payouts.payments (payout_id, replacement_group, address, amount) values (7, 1, '0x2', 30);
     update payouts.payouts set status = 'signed'`,
  },
  I5: {
    'a deposit that was never booked': `
     insert into invoices.deposits select 'dep_2' as id, chain, '0xt:1' as outpoint, invoice_id, asset, address,
       derivation_index, amount, tx_hash, output_index, block_height, block_hash, first_seen_at, min_confirmations,
       state, dropped_height, due_height, confirmed_at, settled_at, disposition, credited_at, reversed_at
     from invoices.deposits where id = 'dep_1'`,
    'a credit of another amount than the deposit': `update invoices.deposits set amount = amount - 1`,
    'an outpoint that is credited twice': `
     ${aSecondDeposit('missing')}; update invoices.deposits set outpoint = '0xt:0', dropped_height = 5 where id = 'dep_2';
     ${itsCredit}`,
    'a deposit that its chain took back, and whose credit stands': `
     update invoices.deposits set state = 'reversed', reversed_at = now()`,
    'a reversal of a deposit that is there': `
     insert into ledger.transfers (op, kind, account_id, asset, amount) values ('reversal:dep_1', 'reversal', 'acc_1', 'ETH', 5);
     insert into ledger.entries (transfer_seq, bucket, asset, amount)
       select seq, bucket, 'ETH', by from ledger.transfers, (values ('loss', -5), ('custody', 5)) as side(bucket, by)
       where op = 'reversal:dep_1'`,
  },
  'I5 I5': {
    'a credit without a deposit': `update invoices.deposits set id = 'dep_x'`,
  },
  I7: {
    'an event that did not arrive': `delete from invoices.inbox`,
  },
  I8: {
    'a gap in an account’s events': `update webhooks.events set sequence = 5 where id = 'evt_2'`,
    'an account whose first events are gone': `
     update webhooks.events set account_id = 'acc_9' where id = 'evt_1'`,
    'an account all of whose events are gone': `update webhooks.events set account_id = 'acc_9'`,
    'an event that was pruned and is there': `update webhooks.accounts set pruned_through = 1`,
    'a delivery that nobody will send': `
     ${anEndpoint}; insert into webhooks.deliveries (endpoint_key, sequence, state, due_at) values (9, 1, 'waiting', now())`,
    'a delivery in a queue that no claim looks at': `
     ${anEndpoint}; insert into webhooks.endpoint_queues (endpoint_key) values (9);
     insert into webhooks.deliveries (endpoint_key, sequence, state, due_at)
       values (9, 1, 'waiting', now() - interval '1 hour')`,
    'a retry in a queue that claims look at for new deliveries only': `
     ${anEndpoint}; insert into webhooks.endpoint_queues (endpoint_key, new_due_at) values (9, now());
     insert into webhooks.deliveries (endpoint_key, sequence, state, due_at, attempts) values
       (9, 1, 'waiting', now() - interval '1 hour', 1), (9, 2, 'waiting', now() - interval '1 hour', 0)`,
    'a delivery that was claimed long ago': `
     ${anEndpoint}; insert into webhooks.deliveries (endpoint_key, sequence, state, due_at, claim, claimed_until)
       values (9, 1, 'sending', now(), gen_random_uuid(), now() - interval '10 minutes')`,
    'an event without a delivery': `
     ${anEndpoint}; update webhooks.endpoints set created_at = now() - interval '1 day', event_types = '{invoice.paid}'`,
  },
  I13: {
    'a choice without its invoice': `${aChoice}; delete from invoices.invoices where id = 'inv_2'`,
    'a choice whose invoice still waits for it': `${aChoice}; ${itsUnchosen}`,
    'an invoice that waits for the choice of its asset, and has one': `
     ${aChoice}; ${itsUnchosen}; delete from invoices.asset_choices`,
    'a choice of another asset than its invoice': `
     ${aChoice}; update invoices.asset_choices set asset = 'USDC_ERC20'`,
    'an invoice of another price than its choice': `
     ${aChoice}; update invoices.asset_choices set amount_fiat = 1001`,
    'an invoice of another account than its choice': `
     ${aChoice}; update invoices.asset_choices set account_id = 'acc_2'`,
    'a chosen invoice that asks for less than its price': `
     ${aChoice}; update invoices.invoices set amount_due = amount_due - 10000000000 where id = 'inv_2'`,
    'a chosen invoice that asks for more than its price': `
     ${aChoice}; update invoices.invoices set amount_due = amount_due + 10000000000 where id = 'inv_2'`,
    'a chosen invoice whose amount no wallet can type': `
     ${aChoice}; update invoices.invoices set amount_due = amount_due + 1 where id = 'inv_2'`,
  },
  'I1 I2 I2': {
    'an entry of another account': `update ledger.entries set account_id = 'acc_2' where bucket = 'held'`,
  },
  'I2 I3': {
    'a balance below zero': `alter table ledger.balances drop constraint balances_available_not_negative;
     update ledger.balances set available = available - 61`,
  },
  'I5 I7': {
    'an event that is a dead letter, with its deposit': `
     ${aSecondDeposit('settled')}; ${itsEvent}; insert into ledger.dead_letters (event_id, kind, envelope, failure)
       values ('evt_10', 'deposit.settled', '{}', 'unreadable')`,
  },
  I10: {
    'a deposit that is being returned by nobody': `
     insert into ledger.unresolved (deposit_id, account_id, asset, amount, state, payout_id)
       values ('dep_7', 'acc_1', 'ETH', 5, 'returning', '99')`,
    'a deposit that is being swept by nothing': `
     ${aTransaction}; update payouts.transactions set state = 'invalidated', purpose = 'sweep', swept_address = '0xa';
     insert into payouts.unswept_deposits (deposit_id, chain, address, derivation_index, asset, amount, state, sweep_id)
       values ('dep_1', 'ethereum', '0xa', 0, 'ETH', 100, 'sweeping', 1)`,
    'a coin that is locked for nothing': `
     ${aTransaction}; update payouts.transactions set state = 'invalidated';
     insert into payouts.utxos (outpoint, chain, address, branch, derivation_index, amount, state, locked_by)
       values ('t:0', 'bitcoin', 'bc1', 'hot', 0, 100, 'locked', 1)`,
    'write-offs that are not booked': `
     insert into ledger.write_offs (account_id, asset, outpoint, amount_left) values ('acc_1', 'ETH', '0xt:0', 3)`,
    'a payout that was never decided': `
     update payouts.payouts set status = 'requested', created_at = now() - interval '1 hour';
     update ledger.holds set state = 'refused'; update ledger.balances set held = 0, available = 100;
     delete from ledger.entries where transfer_seq = (select seq from ledger.transfers where op = 'hold:7');
     delete from ledger.transfers where op = 'hold:7'`,
    'a reversal that is not booked': `update invoices.deposits set state = 'reversed', reversed_at = now();
     insert into ledger.reversals (deposit_id, account_id, asset, amount, created_at)
       values ('dep_1', 'acc_1', 'ETH', 100, now() - interval '1 day')`,
  },
};

export const seededDiscrepancies = Object.entries(seeds).flatMap(([named, kinds]) =>
  Object.entries(kinds).map(([what, plant]): [string, string, string[]] => [what, plant, named.split(' ')]),
);
