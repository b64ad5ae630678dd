import { invariants } from '@quittance/reconciliation/invariants';
import type { Environment } from './environment.ts';

export const SEEN = 'a deposit is seen';
export const WAITS_FOR_A_BLOCK = 'a transaction waits for a block';
export const PAYS_OUT = /^(a|the settled) (payout|sweep|bump)/;
export const PAYS_IN = /^(a deposit|the payment)/;
/** The voider decides them: an undecided request, a batch whose process has died, a link whose time is over. */
export const UNDECIDED = /^a (payout is requested|batch is not finished|refund is)/;
/** It came before its deposit: a worker of its own books it. */
export const UNBOOKED = 'a reversal is not booked';

const LEFT = `
  select 'events wait in the outbox of invoices' as what from invoices.outbox where sent_at is null
  union all select 'events wait in the outbox of payouts' from payouts.outbox where sent_at is null
  union all select 'events wait in the outbox of the ledger' from ledger.outbox where sent_at is null
  union all select 'a payout is ' || status from payouts.payouts where status in ('requested', 'reserved', 'planned', 'signed', 'broadcast')
  union all select 'a batch is not finished' from payouts.payout_batches where finished_at is null
  union all select 'a refund is ' || state from payouts.refunds
    where state = 'pending' or (state = 'claimable' and expires_at <= now())
  union all select 'a ' || purpose || ' is ' || state from payouts.transactions where state in ('signed', 'broadcast')
  union all select 'a deposit is ' || state from invoices.deposits
    where state in ('seen', 'missing') or (state = 'settled' and credited_at is null)
  union all select '${UNBOOKED}' from ledger.reversals where booked_at is null
  union all select 'invoices has a dead letter: ' || kind from invoices.dead_letters
  union all select 'payouts has a dead letter: ' || kind from payouts.dead_letters
  union all select 'the ledger has a dead letter: ' || kind from ledger.dead_letters
  union all select 'webhooks has a dead letter: ' || kind from webhooks.dead_letters`;

/** What has not come to its end, as far as the services know; and what they do not know yet of the chain. */
export function whatIsLeft(environment: Environment): string[] {
  const rows = [
    ...new Set(environment.database.run('invoices', LEFT, [], false).map(({ what }) => what as string)),
  ];
  if (environment.bus.waiting > 0) rows.push('messages wait for their acknowledgement');
  if (environment.chain.isWaiting()) rows.push(WAITS_FOR_A_BLOCK);
  return rows.length > 0 ? rows : unknownOfChain(environment);
}

/**
 * Payments to our addresses that invoices has not written down, and payments and payouts that left the chain. Whoever
 * was to see it may have looked while another replica had the lease.
 */
function unknownOfChain(environment: Environment): string[] {
  const { chain, database } = environment;
  const ours = new Set(
    database
      .run('invoices', 'select address from addresses', [], false)
      .map(({ address }) => address as string),
  );
  const known = new Set(
    database
      .run('invoices', `select outpoint from invoices.deposits where state in ('seen', 'settled')`, [], false)
      .map(({ outpoint }) => outpoint as string),
  );
  const truth = chain.truth();
  const missing = truth.filter(({ to, outpoint, isOurs }) => !isOurs && ours.has(to) && !known.has(outpoint));
  const there = new Set(truth.map(({ outpoint }) => outpoint));
  const unfounded = [...known].filter((outpoint) => !there.has(outpoint));
  const paid = new Set(truth.map(({ to }) => to));
  const unpaid = database
    .run('payouts', `select address from payouts.payouts where status = 'mined'`, [], false)
    .filter(({ address }) => !paid.has(address as string));
  return [
    ...missing.map(({ outpoint }) => `the payment ${outpoint} is not known`),
    ...unfounded.map((outpoint) => `the payment ${outpoint} is known and not in the chain`),
    ...unpaid.map(({ address }) => `the settled payout to ${String(address)} is not in the chain`),
  ];
}

const arrivals = invariants.find(({ number }) => number === 'I7')?.sql ?? '';

/** Services to whom an event has not come. */
export function undelivered(environment: Environment): string[] {
  return environment.database.run('invoices', arrivals, [0], false).map(({ what }) => what as string);
}
