import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, InvoiceId, PayoutId, RefundId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import {
  countedStates,
  endedPayouts,
  type PayoutEnd,
  type Refunded,
  type RefundedNow,
  refundMoves,
  stateAfterPayout,
} from '../domain/refund.ts';
import { assertMoves } from '../domain/states.ts';
import { tellRefunds, tellUnfunded } from './refund-events.ts';
import { type NewRefund, refundColumns, type StoredRefund } from './refund-rows.ts';
import { isReverted } from './transactions.ts';

const sqlList = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ');
const isCounted = (of: string): string => `${of}.state in (${sqlList(countedStates)})`;

const isOfSurplus = (of: string): string => `${of}.requested = 'surplus'`;

const lockInvoice = query<{ invoiceId: string }>(
  'refunds_lock_invoice',
  `insert into refunded_invoices (invoice_id, account_id, asset, paid_amount) values ($1, $2, $3, $4)
   on conflict (invoice_id) do update set paid_amount = excluded.paid_amount, updated_at = now()
   returning invoice_id`,
);

const expireOfInvoice = query<StoredRefund>(
  'refunds_expire_of_invoice',
  `update refunds set state = 'expired', version = version + 1, updated_at = now()
   where invoice_id = $1 and state = 'claimable' and expires_at <= now()
   returning ${refundColumns()}`,
);

const rows = bulk({
  id: 'text',
  assertionId: 'text',
  account: 'account_id text',
  invoiceId: 'text',
  depositId: 'text',
  asset: 'text',
  share: 'numeric',
  amount: 'numeric',
  requested: 'text',
  rate: 'text',
  ratesNow: 'json',
  currency: 'text',
  worth: 'worth_cents numeric',
  state: 'text',
  claimHash: 'bytea',
  expiresAt: 'timestamptz',
  payoutId: 'bigint',
  externalId: 'text',
  metadata: 'json',
  createdAt: 'timestamptz',
});
const limitParameter = (n: number): string => `$${rows.columns.split(', ').length + n}::numeric`;

// The sum is read after the lock of the invoice's row, so it has every refund that was committed before.
const insertWithin = query<StoredRefund>(
  'refunds_insert_within',
  `${rows.insertInto('refunds')}
   where (
     select given.share + coalesce(sum(former.share), 0) <= ${limitParameter(1)} and (given.requested <> 'surplus'
       or given.share + coalesce(sum(former.share) filter (where ${isOfSurplus('former')}), 0) <= ${limitParameter(2)})
     from refunds former where former.invoice_id = given.invoice_id and ${isCounted('former')})
   returning ${refundColumns()}`,
);
const insertOfDeposit = query<StoredRefund>(
  'refunds_insert_of_deposit',
  `${rows.insertInto('refunds')} returning ${refundColumns()}`,
);

const valuesOf = (refund: NewRefund): unknown[] =>
  rows.values([
    {
      ...refund,
      metadata: JSON.stringify(refund.metadata),
      ratesNow: refund.ratesNow && JSON.stringify(refund.ratesNow),
    },
  ]);

/**
 * Stores a refund of an invoice, unless the shares of its refunds would then be more than their limits. Holds a lock on the
 * invoice's row until the end of the transaction: one refund of an invoice is decided after the other.
 * @param limits of what was paid for the invoice, as invoices has just said
 */
export async function insertRefundWithin(
  trx: Trx,
  refund: NewRefund,
  limits: Refunded,
): Promise<StoredRefund | undefined> {
  invariant(limits.surplus <= limits.all, 'the surplus is a part of what was paid');
  await trx.one(lockInvoice, [refund.invoiceId, refund.account, refund.asset, limits.all]);
  // Waits for a claim of one of these that is being committed.
  await tellRefunds(trx, await trx.rows(expireOfInvoice, [refund.invoiceId]));
  return trx.maybe(insertWithin, [...valuesOf(refund), limits.all, limits.surplus]);
}

/** Stores a refund of a deposit. */
export const insertRefundOfDeposit = (trx: Trx, refund: NewRefund): Promise<StoredRefund> =>
  trx.one(insertOfDeposit, valuesOf(refund));

const sumOfInvoice = query<RefundedNow>(
  'refunds_sum',
  `select coalesce(sum(share), 0) as "all",
     coalesce(sum(share) filter (where ${isOfSurplus('refunds')}), 0) as surplus,
     coalesce(sum(share) filter (where state = 'claimable'), 0) as promised
   from refunds
   where invoice_id = $1 and ${isCounted('refunds')} and (state <> 'claimable' or expires_at > now())`,
);

/** What the refunds of an invoice take of what was paid. */
export const refundedOf = (db: Queryable, invoiceId: InvoiceId): Promise<RefundedNow> =>
  db.one(sumOfInvoice, [invoiceId]);

const sumPromised = query<{ amount: Units; links: number }>(
  'refunds_promised',
  `select coalesce(sum(amount), 0) as amount, count(*)::int as links from refunds
   where account_id = $1 and asset = $2 and invoice_id is not null and state = 'claimable' and expires_at > now()`,
);

/** What open claim links of invoices promise of a balance. Those of deposits are paid from the deposit. */
export const promisedByLinks = (db: Queryable, account: AccountId, asset: AssetSymbol) =>
  db.one(sumPromised, [account, asset]);

