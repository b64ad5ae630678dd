import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import type { Deposit } from '../domain/deposit.ts';
import type { ChainView, Destinations, PaymentTotals } from '../domain/invoice-state.ts';
import { AWAITED_AFTER_DROP_MS } from '../domain/mempool-payment.ts';
import { depositFields, isHeld } from './deposits.ts';

/*
 * Anybody may send an invoice any number of payments: no statement here reads all of them. These conditions classify
 * a payment of an invoice (deposit `d`, mempool payment `s`, invoice `i`, its chain's cursor `c`), as
 * classifyPayments in test/payment-model.ts does.
 */
const counts = (p: string) => `(${p}.asset = i.asset and ${p}.amount >= i.dust)`;
const inTime = (p: string) => `(i.expires_at is null or ${p}.first_seen_at <= i.expires_at)`;
const givenUp = (d: string) => `coalesce(c.height >= ${d}.dropped_height + ${d}.min_confirmations, false)`;
const lost = (d: string) => `(${d}.state = 'missing' and ${givenUp(d)})`;
const present = (d: string) =>
  `(${d}.state in ('seen', 'settled') or (${d}.state = 'missing' and not ${givenUp(d)}))`;
const final = `(d.state <> 'seen'
  or c.height - d.block_height + 1 >= d.min_confirmations and not ${isHeld('d')})`;
const unsettled = `(d.state = 'seen' and ${final})`;
/** Names a reversal by its block, so that a deposit that returns and is dropped again is reported again. */
const reversalOf = `case when d.state = 'dropped' then d.block_hash
  when d.state = 'reversed' or ${lost('d')} then 'settled' end`;
const isCreditReversed = (d: string) =>
  `((${d}.state = 'reversed' or ${lost(d)}) and ${d}.disposition = 'credit')`;

/** Deposits of the outpoint of `p`, each state through its own index. */
export const sameOutpoint = (p: string, condition: string) =>
  `(exists (select from deposits o where o.chain = ${p}.chain and o.outpoint = ${p}.outpoint
      and o.state in ('seen', 'settled') and ${condition})
    or exists (select from deposits o where o.chain = ${p}.chain and o.outpoint = ${p}.outpoint
      and o.state not in ('seen', 'settled') and ${condition}))`;

// Former releases stored what was reported in the invoice.
const reversalUnreported = `(${reversalOf}) is distinct from d.reversal_reported and (${reversalOf}) is not null
  and not 'invoice.payment_reversed:' || d.id || '.' || (${reversalOf}) = any(i.reported_events)`;
const lateUnreported = `not d.late_reported and not 'invoice.late_payment:' || d.id = any(i.reported_events)`;
const dropUnreported = `s.dropped_at is not null and s.dropped_at is distinct from s.drop_reported_at
  and not 'invoice.payment_reversed:' || s.outpoint || '.' || (extract(epoch from s.dropped_at) * 1000)::bigint
    = any(i.reported_events)`;

const sumOf = (p: string, condition: string) => `coalesce(sum(${p}.amount) filter (where ${condition}), 0)`;
const any = (condition: string) => `coalesce(bool_or(${condition}), false)`;

// Before the first check of a balance, nothing is known: '-infinity' is no Date.
type TotalsRow = PaymentTotals & { id: InvoiceId; height: number; knownUntil: Date | number };

