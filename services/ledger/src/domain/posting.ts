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

type PostingKind = 'deposit' | 'reversal' | 'recovery' | 'hold' | 'settle' | 'release' | 'accept' | 'network';
/** What is booked, by its kind and the id of its cause; the ledger books each once. */
export type Op =
  | `${'deposit' | 'reversal' | 'accept'}:${DepositId}`
  | `recovery:${DepositId}:${string}`
  | `${'hold' | 'settle' | 'release'}:${PayoutId}`
  | `network:${string}`;

/** A transfer with its entries, ready to be booked. All but the entries must be the same when it comes again. */
export type Posting = {
  op: Op;
  kind: PostingKind;
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
const totalOf = ({ amount, networkFee }: LedgerPayout): Units => plus(amount, networkFee);

/** Where a deposit's money is until someone decides otherwise. */
const bucketOf: Record<Disposition, MerchantBucket> = {
  credit: 'available',
  unresolved: 'unresolved',
};

/** Money has arrived: we hold more and owe more. */
export const depositPosting = (deposit: LedgerDeposit, disposition: Disposition): Posting =>
  posting(`deposit:${deposit.id}`, { ...deposit, detail: disposition }, [
    [bucketOf[disposition], deposit.amount],
    ['custody', minus(deposit.amount)],
  ]);

/**
 * Money that had arrived is gone from the chain. It is taken back as far as its bucket still has it, which
 * is `there`; the merchant cannot owe us the rest, so the rest is written off.
 */
export function reversalPosting(deposit: LedgerDeposit, from: MerchantBucket, there: Units): Posting {
  invariant(there >= 0n, 'a bucket is never below zero');
  const back = there < deposit.amount ? there : deposit.amount;
  return posting(`reversal:${deposit.id}`, deposit, [
    [from, minus(back)],
    ['loss', plus(back, minus(deposit.amount))],
    ['custody', deposit.amount],
  ]);
}

/** What a reversal could not take back. */
export function writtenOffBy(reversal: Posting): Units {
  return minus(sum(reversal.entries.filter((entry) => entry.bucket === 'loss').map((entry) => entry.amount)));
}

/** A payment that was written off is in the chain again, as this deposit: `amount` of it recovers the write-off. */
export const recoveryPosting = (
  deposit: LedgerDeposit,
  from: MerchantBucket,
  amount: Units,
  cause: string,
): Posting =>
  posting(`recovery:${deposit.id}:${cause}`, { ...deposit, amount }, [
    [from, minus(amount)],
    ['loss', amount],
  ]);

/** Reserves a payout's money. The store books the same in the statement that decides the hold. */
export const holdPosting = (payout: LedgerPayout): Posting =>
  posting(`hold:${payout.id}`, { ...payout, detail: payout.deposit ?? '' }, [
    [payout.deposit === null ? 'available' : 'unresolved', minus(totalOf(payout))],
    ['held', totalOf(payout)],
  ]);

/** The payout is mined: its amount has left us, its network fee is ours. */
export const settlePosting = (payout: LedgerPayout): Posting =>
  posting(`settle:${payout.id}`, payout, [
    ['held', minus(totalOf(payout))],
    ['custody', payout.amount],
    ['fees', payout.networkFee],
  ]);

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
  const kept = reason === 'failed_fee_kept' ? payout.networkFee : zero;
  return posting(`release:${payout.id}`, { ...payout, detail: reason }, [
    ['held', minus(totalOf(payout))],
    [to, plus(totalOf(payout), minus(kept))],
    ['fees', kept],
  ]);
}

/** The account takes unresolved money into its balance. The store books the same in the statement that decides it. */
export const acceptPosting = (deposit: LedgerDeposit): Posting =>
  posting(`accept:${deposit.id}`, deposit, [
    ['unresolved', minus(deposit.amount)],
    ['available', deposit.amount],
  ]);

/** What one of our transactions cost us on its chain, in the chain's native asset. */
export type Expense = { txHash: string; asset: AssetSymbol; amount: Units; purpose: 'payout' | 'sweep' };

/** A transaction of ours is deep in its chain: its cost has left us, whatever merchants paid for it. */
export const networkPosting = ({ txHash, asset, amount, purpose }: Expense): Posting =>
  posting(`network:${txHash}`, { account: null, asset, amount, detail: purpose }, [
    ['network', minus(amount)],
    ['custody', amount],
  ]);

type Subject = Pick<Posting, 'account' | 'asset' | 'amount'> &
  Partial<Pick<Posting, 'networkFee' | 'detail'>>;

/** Drops sides of nothing, and refuses what is not a movement of money in balance. */
function posting(
  op: Op,
  { account, asset, amount, networkFee = zero, detail = '' }: Subject,
  sides: readonly (readonly [bucket: Entry['bucket'], amount: Units])[],
): Posting {
  const entries = sides
    .map(([bucket, side]) => ({ bucket, amount: side }))
    .filter((entry) => entry.amount !== 0n);
  invariant(amount > 0n, `${op} moves something`);
  invariant(sum(entries.map((entry) => entry.amount)) === 0n, `${op} sums to zero`);
  const kind = op.slice(0, op.indexOf(':')) as PostingKind;
  return { op, kind, account, asset, amount, networkFee, detail, entries };
}