const selectOne = query<StoredRefund>('refunds_one', `select ${refundColumns()} from refunds where id = $1`);
export const findRefund = (db: Queryable, id: RefundId) => db.maybe(selectOne, [id]);

const selectClaimed = query<StoredRefund>(
  'refunds_by_claim',
  `select ${refundColumns()} from refunds where claim_hash = $1`,
);
/** The refund of a claim link, by the SHA-256 of its token. */
export const findRefundByClaim = (db: Queryable, claimHash: Buffer) => db.maybe(selectClaimed, [claimHash]);

const claim = query<StoredRefund>(
  'refunds_claim',
  `update refunds set state = 'pending', payout_id = $2, version = version + 1, updated_at = now()
   where id = $1 and state = 'claimable' and expires_at > now()
   returning ${refundColumns()}`,
);

/** Assigns a payout to a claimable refund; undefined when it is not claimable any more. */
export function claimRefund(trx: Trx, id: RefundId, payoutId: PayoutId): Promise<StoredRefund | undefined> {
  assertMoves(refundMoves, ['claimable'], 'pending');
  return trx.maybe(claim, [id, payoutId]);
}

const cancel = query<StoredRefund>(
  'refunds_cancel',
  `update refunds set state = 'cancelled', version = version + 1, updated_at = now()
   where id = $1 and state = 'claimable' and expires_at > now()
   returning ${refundColumns()}`,
);

/** Cancels a claim link that nobody has used; undefined when it is not claimable. */
export async function cancelRefund(trx: Trx, id: RefundId): Promise<StoredRefund | undefined> {
  assertMoves(refundMoves, ['claimable'], 'cancelled');
  const cancelled = await trx.maybe(cancel, [id]);
  if (cancelled !== undefined) await tellRefunds(trx, [cancelled]);
  return cancelled;
}

const markUnfunded = query<StoredRefund>(
  'refunds_mark_unfunded',
  `update refunds set unfunded_since = now(), updated_at = now()
   where id = $1 and state = 'claimable' and expires_at > now() and unfunded_since is null
   returning ${refundColumns()}`,
);

/** Tells the merchant that the balance does not cover a claim: once, until a claim of this refund is covered. */
export async function noteUnfunded(trx: Trx, id: RefundId, requestId: string): Promise<boolean> {
  const refund = await trx.maybe(markUnfunded, [id]);
  if (refund !== undefined) await tellUnfunded(trx, refund, requestId);
  return refund !== undefined;
}

const markFunded = statement(
  'refunds_mark_funded',
  'update refunds set unfunded_since = null where id = $1 and unfunded_since is not null',
);

/** The balance has covered a claim: the next one that it does not cover is told of again. */
export async function noteFunded(trx: Trx, id: RefundId): Promise<void> {
  await trx.rows(markFunded, [id]);
}

const expire = query<StoredRefund>(
  'refunds_expire',
  `update refunds set state = 'expired', version = version + 1, updated_at = now()
   where id in (
     select id from refunds where state = 'claimable' and expires_at <= now()
     order by expires_at limit $1 for update skip locked)
   returning ${refundColumns()}`,
);

/** Ends claim links whose time is over. @returns how many. */
export async function expireRefunds(trx: Trx, atMost: number): Promise<number> {
  assertMoves(refundMoves, ['claimable'], 'expired');
  const expired = await trx.rows(expire, [atMost]);
  await tellRefunds(trx, expired);
  return expired.length;
}

type Followed = PayoutEnd & Pick<StoredRefund, 'id' | 'depositId' | 'expiresAt' | 'version'> & { now: Date };

const lockPending = query<Followed>(
  'refunds_lock_pending',
  `select r.id, r.deposit_id, r.expires_at, r.version, now() as now,
     p.status, p.failed_reason, ${isReverted('p')} as is_reverted
   from refunds r join payouts p on p.id = r.payout_id
   where r.state = 'pending' and p.status in (${sqlList(endedPayouts)}) and ($1::bigint is null or r.payout_id = $1)
   order by r.id limit $2 for update of r skip locked`,
);

const move = query<StoredRefund>(
  'refunds_move',
  `update refunds set state = $2, payout_id = case when $3 then payout_id end, version = version + 1, updated_at = now()
   where id = $1 returning ${refundColumns()}`,
);

/**
 * Moves pending refunds whose payout has ended: those of `payoutId`, or, for null, any that a replica of an older release
 * has left behind.
 * @returns how many
 */
export async function followPayouts(trx: Trx, payoutId: PayoutId | null, atMost = 1): Promise<number> {
  const ended = await trx.rows(lockPending, [payoutId, atMost]);
  for (const { id, depositId, expiresAt, version, now, ...end } of ended) {
    const link = expiresAt === null ? null : { expiresAt, version, ofDeposit: depositId !== null };
    const state = stateAfterPayout(end, link, now);
    assertMoves(refundMoves, ['pending'], state);
    // A request that never became a payout is not shown.
    const wasPayout = end.status === 'mined' || end.status === 'failed';
    await tellRefunds(trx, [await trx.one(move, [id, state, wasPayout])]);
  }
  return ended.length;
}