const selectTotals = query<TotalsRow>(
  'payments_totals',
  `select i.id, c.height, v.known_until, d.timely_final, d.timely_pending, d.timely_credited, d.late_final,
     d.late_pending, s.timely_waiting, s.late_waiting, d.reversed, d.awaited or s.awaited as is_awaited, d.unsettled,
     d.unsettled_uncounted, d.lost, d.unreported or s.unreported as is_reversal_unreported, d.is_timely_unreported,
     d.is_late_unreported
   from invoices i
   join cursors c on c.chain = i.chain
   join addresses a on a.chain = i.chain and a.address = i.address
   -- Where balances are checked, payments are known only up to the last check of this address.
   cross join lateral (select
     case when a.balance_check_at is null then c.known_until
          else least(c.known_until, coalesce(a.balance_known_until, '-infinity')) end as known_until) as v
   cross join lateral (
     select
       ${sumOf('d', `d.stands and d.timely and d.final`)} as timely_final,
       ${sumOf('d', `d.stands and d.timely and not d.final`)} as timely_pending,
       ${sumOf('d', `d.stands and d.timely and d.credited_at is not null`)} as timely_credited,
       ${sumOf('d', `d.stands and not d.timely and d.final`)} as late_final,
       ${sumOf('d', `d.stands and not d.timely and not d.final`)} as late_pending,
       ${sumOf('d', `d.reversed`)} as reversed,
       ${any(`d.state = 'dropped' and d.counted and d.timely and not d.given_up`)} as awaited,
       count(*) filter (where d.unsettled and d.counted)::int as unsettled,
       count(*) filter (where d.unsettled and not d.counted)::int as unsettled_uncounted,
       count(*) filter (where d.lost)::int as lost,
       ${any(`d.unreported`)} as unreported,
       ${any(`d.stands and d.timely and d.late_unreported`)} as is_timely_unreported,
       ${any(`d.stands and not d.timely and d.late_unreported`)} as is_late_unreported
     from (
       select d.amount, d.state, d.credited_at, ${counts('d')} as counted, ${inTime('d')} as timely,
         ${final} as final, ${present('d')} and ${counts('d')} as stands, ${givenUp('d')} as given_up,
         ${lost('d')} as lost, ${unsettled} as unsettled, ${counts('d')} and ${reversalUnreported} as unreported,
         ${lateUnreported} as late_unreported,
         ${isCreditReversed('d')} and not ${sameOutpoint(
           'd',
           `o.id <> d.id and (${present('o')} or (${isCreditReversed('o')} and o.id > d.id))`,
         )} as reversed
       from deposits d where d.invoice_id = i.id offset 0) as d) as d
   cross join lateral (
     select
       ${sumOf('s', `s.dropped_at is null and s.timely`)} as timely_waiting,
       ${sumOf('s', `s.dropped_at is null and not s.timely`)} as late_waiting,
       ${any(`s.timely and (s.dropped_at is null or s.dropped_at >= v.known_until - $2::int * interval '1 millisecond')`)}
         as awaited,
       ${any(`s.timely and s.unreported`)} as unreported
     from (
       select s.amount, s.dropped_at, ${inTime('s')} as timely, ${dropUnreported} as unreported
       from mempool_payments s
       where s.invoice_id = i.id and ${counts('s')} and not ${sameOutpoint('s', present('o'))} offset 0) as s) as s
   where i.id = any($1::text[])`,
);

/** The totals of each invoice's payments, and the state of its chain. */
export async function paymentTotals(
  trx: Trx,
  ids: readonly InvoiceId[],
): Promise<Map<InvoiceId, { paid: PaymentTotals; view: ChainView }>> {
  const rows = await trx.rows(selectTotals, [ids, AWAITED_AFTER_DROP_MS]);
  return new Map(
    rows.map(({ id, height, knownUntil, ...paid }) => [
      id,
      { paid, view: { height, knownUntil: knownUntil instanceof Date ? knownUntil : null } },
    ]),
  );
}

const updateRecomputed = statement(
  'deposits_recomputed',
  `update deposits d set due_height = null,
     confirmed_at = case when ${unsettled} then coalesce(d.confirmed_at, $2) else d.confirmed_at end
   from invoices i join cursors c on c.chain = i.chain
   where d.invoice_id = i.id and i.id = any($1::text[]) and d.due_height <= c.height`,
);

/** Clears the due heights that were reached: due deposits that are in the chain and not held are final. */
export async function markRecomputed(trx: Trx, ids: readonly InvoiceId[], now: Date): Promise<void> {
  await trx.rows(updateRecomputed, [ids, now]);
}

/** How many deposits of an invoice one step settles or reverses. The next step continues. */
export const SETTLED_PER_STEP_MAX = 1_000;

// Payments that count come first, and large ones before small ones, so that dust delays nobody.
const settling = bulk({ id: 'invoice_id text', counted: 'text', uncounted: 'text' });

