import type { AssetSymbol } from '@quittance/shared/assets';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import { sum, type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';

/** Money we owe a merchant, in the three columns of its balance. */
export type MerchantBucket = 'available' | 'held' | 'unresolved';
/**
 * Our own side: `custody` is what we hold (below zero as far as the others are above it), `fees` what we
 * earned, `loss` what we lost to chains that took deposits back, `network` what we paid for our transactions.
 */
export type PlatformBucket = 'custody' | 'fees' | 'loss' | 'network';

/** One side of a transfer; which account a merchant's bucket belongs to is said by the transfer. */
export type Entry = { bucket: MerchantBucket | PlatformBucket; amount: Units };

/** What happened in the world; the ledger books each once. */
export type Op =
  | `deposit:${DepositId}`
  | `reversal:${DepositId}`
  | `recovery:${DepositId}:${string}`
  | `hold:${PayoutId}`
  | `settle:${PayoutId}`
  | `release:${PayoutId}`
  | `accept:${DepositId}`
  | `network:${string}`;

/** A transfer with its entries, ready to be booked. All but the entries must be the same when it comes again. */
export type Posting = {
  op: Op;
  kind: 'deposit' | 'reversal' | 'recovery' | 'hold' | 'settle' | 'release' | 'accept' | 'network';
  /** Null: it is the platform's own affair. */
  account: AccountId | null;
  asset: AssetSymbol;
  amount: Units;
  networkFee: Units;
  detail: string;
  entries: readonly Entry[];
};

export type Disposition = 'credit' | 'unresolved';
export type LedgerDeposit = { id: DepositId; account: AccountId; asset: AssetSymbol; amount: Units };
export type LedgerPayout = {
  id: PayoutId;
  account: AccountId;
  asset: AssetSymbol;
  amount: Units;
  networkFee: Units;
  /** The unresolved deposit whose money this pays back; null when the balance pays. */
  deposit: DepositId | null;
};

const zero = units(0n);
const minus = (amount: Units): Units => units(-amount);
const plus = (a: Units, b: Units): Units => units(a + b);

/** Where a deposit's money is until someone decides otherwise. */
const bucketOf: Record<Disposition, MerchantBucket> = {
  credit: 'available',
  unresolved: 'unresolved',
};

/** Money has arrived: we hold more and owe more. */
export function depositPosting(deposit: LedgerDeposit, disposition: Disposition): Posting {
  return balanced({
    op: `deposit:${deposit.id}`,
    kind: 'deposit',
    ...partsOf(deposit),
    networkFee: zero,
    detail: disposition,
    entries: [
      { bucket: bucketOf[disposition], amount: deposit.amount },
      { bucket: 'custody', amount: minus(deposit.amount) },
    ],
  });
}

/**
 * Money that had arrived is gone from the chain. It is taken back as far as its bucket still has it, which
 * is `there`; the merchant cannot owe us the rest, so the rest is written off.
 */
export function reversalPosting(deposit: LedgerDeposit, from: MerchantBucket, there: Units): Posting {
  invariant(there >= 0n, 'a bucket is never below zero');
  const back = there < deposit.amount ? there : deposit.amount;
  return balanced({
    op: `reversal:${deposit.id}`,
    kind: 'reversal',
    ...partsOf(deposit),
    networkFee: zero,
    detail: '',
    entries: [
      { bucket: from, amount: minus(back) },
      { bucket: 'loss', amount: plus(back, minus(deposit.amount)) },
      { bucket: 'custody', amount: deposit.amount },
    ],
  });
}

/** What a reversal could not take back. */
export function writtenOffBy(reversal: Posting): Units {
  return minus(sum(reversal.entries.filter((entry) => entry.bucket === 'loss').map((entry) => entry.amount)));
}

/** A payment that was written off is in the chain again, as this deposit: `amount` of it recovers the write-off. */
export function recoveryPosting(
  deposit: LedgerDeposit,
  from: MerchantBucket,
  amount: Units,
  cause: string,
): Posting {
  return balanced({
    op: `recovery:${deposit.id}:${cause}`,
    kind: 'recovery',
    ...partsOf({ ...deposit, amount }),
    networkFee: zero,
    detail: '',
    entries: [
      { bucket: from, amount: minus(amount) },
      { bucket: 'loss', amount },
    ],
  });
}

/** Reserves a payout's money. The store books the same in the statement that decides the hold. */
export function holdPosting(payout: LedgerPayout): Posting {
  const total = plus(payout.amount, payout.networkFee);
  return balanced({
    op: `hold:${payout.id}`,
    kind: 'hold',
    ...partsOf(payout),
    networkFee: payout.networkFee,
    detail: payout.deposit ?? '',
    entries: [
      { bucket: payout.deposit === null ? 'available' : 'unresolved', amount: minus(total) },
      { bucket: 'held', amount: total },
    ],
  });
}

/** The payout is mined: its amount has left us, its network fee is ours. */
export function settlePosting(payout: LedgerPayout): Posting {
  return balanced({
    op: `settle:${payout.id}`,
    kind: 'settle',
    ...partsOf(payout),
    networkFee: payout.networkFee,
    detail: '',
    entries: [
      { bucket: 'held', amount: minus(plus(payout.amount, payout.networkFee)) },
      { bucket: 'custody', amount: payout.amount },
      { bucket: 'fees', amount: payout.networkFee },
    ],
  });
}

/** Why a hold ended without the amount leaving; decides who bears the network fee. */
export type ReleaseReason = 'failed' | 'failed_fee_kept' | 'voided';

/**
 * Where the money of a hold goes back to: where it was taken from, unless that was a deposit that the chain has
 * taken back meanwhile. Then it belongs to no account, and recovers the write-off that was booked; unless the same
 * payment has come again and did so.
 */
export type ReleaseTo = 'available' | 'unresolved' | 'loss';

/** The payout will never be mined: its money goes back, the fee too unless the chain took it. */
export function releasePosting(payout: LedgerPayout, reason: ReleaseReason, to: ReleaseTo): Posting {
  const total = plus(payout.amount, payout.networkFee);
  const kept = reason === 'failed_fee_kept' ? payout.networkFee : zero;
  return balanced({
    op: `release:${payout.id}`,
    kind: 'release',
    ...partsOf(payout),
    networkFee: payout.networkFee,
    detail: reason,
    entries: [
      { bucket: 'held', amount: minus(total) },
      { bucket: to, amount: plus(total, minus(kept)) },
      { bucket: 'fees', amount: kept },
    ],
  });
}

/** The account takes unresolved money into its balance. The store books the same in the statement that decides it. */
export function acceptPosting(deposit: LedgerDeposit): Posting {
  return balanced({
    op: `accept:${deposit.id}`,
    kind: 'accept',
    ...partsOf(deposit),
    networkFee: zero,
    detail: '',
    entries: [
      { bucket: 'unresolved', amount: minus(deposit.amount) },
      { bucket: 'available', amount: deposit.amount },
    ],
  });
}

/** What one of our transactions cost us on its chain, in the chain's native asset. */
export type Expense = { txHash: string; asset: AssetSymbol; amount: Units; purpose: 'payout' | 'sweep' };

/** A transaction of ours is deep in its chain: its cost has left us, whatever merchants paid for it. */
export function networkPosting({ txHash, asset, amount, purpose }: Expense): Posting {
  return balanced({
    op: `network:${txHash}`,
    kind: 'network',
    account: null,
    asset,
    amount,
    networkFee: zero,
    detail: purpose,
    entries: [
      { bucket: 'network', amount: minus(amount) },
      { bucket: 'custody', amount },
    ],
  });
}

const partsOf = ({ account, asset, amount }: { account: AccountId; asset: AssetSymbol; amount: Units }) => ({
  account,
  asset,
  amount,
});

/** Drops sides of nothing, and refuses what is not a movement of money in balance. */
function balanced(posting: Posting): Posting {
  const entries = posting.entries.filter((entry) => entry.amount !== 0n);
  invariant(posting.amount > 0n, `${posting.op} moves something`);
  invariant(sum(entries.map((entry) => entry.amount)) === 0n, `${posting.op} sums to zero`);
  return { ...posting, entries };
}
