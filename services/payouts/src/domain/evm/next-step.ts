import { FEE_TIMES_MAX } from '@quittance/shared/fee-ceilings';
import { type GracePeriods, isOver, isSentLately } from '../states.ts';

/** An open group: signed transactions with one nonce, of which at most one is mined. */
export type OpenEvmGroup = {
  nonce: number;
  minConfirmations: number;
  /** The block it was last seen in. */
  blockHash: string | null;
  lastBroadcastAt: Date | null;
  doubtedAt: Date | null;
};

/** How many nonces of the wallet the chain has used, in all blocks and in final blocks. */
export type NonceProgress = { latest: number; finalized: number };

export type EvmStep =
  /** It has enough confirmations, and is final if it failed. */
  | { is: 'settled'; succeeded: boolean }
  /** A block includes it that can still be dropped. */
  | { is: 'in_block' }
  /** No block includes it, and it was sent a moment ago. */
  | { is: 'sent' }
  /** No block includes it: send its bytes, for the first time or again. */
  | { is: 'to_send' }
  /** The chain has used its nonce and the node has no receipt. This proves nothing. */
  | { is: 'doubtful' }
  /** Proved: a final block includes another transaction with its nonce. */
  | { is: 'replaced' };

/** What a node reports. `not_reached`: the chain has not used its nonce. `confirmations` is 1 in the head block. */
export type EvmObservation =
  | { state: 'absent' | 'pending' | 'not_reached' }
  /** A final block includes it and the node has no receipt, so it is unknown whether it succeeded. */
  | { state: 'found' }
  /** A final block includes another transaction with its nonce. */
  | { state: 'replaced' }
  | { state: 'mined'; confirmations: number; succeeded: boolean };

/** What the chain's state means for a signed transaction. An error or a timeout of the node never ends it. */
export function nextEvmStep(
  transaction: OpenEvmGroup,
  seen: EvmObservation,
  progress: NonceProgress,
  now: Date,
  { resendAfterMs }: GracePeriods,
): EvmStep {
  if (seen.state === 'mined') {
    // After a deeper reorganisation the same bytes could succeed, so money goes back only when the failure is final.
    const isOverForGood = seen.succeeded || progress.finalized > transaction.nonce;
    const isDeep = seen.confirmations >= transaction.minConfirmations;
    return isDeep && isOverForGood ? { is: 'settled', succeeded: seen.succeeded } : { is: 'in_block' };
  }
  if (seen.state === 'found') return { is: 'in_block' };
  if (seen.state === 'replaced') return { is: 'replaced' };
  if (isPassedBy(transaction, seen, progress)) return { is: 'doubtful' };
  // Its block was dropped, so it is sent again at once.
  if (transaction.blockHash !== null) return { is: 'to_send' };
  return { is: isSentLately(transaction.lastBroadcastAt, resendAfterMs, now) ? 'sent' : 'to_send' };
}

/** Whether the blocks must be searched for its nonce: the chain has used the nonce and the node has no receipt. */
export function needsSearch(
  transaction: OpenEvmGroup,
  seen: EvmObservation,
  progress: NonceProgress,
  now: Date,
  { doubtForMs }: GracePeriods,
): boolean {
  if (!isPassedBy(transaction, seen, progress)) return false;
  return transaction.blockHash !== null || isOver(transaction.doubtedAt, doubtForMs, now);
}

const isPassedBy = (transaction: OpenEvmGroup, seen: EvmObservation, progress: NonceProgress): boolean =>
  (seen.state === 'absent' || seen.state === 'pending') && progress.finalized > transaction.nonce;

/** What a transaction offers per unit of gas, in wei: the maximum in total, and of that the priority fee. */
export type FeesPerGas = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** With the first attempt. */
export const ATTEMPTS_MAX = 7;
/** Nodes accept a replacement only when both fields grow, most by a tenth. */
const STEP_PER_MILLE = 125n;

export type StuckGroup = {
  /** The fees of the first attempt and of the newest. */
  first: FeesPerGas;
  newest: FeesPerGas;
  attempts: number;
  /** It has the next nonce, so later transactions of the wallet wait for it. */
  isNext: boolean;
};

/**
 * The fees of the next attempt. Undefined when there is none: a transaction that waits for earlier nonces and offers the
 * usual fee is not stuck, and beyond the limits an operator must decide.
 */
export function bumpedFees(
  { first, newest, attempts, isNext }: StuckGroup,
  usual: FeesPerGas,
): FeesPerGas | undefined {
  const offersEnough = newest.maxFeePerGas >= usual.maxFeePerGas;
  if (attempts >= ATTEMPTS_MAX || (!isNext && offersEnough)) return undefined;
  const of = (field: keyof FeesPerGas) => raised(newest[field], usual[field], first[field] * FEE_TIMES_MAX);
  const maxFeePerGas = of('maxFeePerGas');
  const tip = of('maxPriorityFeePerGas');
  if (maxFeePerGas === undefined || tip === undefined) return undefined;
  // The priority fee is a part of the maximum.
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}

/** At least one step higher, or the usual value if that is more, and at most the cap. */
function raised(offered: bigint, usual: bigint, cap: bigint): bigint | undefined {
  const step = offered + (offered * STEP_PER_MILLE + 999n) / 1_000n;
  if (step > cap) return undefined;
  return usual > step ? least(usual, cap) : step;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
