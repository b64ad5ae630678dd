import { asAdmin } from '@quittance/shared/database-roles';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';

/** As many as one statement inserts: it keeps what one part of it hands to the others. */
const CHUNK = 100_000;

/** Inserts rows in chunks: the last parameters of the statement are the first number of each and its last. Nothing is checked. */
async function insertNumbered(
  { stack }: Quittance,
  sql: string,
  values: readonly string[],
  { from, rows }: { from: number; rows: number },
): Promise<void> {
  await asAdmin(stack.adminUrl, async (client) => {
    await client.query('set session_replication_role = replica');
    for (let first = from; first < from + rows; first += CHUNK)
      await client.query(sql, [...values, first, Math.min(first + CHUNK, from + rows) - 1]);
  });
}

/** Copies of one invoice, most of them paid, with what shops note on theirs. */
export async function storeInvoices(quittance: Quittance, shop: Merchant, rows: number): Promise<void> {
  const { id } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 25 })).body.data;
  await insertNumbered(
    quittance,
    `insert into invoices.invoices select copy.* from invoices.invoices i, generate_series($2::int, $3::int) as n,
       jsonb_populate_record(i, jsonb_build_object('id', 'inv_' || lpad(n::text, 36, '0'), 'external_id', 'order ' || n,
         'description', 'Two tickets, row ' || n, 'metadata', jsonb_build_object('customer', md5(n::text)), 'closed_at', now(),
         'status', case when n % 5 = 0 then 'expired' else 'paid' end,
         'paid_amount', case when n % 5 = 0 then 0 else i.amount_due end,
         'paid_at', case when n % 5 = 0 then null else now() end)) as copy
     where i.id = $1`,
    [id],
    { from: 2, rows: rows - 1 },
  );
}

/** The events of invoices, several of each, as the event log of a merchant has them. */
export async function storeEvents(quittance: Quittance, shop: Merchant, rows: number): Promise<void> {
  await insertNumbered(
    quittance,
    `insert into webhooks.events (account_id, sequence, id, kind, created_at, resource_id, version, data)
     select $1, n, 'evt_' || lpad(n::text, 36, '0'), case when n % 2 = 0 then 'invoice.paid' else 'invoice.expired' end,
       now() - (1000000000 - n) * interval '1 millisecond', 'inv_' || lpad((n / 5)::text, 36, '0'), n % 5,
       json_build_object('id', 'inv_' || lpad((n / 5)::text, 36, '0'), 'status', 'paid')
     from generate_series($2::int, $3::int) as n`,
    [shop.id],
    { from: 900_000_001, rows },
  );
}

/** Events of invoices that all receivers have had for more than a month: the first of the outbox. */
export async function storeOldOutbox({ db }: Quittance, round: number, rows: number): Promise<void> {
  await db.rows(
    `insert into invoices.outbox (seq, id, kind, payload, created_at, sent_at, sends, confirmed_by, confirmed_at)
     overriding system value
     select -$1::bigint * 10000000 - n, 'evt_00' || lpad($1::text, 4, '0') || lpad(n::text, 30, '0'), 'invoice.created',
       jsonb_build_object('account_id', 'acc_old', 'resource_id', 'inv_' || md5(n::text), 'version', 1,
         'data', jsonb_build_object('id', 'inv_' || md5(n::text), 'status', 'pending', 'metadata', repeat('x', 500))),
       now() - interval '32 days', now() - interval '32 days', 1, '{webhooks}', now() - interval '31 days'
     from generate_series(1, $2::int) as n`,
    [round, rows],
  );
}

/** Events that webhooks has processed more than a month ago, and no sender keeps. */
export async function storeOldInbox({ db }: Quittance, round: number, rows: number): Promise<void> {
  await db.rows(
    `insert into webhooks.inbox (event_id, received_at)
     select 'evt_00' || lpad($1::text, 4, '0') || lpad(n::text, 30, '0'), now() - interval '31 days'
     from generate_series(1, $2::int) as n`,
    [round, rows],
  );
  await db.rows(
    `insert into webhooks.inbox_pruning (before_id, since) values ('evt_00z', now() - interval '1 day')
     on conflict (is_only) do update set before_id = excluded.before_id, since = excluded.since`,
  );
}

