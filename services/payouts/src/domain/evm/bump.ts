/** What a transaction offers per unit of gas, in wei: the maximum in total, and of that the priority fee. */
export type FeesPerGas = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** The limits of fee increases. */
export type BumpPolicy = {
  /** Without the first attempt. */
  bumpsMax: number;
  /** The fees of an attempt are at most this many times those of the first attempt. */
  timesFirstMax: bigint;
};

export const bumpPolicy: BumpPolicy = { bumpsMax: 6, timesFirstMax: 10n };

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
  { bumpsMax, timesFirstMax }: BumpPolicy = bumpPolicy,
): FeesPerGas | undefined {
  const offersEnough = newest.maxFeePerGas >= usual.maxFeePerGas;
  if (attempts > bumpsMax || (!isNext && offersEnough)) return undefined;
  const cap = {
    maxFeePerGas: first.maxFeePerGas * timesFirstMax,
    maxPriorityFeePerGas: first.maxPriorityFeePerGas * timesFirstMax,
  };
  const maxFeePerGas = raised(newest.maxFeePerGas, usual.maxFeePerGas, cap.maxFeePerGas);
  const tip = raised(newest.maxPriorityFeePerGas, usual.maxPriorityFeePerGas, cap.maxPriorityFeePerGas);
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

function least(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}
