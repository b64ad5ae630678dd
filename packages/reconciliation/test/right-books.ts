import { creditedDeposit } from '@quittance/testkit/credited-deposit';

const tables = [
  ...[
    'balances',
    'dead_letters',
    'entries',
    'holds',
    'outbox',
    'reversals',
    'transfers',
    'unresolved',
    'write_offs',
  ].map((table) => `ledger.${table}`),
  ...['inbox', 'outbox', 'payments', 'utxos', 'unswept_deposits', 'transactions', 'payouts', 'refunds'].map(
    (table) => `payouts.${table}`,
  ),
  ...['asset_choices', 'deposits', 'inbox', 'invoices', 'outbox', 'unchosen_invoices'].map(
    (table) => `invoices.${table}`,
  ),
  ...['deliveries', 'endpoint_queues', 'endpoints', 'events', 'accounts'].map((table) => `webhooks.${table}`),
];

/** A small set of right books, in place of all that there is. Runs where no trigger does. */
export const rightBooks = `
  ${tables.map((table) => `delete from ${table};`).join(' ')}
  alter table ledger.balances drop constraint if exists balances_available_not_negative;
  alter table ledger.balances add constraint balances_available_not_negative check (available >= 0);
  ${creditedDeposit()};
  update ledger.balances set available = 60, held = 40;
  insert into ledger.transfers (op, kind, account_id, asset, amount) values ('hold:7', 'hold', 'acc_1', 'ETH', 30);
  insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
    select seq, 'acc_1', 'available', 'ETH', -40 from ledger.transfers where op = 'hold:7' union all
    select seq, 'acc_1', 'held', 'ETH', 40 from ledger.transfers where op = 'hold:7';
  insert into ledger.holds (payout_id, account_id, asset, amount, network_fee, state)
    values ('7', 'acc_1', 'ETH', 30, 10, 'placed');
  insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status)
    values (1, 7, 'acc_1', 'ETH', 30, 10, '0x1', 3, 'reserved');
  insert into webhooks.accounts (account_id, last_sequence) values ('acc_1', 2);
  insert into webhooks.events (account_id, sequence, id, kind, created_at, resource_id, version, data)
    values ('acc_1', 1, 'evt_1', 'invoice.created', now(), 'inv_1', 1, '{}'),
           ('acc_1', 2, 'evt_2', 'invoice.paid', now(), 'inv_1', 2, '{}');
  insert into ledger.outbox (id, kind, payload) values ('evt_9', 'credit.recorded', '{}');
  insert into invoices.inbox (event_id) values ('evt_9')`;

/** Rows that a test adds to them. */
export const aTransaction = `insert into payouts.transactions (id, replacement_group, chain, wallet, nonce, purpose, asset, amount, max_cost,
    min_confirmations, raw, tx_hash, fence) overriding system value
  values (1, 1, 'ethereum', '0xhot', 0, 'payout', 'ETH', 30, 1, 3, 'bytes', '0x9', 1)`;
export const aSecondDeposit = (state: string) => `insert into invoices.deposits
  select 'dep_2' as id, chain, '0xt:1' as outpoint, invoice_id, asset, address, derivation_index, amount, tx_hash,
    output_index, block_height, block_hash, first_seen_at, min_confirmations, '${state}' as state,
    ${state === 'missing' ? '5' : 'dropped_height'}, due_height, confirmed_at, settled_at, disposition, credited_at, reversed_at
  from invoices.deposits where id = 'dep_1'`;
export const itsCredit = `insert into ledger.transfers (op, kind, account_id, asset, amount)
    values ('deposit:dep_2', 'deposit', 'acc_1', 'ETH', 100);
  insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
    select seq, 'acc_1', 'available', 'ETH', 100 from ledger.transfers where op = 'deposit:dep_2' union all
    select seq, null, 'custody', 'ETH', -100 from ledger.transfers where op = 'deposit:dep_2';
  update ledger.balances set available = available + 100`;
export const itsEvent = `insert into invoices.outbox (id, kind, payload)
    values ('evt_10', 'deposit.settled', '{"deposit_id":"dep_2","asset":"ETH"}');
  insert into payouts.inbox (event_id) values ('evt_10') on conflict do nothing`;
/** A payer chose ETH for 10 euros: 10 × 1.0845 / 2500, rounded up at 8 decimals. */
export const aChoice = `insert into invoices.asset_choices (invoice_id, account_id, asset, assets, currency, amount_fiat, chosen_at)
    values ('inv_2', 'acc_1', 'ETH', '{ETH,USDC_ERC20}', 'EUR', 1000, now());
  insert into invoices.invoices (id, account_id, asset, chain, currency, amount_fiat, fiat_rate, usd_rate, quote, amount_due,
      min_confirmations, dust, status, created_at, expires_at, address, derivation_index, version)
    values ('inv_2', 'acc_1', 'ETH', 'ethereum', 'EUR', 1000, '{"usd_rate":"1.0845"}', 2500, '{}', 4338000000000000,
      3, 1, 'pending', now(), now() + interval '1 hour', '0xb', 1, 2);
  insert into invoices.outbox (id, kind, payload) values ('evt_13', 'invoice.asset_chosen', '{"resource_id":"inv_2"}');
  insert into webhooks.inbox (event_id) values ('evt_13') on conflict do nothing`;
const unchosenOf = (
  id: string,
) => `insert into invoices.unchosen_invoices (id, account_id, currency, amount_fiat, assets,
    tolerance_bps, created_at, expires_at)
  values ('${id}', 'acc_1', 'EUR', 1000, '{ETH}', 0, now(), now() + interval '1 hour')`;
export const itsUnchosen = unchosenOf('inv_2');
export const anUnchosen = unchosenOf('inv_3');
export const anEndpoint = `insert into webhooks.endpoints (key, id, account_id, url, event_types, created_at) overriding system value
  values (9, 'whe_9', 'acc_1', 'https://x', '{}', now())`;