/** Events of an account that is new, older than they are kept, each delivered at once to the one endpoint. */
export async function storeOldEvents({ db }: Quittance, account: string, rows: number): Promise<void> {
  await db.rows('insert into webhooks.accounts (account_id, last_sequence) values ($1, $2::int)', [
    account,
    rows,
  ]);
  await db.rows(
    `with endpoint as (
       insert into webhooks.endpoints (id, account_id, url, event_types, created_at)
       values ('we_' || $1::text, $1::text, 'https://shop.example/hook', '{}', now() - interval '100 days') returning key),
     delivered as (
       insert into webhooks.deliveries (endpoint_key, sequence, state, attempts, due_at)
       select key, n, 'delivered', 1, now() - interval '91 days' from endpoint, generate_series(1, $2::int) as n),
     tried as (
       insert into webhooks.attempts (endpoint_key, sequence, number, started_at, ms, status, answer)
       select key, n, 1, now() - interval '91 days', 30, 200, 'thanks' from endpoint, generate_series(1, $2::int) as n)
     insert into webhooks.events (account_id, sequence, id, kind, created_at, resource_id, version, data)
     select $1, n, $1 || '_' || n, 'invoice.created', now() - interval '91 days', 'inv_' || md5(n::text), 1,
       json_build_object('id', 'inv_' || md5(n::text), 'status', 'pending', 'metadata', repeat('x', 500))
     from generate_series(1, $2::int) as n`,
    [account, rows],
  );
}

/** Payouts that are mined or failed. */
export async function storePayouts({ db }: Quittance, shop: Merchant, rows: number): Promise<void> {
  await db.rows(
    `insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status,
       failed_reason, tx_hash, completed_at, usd_rate, external_id, metadata, created_at)
     select n, n, $1, 'ETH', 1500000000000000000 + n, 500000000000000, '0x' || repeat('ab', 20), 12,
       case when n % 5 = 0 then 'failed' else 'mined' end, case when n % 5 = 0 then 'It was refused.' end,
       '0x' || md5(n::text) || md5(n::text), case when n % 5 = 0 then null else now() end, 2500, 'wage ' || n,
       json_build_object('employee', md5(n::text)), now() - n * interval '1 second'
     from generate_series(900000001, 900000000 + $2::int) as n`,
    [shop.id, rows],
  );
}

/**
 * Of five movements four are payments and one is a hold, whose payout refunds an invoice once in fifty times. The balance is
 * what they add up to.
 */
export async function storeTransactions(quittance: Quittance, shop: Merchant, rows: number): Promise<void> {
  await insertNumbered(
    quittance,
    `with moved as (
       insert into ledger.transfers (op, kind, account_id, asset, amount, network_fee, usd_rate)
       select case when n % 5 = 0 then 'hold:' || n else 'deposit:dep_' || n end,
         case when n % 5 = 0 then 'hold' else 'deposit' end, $1, 'ETH', 1000000000000000 + n,
         case when n % 5 = 0 then 500000000000 else 0 end, 2500
       from generate_series($2::int, $3::int) as n
       returning seq, op, kind, amount),
     named as (
       insert into ledger.deposits (deposit_id, account_id, asset, outpoint, invoice_id)
       select split_part(op, ':', 2), $1, 'ETH', op, 'inv_' || lpad(seq::text, 36, '0') from moved where kind = 'deposit'),
     held as (
       insert into ledger.holds (payout_id, account_id, asset, amount, network_fee, state, invoice_id)
       select split_part(op, ':', 2), $1, 'ETH', amount - 500000000000, 500000000000, 'placed',
         case when seq % 50 = 0 then 'inv_' || lpad(seq::text, 36, '0') end
       from moved where kind = 'hold'),
     booked as (
       insert into ledger.balances (account_id, asset, available, held)
       select $1, 'ETH', sum(case when kind = 'hold' then -amount else amount end), sum(amount) filter (where kind = 'hold')
       from moved
       on conflict (account_id, asset) do update set available = balances.available + excluded.available,
         held = balances.held + excluded.held)
     insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
     select m.seq, e.account_id, e.bucket, 'ETH', e.amount from moved m cross join lateral (values
       ($1, 'available', case when kind = 'hold' then -amount else amount end),
       (case when kind = 'hold' then $1 end, case when kind = 'hold' then 'held' else 'custody' end,
         case when kind = 'hold' then amount else -amount end)) as e (account_id, bucket, amount)`,
    [shop.id],
    { from: 900_000_001, rows },
  );
  await maintain(quittance, 'analyze ledger.transfers, ledger.entries, ledger.holds, ledger.deposits');
}

/** Fills tables while they have no indexes but those of their constraints, and makes them again. */
export async function withoutIndexes(
  { stack, db }: Quittance,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const indexes = await db.rows<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = any($1::regclass[]) and not exists (select from pg_constraint where conindid = indexrelid)`,
    [tables],
  );
  await asAdmin(stack.adminUrl, async (client) => {
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    await fill();
    await client.query(`set maintenance_work_mem = '1GB'`);
    for (const { definition } of indexes) await client.query(definition);
  });
}

/** What takes longer than a statement of a service may. */
export const maintain = ({ stack }: Quittance, statement: string): Promise<unknown> =>
  asAdmin(stack.adminUrl, (client) => client.query(statement));
