/** Orders that are otherwise alike must be different bytes: the network takes the same bytes only once. */
const DISTINCT_PRICES = 997n;
/** An attempt that was in no block in its time offers twice as much as the one before. */
const DOUBLINGS_MAX = 5;

/**
 * The price of a place for a payout's attempt, in millionths of a lamport per compute unit: what is usual, doubled for
 * each attempt before it, and a little more by which it differs from that of its neighbours. At most a hundred lamports.
 */
export function priceOf(usual: bigint, payoutSeq: string, attemptsBefore: number): bigint {
  const doubled = usual << BigInt(Math.min(attemptsBefore, DOUBLINGS_MAX));
  return doubled + (BigInt(payoutSeq) % DISTINCT_PRICES);
}

/** The most `priceOf` can come to: what is reckoned with until a payout's turn comes. */
export const priceMost = (usual: bigint): bigint => usual + DISTINCT_PRICES;
