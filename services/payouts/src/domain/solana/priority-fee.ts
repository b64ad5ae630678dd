/** The network accepts the same bytes once, so two transfers that are otherwise equal get different priority fees. */
const DISTINCT_FEES = 997n;
/** Each attempt after an expired one offers twice the priority fee. */
const DOUBLINGS_MAX = 5;

/**
 * The priority fee of a payout's attempt, in millionths of a lamport per compute unit: the usual one, doubled for each
 * attempt before it, and up to 996 more, by which it differs from those of other payouts.
 */
export function priorityFeeOf(usual: bigint, payoutSeq: string, attemptsBefore: number): bigint {
  const doubled = usual << BigInt(Math.min(attemptsBefore, DOUBLINGS_MAX));
  return doubled + (BigInt(payoutSeq) % DISTINCT_FEES);
}

/** The highest `priorityFeeOf` of a first attempt. Plans count with it. */
export const highestPriorityFee = (usual: bigint): bigint => usual + DISTINCT_FEES;