const updateSettled = query<Deposit>(
  'deposits_settle',
  `with chosen as (
     select d.id, case when d.counted then u.counted else u.uncounted end as disposition
     from ${settling.from('u')}
     join invoices i on i.id = u.invoice_id
     join cursors c on c.chain = i.chain
     cross join lateral (
       select d.id, ${counts('d')} as counted from deposits d
       where d.invoice_id = i.id and ${unsettled} and (u.counted is not null or not ${counts('d')})
       order by ${counts('d')} desc, d.amount desc, d.id limit ${SETTLED_PER_STEP_MAX}) as d)
   update deposits d set state = 'settled', settled_at = $4, disposition = chosen.disposition,
     confirmed_at = coalesce(d.confirmed_at, $4)
   from chosen where d.id = chosen.id
   returning ${depositFields('d')}`,
);

/** Settles final deposits with their disposition. @returns the settled ones, in the order of their ids */
export async function settleDeposits(
  trx: Trx,
  given: readonly { id: InvoiceId; destinations: Destinations }[],
  now: Date,
): Promise<Deposit[]> {
  if (given.length === 0) return [];
  const rows = given.map(({ id, destinations }) => ({ id, ...destinations }));
  return (await trx.rows(updateSettled, [...settling.values(rows), now])).sort(byId);
}

const updateReversed = query<Deposit>(
  'deposits_reverse',
  `with chosen as (
     select d.id from invoices i
     join cursors c on c.chain = i.chain
     cross join lateral (
       select d.id from deposits d where d.invoice_id = i.id and ${lost('d')}
       order by d.amount desc, d.id limit ${SETTLED_PER_STEP_MAX}) as d
     where i.id = any($1::text[]))
   update deposits d set state = 'reversed', reversed_at = $2, dropped_height = null
   from chosen where d.id = chosen.id
   returning ${depositFields('d')}`,
);

/** Reverses settled deposits that did not come back in time. @returns them in the order of their ids */
export async function reverseDeposits(trx: Trx, ids: readonly InvoiceId[], now: Date): Promise<Deposit[]> {
  if (ids.length === 0) return [];
  return (await trx.rows(updateReversed, [ids, now])).sort(byId);
}

const byId = (a: Deposit, b: Deposit): number => (a.id < b.id ? -1 : 1);

const updateDue = statement(
  'deposits_due_again',
  `update deposits d set due_height = chosen.height
   from (
     select d.id, c.height from invoices i
     join cursors c on c.chain = i.chain
     cross join lateral (
       select d.id from deposits d where d.invoice_id = i.id and (${unsettled} or ${lost('d')}) limit 1) as d
     where i.id = any($1::text[])) as chosen
   where d.id = chosen.id`,
);

/** Keeps invoices due that have more deposits to settle or reverse than one step takes. */
export async function markRestDue(trx: Trx, ids: readonly InvoiceId[]): Promise<void> {
  if (ids.length > 0) await trx.rows(updateDue, [ids]);
}

const updateReversalsReported = statement(
  'deposits_reversal_reported',
  `update deposits d set reversal_reported = ${reversalOf}
   from invoices i join cursors c on c.chain = i.chain
   where d.invoice_id = i.id and i.id = any($1::text[]) and ${counts('d')} and ${reversalUnreported}`,
);
const updateDropReported = statement(
  'mempool_payments_drop_reported',
  `update mempool_payments s set drop_reported_at = s.dropped_at
   from invoices i join cursors c on c.chain = i.chain
   where s.invoice_id = i.id and i.id = any($1::text[]) and ${counts('s')} and ${inTime('s')} and ${dropUnreported}
     and not ${sameOutpoint('s', present('o'))}`,
);

/** Marks the reversed payments of these invoices as reported. */
export async function markReversalsReported(trx: Trx, ids: readonly InvoiceId[]): Promise<void> {
  if (ids.length === 0) return;
  await trx.rows(updateReversalsReported, [ids]);
  await trx.rows(updateDropReported, [ids]);
}

const updateLateReported = statement(
  'deposits_late_reported',
  `update deposits d set late_reported = true
   from invoices i join cursors c on c.chain = i.chain
   where d.invoice_id = i.id and i.id = any($1::text[]) and ${counts('d')} and ${present('d')}
     and (i.status = 'expired' or not ${inTime('d')}) and ${lateUnreported}`,
);

/** Marks the late payments of these invoices as reported. */
export async function markLateReported(trx: Trx, ids: readonly InvoiceId[]): Promise<void> {
  if (ids.length > 0) await trx.rows(updateLateReported, [ids]);
}
