import { invariant } from '@quittance/shared/result';

const HALF_BITS = 26;
const ROUNDS = 10;
const HALF = 1n << BigInt(HALF_BITS);
/** So many payouts can be numbered: 2^52. */
export const NUMBERS = HALF * HALF;

/** A keyed function of one half of a number; any will do to be a bijection, a secret one to hide the count. */
export type Mix = (round: number, half: bigint) => bigint;

/**
 * The id of the `number`-th payout: a Feistel network over 52 bits, so that every number has an id of its own
 * whatever `mix` is. At least 1 and below 2^53, as JSON numbers are exact up to there.
 */
export function payoutIdOf(number: bigint, mix: Mix): bigint {
  invariant(number >= 0n && number < NUMBERS, 'payouts are numbered below 2^52');
  let left = number / HALF;
  let right = number % HALF;
  for (let round = 0; round < ROUNDS; round++) {
    [left, right] = [right, left ^ (mix(round, right) % HALF)];
  }
  return left * HALF + right + 1n;
}

/** Which payout has this id: the network backwards. */
export function payoutNumberOf(id: bigint, mix: Mix): bigint {
  invariant(id > 0n && id <= NUMBERS, 'payout ids are between 1 and 2^52');
  let left = (id - 1n) / HALF;
  let right = (id - 1n) % HALF;
  for (let round = ROUNDS - 1; round >= 0; round--) {
    [left, right] = [right ^ (mix(round, left) % HALF), left];
  }
  return left * HALF + right;
}
